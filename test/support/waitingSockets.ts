import type {
  SocketDriver,
  VenueSocket,
  VenueSocketEvents,
  VenueSocketOptions,
} from '../../src/venues/venueSocket.ts';

/** Connections without a venue; data that a test holds back is delivered only on request. */
export class DelayedSocketDriver implements SocketDriver {
  readonly connections: VenueSocketEvents[] = [];
  /** Whether waiting data stays where it is, as in a process that gets too little CPU. */
  isBehind = false;
  readonly #waiting: (() => void)[] = [];

  connect(_options: VenueSocketOptions, events: VenueSocketEvents): VenueSocket {
    this.connections.push(events);
    return {
      send: () => undefined,
      close: () => events.onClosed('closed 1000', 0, null),
      terminate: () => undefined,
    };
  }

  wait(deliver: () => void): void {
    this.#waiting.push(deliver);
  }

  receiveWaiting(): boolean {
    if (this.isBehind) return false;
    for (const deliver of this.#waiting.splice(0)) deliver();
    return true;
  }

  get lagMs(): number {
    return 0;
  }
}
