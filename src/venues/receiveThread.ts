import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { type BackoffLimits, backoffDelayMs } from '../runtime/backoff.ts';
import { builtEntry } from '../runtime/builtEntry.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import {
  BatchQueue,
  type ReceiveThreadSettings,
  type SocketBatch,
  type SocketCommand,
  type SocketEvent,
  WaitingBytes,
} from './handover.ts';
import type { SocketDriver, VenueSocket, VenueSocketEvents, VenueSocketOptions } from './venueSocket.ts';

/** Bytes of frames that may wait for the main thread: over half a minute of the busiest hours recorded. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Frames are delivered for this long before everything else in the main thread gets a turn. Without a limit, a thread
 * that gets too little CPU would deliver frames for ever while new ones arrive.
 */
const TURN_MS = 50;
const HEAP_MB_MAX = 256;
const RESTART: BackoffLimits = { firstMs: 200, maxMs: 30_000 };
/** A thread that ran this long resets the back-off. */
const STABLE_AFTER_MS = 60_000;
const DELAY_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export interface ReceiveThreadOptions {
  /** The system clock: the thread reads no other. */
  readonly clock: Clock;
  /** 0 <= x < 1, for the jitter of restarts. */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly entry?: string;
  readonly waitingBytesMax?: number;
  /** See `isProxied`; null: none. */
  readonly proxyUrl?: string | null;
}

interface Thread {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly waiting: WaitingBytes;
  /** Batches that were taken from the port and are not delivered yet. */
  readonly batches: BatchQueue;
  readonly startedAt: number;
}

/**
 * Opens and reads connections in a separate thread, so that receive times are right however busy the main thread is.
 * Events of all connections are delivered in the order in which they happened. When more bytes wait than the limit, the
 * thread stops reading all of its connections until half of them have been delivered. If the thread ends, all of its
 * connections are reported closed and a new thread is started.
 */
export class ReceiveThread implements SocketDriver {
  readonly #options: ReceiveThreadOptions;
  readonly #sockets = new Map<number, ThreadSocket>();
  #nextId = 1;
  #thread: Thread | null = null;
  #restart: Timer | null = null;
  #attempt = 0;
  #isClosed = false;
  #isDelivering = false;
  #hasTurn = false;
  readonly #delays;
  readonly #pauses;
  readonly #failures;

  constructor(options: ReceiveThreadOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#delays = metrics.histogram(
      'underround_feed_handover_seconds',
      'From the receipt of a venue’s frame to its delivery to the main thread, the oldest of each batch',
      { buckets: DELAY_BUCKETS },
    );
    metrics.gauge(
      'underround_feed_handover_waiting_bytes',
      'Frames that were received and wait for the main thread',
      [],
      (gauge) => gauge.set(this.waitingBytes),
    );
    metrics.gauge(
      'underround_feed_handover_lag_seconds',
      'Age of the oldest frame that was received and waits for the main thread; 0 when none waits',
      [],
      (gauge) => gauge.set(this.lagMs / 1000),
    );
    this.#pauses = metrics.counter(
      'underround_feed_handover_pauses_total',
      'Times that reading from venues stopped because too much was waiting for the main thread',
    );
    this.#failures = metrics.counter(
      'underround_feed_thread_failures_total',
      'Receive threads that ended by themselves',
    );
  }

  get waitingBytes(): number {
    return this.#thread?.waiting.bytes ?? 0;
  }

  get lagMs(): number {
    const oldestMs = this.#thread?.batches.oldestMs ?? null;
    // A wall clock that was set back would make the age negative.
    return oldestMs === null ? 0 : Math.max(0, this.#options.clock.now() - oldestMs);
  }

  /** Whether the thread has stopped reading until more bytes are delivered. */
  get isPaused(): boolean {
    return this.#thread?.waiting.isPaused ?? false;
  }

  /** Starts the thread before the first connection needs it. */
  start(): void {
    if (this.#isClosed || this.#thread !== null || this.#restart !== null) return;
    const { clock, entry = builtEntry('venues/receiveWorker') } = this.#options;
    const { waitingBytesMax = WAITING_BYTES_MAX, proxyUrl = null } = this.#options;
    const { port1: port, port2 } = new MessageChannel();
    const waiting = new WaitingBytes(waitingBytesMax);
    const workerData: ReceiveThreadSettings = {
      port: port2,
      shared: waiting.shared,
      waitingBytesMax,
      proxyUrl,
    };
    // Environment and options are inherited: TLS and DNS settings apply to sockets as they do to requests.
    const worker = new Worker(entry, {
      workerData,
      transferList: [port2],
      name: 'feeds',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    const batches = new BatchQueue();
    const thread: Thread = { worker, port, waiting, batches, startedAt: clock.monotonic() };
    this.#thread = thread;
    // The port empties itself in one turn, however much waits: delivery has turns of its own.
    port.on('message', (batch: SocketBatch) => {
      batches.add(batch);
      this.#takeTurn(thread);
    });
    // The thread alone does not keep the process running.
    port.unref();
    worker.unref();
    let failure: unknown = null;
    worker.once('error', (error) => {
      failure = error;
    });
    worker.once('exit', (code) => this.#ended(thread, failure ?? new Error(`exit status ${code}`)));
  }

  connect(options: VenueSocketOptions, events: VenueSocketEvents): VenueSocket {
    const id = this.#nextId++;
    const socket = new ThreadSocket({ id, events }, (command) => {
      if (command.do === 'terminate') this.#sockets.delete(id);
      this.#post(command);
    });
    this.#sockets.set(id, socket);
    this.start();
    // Until the thread is restarted, a connection attempt fails at once and the caller retries.
    if (this.#thread === null) queueMicrotask(() => this.#close(socket, 'the receive thread has ended'));
    else this.#post({ do: 'connect', id, options });
    return socket;
  }

  receiveWaiting(): boolean {
    const thread = this.#thread;
    if (thread === null) return true;
    if (this.#isDelivering) return false;
    this.#takeAll(thread);
    if (this.#deliverForATurn(thread)) return true;
    this.#takeTurn(thread);
    return false;
  }

  /** Ends the thread and all connections; no callback runs afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#restart?.cancel();
    this.#restart = null;
    this.#sockets.clear();
    const thread = this.#thread;
    this.#thread = null;
    thread?.port.close();
    await thread?.worker.terminate();
  }

  #post(command: SocketCommand): void {
    this.#thread?.port.postMessage(command);
  }

  #takeAll({ port, batches }: Thread): void {
    for (
      let waiting = receiveMessageOnPort(port);
      waiting !== undefined;
      waiting = receiveMessageOnPort(port)
    )
      batches.add(waiting.message);
  }

  /** Delivers at the end of this turn of the event loop, and in the next ones while frames wait. */
  #takeTurn(thread: Thread): void {
    if (this.#hasTurn) return;
    this.#hasTurn = true;
    const turn = setImmediate(() => {
      this.#hasTurn = false;
      if (thread === this.#thread && !this.#deliverForATurn(thread)) this.#takeTurn(thread);
    });
    // As the thread, waiting frames alone do not keep the process running.
    turn.unref();
  }

  /** @returns Whether no batch is left. */
  #deliverForATurn(thread: Thread): boolean {
    const { clock } = this.#options;
    const endAt = clock.monotonic() + TURN_MS;
    for (let batch = thread.batches.next(); batch !== null; batch = thread.batches.next()) {
      this.#deliver(thread, batch);
      if (clock.monotonic() >= endAt) break;
    }
    return thread.batches.isEmpty;
  }

  #deliver(thread: Thread, { events, bytes }: SocketBatch): void {
    const [oldest] = events;
    const waitedMs = oldest === undefined ? 0 : this.#options.clock.now() - oldest[2];
    // A wall clock that was set back would make the wait negative.
    this.#delays.observe(Math.max(0, waitedMs) / 1000);
    this.#isDelivering = true;
    try {
      for (const event of events) this.#dispatch(event);
    } finally {
      this.#isDelivering = false;
    }
    if (!thread.waiting.subtract(bytes)) return;
    this.#pauses.inc();
    this.#post({ do: 'resume' });
  }

  /** Events of connections terminated in the meantime are dropped. */
  #dispatch(event: SocketEvent): void {
    const socket = this.#sockets.get(event[1]);
    if (socket === undefined) return;
    if (event[0] === 'open') socket.events.onOpen();
    else if (event[0] === 'frame') socket.events.onFrame(event[3], event[2], event[4]);
    else {
      this.#sockets.delete(socket.id);
      socket.events.onClosed(event[3], event[2], event[4]);
    }
  }

  #close(socket: ThreadSocket, cause: string): void {
    if (this.#sockets.delete(socket.id)) socket.events.onClosed(cause, this.#options.clock.now(), null);
  }

  /** First delivers everything the thread received before it ended. */
  #ended(thread: Thread, error: unknown): void {
    if (thread !== this.#thread) return;
    const { clock, log, random } = this.#options;
    this.#takeAll(thread);
    for (let batch = thread.batches.next(); batch !== null; batch = thread.batches.next())
      this.#deliver(thread, batch);
    thread.port.close();
    this.#thread = null;
    if (clock.monotonic() - thread.startedAt >= STABLE_AFTER_MS) this.#attempt = 0;
    const restartDelayMs = backoffDelayMs(RESTART, this.#attempt++, random);
    this.#failures.inc();
    log.error({ err: error, restartDelayMs }, 'feeds.thread_ended');
    this.#restart = clock.after(restartDelayMs, () => {
      this.#restart = null;
      this.start();
    });
    for (const socket of [...this.#sockets.values()]) this.#close(socket, 'the receive thread has ended');
  }
}

/** The main thread's end of a connection that the receive thread reads. */
class ThreadSocket implements VenueSocket {
  readonly id: number;
  readonly events: VenueSocketEvents;
  readonly #command: (command: SocketCommand) => void;

  constructor(
    { id, events }: { id: number; events: VenueSocketEvents },
    command: (command: SocketCommand) => void,
  ) {
    this.id = id;
    this.events = events;
    this.#command = command;
  }

  send(text: string): void {
    this.#command({ do: 'send', id: this.id, text });
  }

  close(): void {
    this.#command({ do: 'close', id: this.id });
  }

  terminate(): void {
    this.#command({ do: 'terminate', id: this.id });
  }
}
