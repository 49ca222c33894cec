import type { MessagePort } from 'node:worker_threads';
import type { VenueSocketOptions } from './venueSocket.ts';

/** What an event occupies beside its text. */
const EVENT_BYTES = 100;
/** A turn that brings more sends several batches, so that reading stops soon after the limit is met. */
const BATCH_BYTES_MAX = 256 * 1024;

/** What the main thread asks of the receive thread, by number of the connection. */
export type SocketCommand =
  | { readonly do: 'connect'; readonly id: number; readonly options: VenueSocketOptions }
  | { readonly do: 'send'; readonly id: number; readonly text: string }
  | { readonly do: 'close' | 'terminate'; readonly id: number }
  | { readonly do: 'resume' };

/** What happened on a connection, with its wall time. Tuples, because member names would be copied with each. */
export type SocketEvent =
  | readonly ['open', id: number, timeMs: number]
  | readonly ['frame', id: number, timeMs: number, text: string, bytes: number]
  | readonly ['closed', id: number, timeMs: number, cause: string];

/** What one turn of the receive thread brought, in order. */
export interface SocketBatch {
  readonly events: readonly SocketEvent[];
  /** What the batch counts for in `WaitingBytes`. */
  readonly bytes: number;
}

/** What the receive thread starts with. */
export interface ReceiveThreadSettings {
  readonly port: MessagePort;
  readonly shared: SharedArrayBuffer;
  readonly waitingBytesMax: number;
}

const [WAITING, PAUSED] = [0, 1];

/** Bytes that were sent to the main thread and wait there, counted in memory that both threads share. */
export class WaitingBytes {
  readonly shared: SharedArrayBuffer;
  readonly #maxBytes: number;
  readonly #counts: Int32Array;

  /** @param maxBytes Reading is to stop beyond it, and to go on from half of it; below 2^30. */
  constructor(maxBytes: number, shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.#maxBytes = maxBytes;
    this.shared = shared;
    this.#counts = new Int32Array(shared);
  }

  get bytes(): number {
    return Atomics.load(this.#counts, WAITING);
  }

  /** Whether reading has been stopped and nobody has been asked to go on. */
  get isPaused(): boolean {
    return Atomics.load(this.#counts, PAUSED) === 1;
  }

  /** @returns Whether to stop reading now: the other side will see it, and ask to go on. */
  add(bytes: number): boolean {
    if (Atomics.add(this.#counts, WAITING, bytes) + bytes <= this.#maxBytes) return false;
    Atomics.store(this.#counts, PAUSED, 1);
    // All may have been taken before the mark could be seen; whoever removes the mark acts on it.
    return !this.#mayResume() || Atomics.exchange(this.#counts, PAUSED, 0) === 0;
  }

  /** @returns Whether to ask the other side to read on. */
  subtract(bytes: number): boolean {
    Atomics.sub(this.#counts, WAITING, bytes);
    return this.#mayResume() && Atomics.exchange(this.#counts, PAUSED, 0) === 1;
  }

  #mayResume(): boolean {
    return this.bytes <= this.#maxBytes / 2;
  }
}

/** Collects what one turn of the receive thread brings and sends it in one message. */
export class BatchSender {
  readonly #port: MessagePort;
  readonly #waiting: WaitingBytes;
  readonly #onFull: () => void;
  #events: SocketEvent[] = [];
  #bytes = 0;

  constructor(options: { port: MessagePort; waiting: WaitingBytes; onFull: () => void }) {
    this.#port = options.port;
    this.#waiting = options.waiting;
    this.#onFull = options.onFull;
  }

  add(event: SocketEvent, bytes: number): void {
    // After all sockets that have something to read in this turn.
    if (this.#events.length === 0) setImmediate(() => this.#send());
    this.#events.push(event);
    this.#bytes += bytes + EVENT_BYTES;
    if (this.#bytes >= BATCH_BYTES_MAX) this.#send();
  }

  #send(): void {
    if (this.#events.length === 0) return;
    const batch: SocketBatch = { events: this.#events, bytes: this.#bytes };
    this.#events = [];
    this.#bytes = 0;
    // Counted before posting, so that the receiver never subtracts more bytes than were added.
    const isFull = this.#waiting.add(batch.bytes);
    this.#port.postMessage(batch);
    if (isFull) this.#onFull();
  }
}
