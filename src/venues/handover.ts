import type { MessagePort } from 'node:worker_threads';
import type { VenueSocketOptions } from './venueSocket.ts';

/** Estimated memory of an event in addition to its text. */
const EVENT_BYTES = 100;
/** A turn with more bytes is sent as several batches, so that reading stops soon after the limit is reached. */
const BATCH_BYTES_MAX = 256 * 1024;

/** Commands of the main thread to the receive thread, by connection number. */
export type SocketCommand =
  | { readonly do: 'connect'; readonly id: number; readonly options: VenueSocketOptions }
  | { readonly do: 'send'; readonly id: number; readonly text: string }
  | { readonly do: 'close' | 'terminate'; readonly id: number }
  | { readonly do: 'resume' };

/** Events of a connection, with their wall time. Tuples, because member names would be copied with each one. */
export type SocketEvent =
  | readonly ['open', id: number, timeMs: number]
  | readonly ['frame', id: number, timeMs: number, text: string, bytes: number]
  | readonly ['closed', id: number, timeMs: number, cause: string, retryAfter: string | null];

/** The events of one turn of the receive thread, in order. */
export interface SocketBatch {
  readonly events: readonly SocketEvent[];
  /** Size of the batch as `WaitingBytes` counts it. */
  readonly bytes: number;
}

/** Batches in the order of their arrival. */
export class BatchQueue {
  readonly #batches: SocketBatch[] = [];
  #first = 0;

  get isEmpty(): boolean {
    return this.#first === this.#batches.length;
  }

  /** Wall time of the oldest event; null without one. */
  get oldestMs(): number | null {
    return this.#batches[this.#first]?.events[0]?.[2] ?? null;
  }

  add(batch: SocketBatch): void {
    this.#batches.push(batch);
  }

  /** Takes the oldest batch; null without one. */
  next(): SocketBatch | null {
    const batch = this.#batches[this.#first];
    if (batch === undefined) return null;
    this.#first++;
    // Removed half of them at once: taking each from the front would move all others each time.
    if (2 * this.#first >= this.#batches.length) {
      this.#batches.splice(0, this.#first);
      this.#first = 0;
    }
    return batch;
  }
}

/** Start settings of the receive thread. */
export interface ReceiveThreadSettings {
  readonly port: MessagePort;
  readonly shared: SharedArrayBuffer;
  readonly waitingBytesMax: number;
  readonly proxyUrl: string | null;
}

const [WAITING, PAUSED] = [0, 1];

/** Bytes sent to the main thread and not processed yet, counted in memory that both threads share. */
export class WaitingBytes {
  readonly shared: SharedArrayBuffer;
  readonly #maxBytes: number;
  readonly #counts: Int32Array;

  /** @param maxBytes Reading stops above this and resumes at half of it; below 2^30. */
  constructor(maxBytes: number, shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.#maxBytes = maxBytes;
    this.shared = shared;
    this.#counts = new Int32Array(shared);
  }

  get bytes(): number {
    return Atomics.load(this.#counts, WAITING);
  }

  /** Reading is stopped and nobody has requested it to resume. */
  get isPaused(): boolean {
    return Atomics.load(this.#counts, PAUSED) === 1;
  }

  /** @returns Whether to stop reading now: the other side will see it and request to resume. */
  add(bytes: number): boolean {
    if (Atomics.add(this.#counts, WAITING, bytes) + bytes <= this.#maxBytes) return false;
    Atomics.store(this.#counts, PAUSED, 1);
    // The other side may have processed everything before it saw the mark; the side that removes the mark acts on it.
    return !this.#mayResume() || Atomics.exchange(this.#counts, PAUSED, 0) === 0;
  }

  /** @returns Whether to request the other side to resume reading. */
  subtract(bytes: number): boolean {
    Atomics.sub(this.#counts, WAITING, bytes);
    return this.#mayResume() && Atomics.exchange(this.#counts, PAUSED, 0) === 1;
  }

  #mayResume(): boolean {
    return this.bytes <= this.#maxBytes / 2;
  }
}

/** Collects the events of one turn of the receive thread and sends them in one message. */
export class SocketEventBatcher {
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
    // Runs after every socket with data has been read in this turn.
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
