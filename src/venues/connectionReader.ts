import type { Clock } from '../runtime/clock.ts';
import {
  type ReceiveThreadSettings,
  type SocketCommand,
  SocketEventBatcher,
  WaitingBytes,
} from './handover.ts';
import { DirectSocket, type VenueSocketOptions } from './venueSocket.ts';

/**
 * Opens and reads the connections that the main thread commands through the port, and posts their events to it. Reading
 * stops while too many bytes wait there.
 */
export class ConnectionReader {
  readonly #clock: Clock;
  readonly #proxyUrl: string | null;
  readonly #events: SocketEventBatcher;
  readonly #sockets = new Map<number, DirectSocket>();
  #isPaused = false;

  constructor({ port, shared, waitingBytesMax, proxyUrl }: ReceiveThreadSettings, clock: Clock) {
    this.#clock = clock;
    this.#proxyUrl = proxyUrl;
    const waiting = new WaitingBytes(waitingBytesMax, shared);
    this.#events = new SocketEventBatcher({ port, waiting, onFull: () => this.#pause() });
    port.on('message', (command: SocketCommand) => this.#execute(command));
  }

  #execute(command: SocketCommand): void {
    if (command.do === 'connect') this.#connect(command.id, command.options);
    else if (command.do === 'resume') this.#resume();
    else {
      const socket = this.#sockets.get(command.id);
      if (command.do === 'send') socket?.send(command.text);
      else if (command.do === 'close') socket?.close();
      else {
        socket?.terminate();
        this.#sockets.delete(command.id);
      }
    }
  }

  #connect(id: number, options: VenueSocketOptions): void {
    const clock = this.#clock;
    const events = {
      onOpen: () => this.#events.add(['open', id, clock.now()], 0),
      onFrame: (text: string, timeMs: number, bytes: number) =>
        this.#events.add(['frame', id, timeMs, text, bytes], bytes),
      onClosed: (cause: string, timeMs: number, retryAfter: string | null) => {
        this.#sockets.delete(id);
        this.#events.add(['closed', id, timeMs, cause, retryAfter], 0);
      },
    };
    const socket = new DirectSocket(options, events, { clock, proxyUrl: this.#proxyUrl });
    if (this.#isPaused) socket.pause();
    this.#sockets.set(id, socket);
  }

  #pause(): void {
    this.#isPaused = true;
    for (const socket of this.#sockets.values()) socket.pause();
  }

  #resume(): void {
    this.#isPaused = false;
    for (const socket of this.#sockets.values()) socket.resume();
  }
}
