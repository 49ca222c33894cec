import type { RecordStream, SharedValues, StreamPlace } from '../../bus/recordStream.ts';
import { type Clock, every, sleep, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { type Checkpoint, readCheckpoint } from './checkpoint.ts';

/** How often the checkpoints are read: the lag is at most this much too large. */
const POLL_MS = 500;
const WAIT_POLL_MS = 100;

interface StoredProgressOptions {
  readonly stream: Pick<RecordStream, 'partitions' | 'lastSeq'>;
  readonly values: SharedValues;
  readonly received: ReceivedPlaces;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'gauge'>;
}

/** Messages that arrive within this time count as received together. */
const ARRIVAL_STEP_MS = 100;
/** Arrivals that are kept of each partition; then the two oldest ones become one. */
const ARRIVALS_MAX = 1_000;

interface ReceivedPartition {
  readonly first: StreamPlace;
  newest: StreamPlace;
  /** When messages were received, monotonic, and the number of the last of them; oldest first. */
  readonly arrivals: { readonly atMs: number; lastSeq: number }[];
}

/** The first and the newest message of each partition that this process has received, and when those between came. */
export class ReceivedPlaces {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #partitions = new Map<number, ReceivedPartition>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  note(place: StreamPlace): void {
    const received = this.#partitions.get(place.partition) ?? { first: place, newest: place, arrivals: [] };
    this.#partitions.set(place.partition, received);
    received.newest = place;
    const { arrivals } = received;
    const [atMs, last] = [this.#clock.monotonic(), arrivals.at(-1)];
    if (last !== undefined && atMs - last.atMs < ARRIVAL_STEP_MS) {
      last.lastSeq = place.streamSeq;
      return;
    }
    arrivals.push({ atMs, lastSeq: place.streamSeq });
    const [oldest, next] = arrivals;
    if (arrivals.length <= ARRIVALS_MAX || oldest === undefined || next === undefined) return;
    oldest.lastSeq = next.lastSeq;
    arrivals.splice(1, 1);
  }

  /** Forgets when the messages up to this number were received: they are stored. */
  forgetStored(partition: number, streamSeq: number): void {
    const arrivals = this.#partitions.get(partition)?.arrivals ?? [];
    const waiting = arrivals.findIndex(({ lastSeq }) => lastSeq > streamSeq);
    arrivals.splice(0, waiting < 0 ? arrivals.length : waiting);
  }

  /** Milliseconds since the first message above this number was received, at most 100 ms too large; 0 without one. */
  waitingMs(partition: number, streamSeq: number): number {
    const arrivals = this.#partitions.get(partition)?.arrivals ?? [];
    const waiting = arrivals.find(({ lastSeq }) => lastSeq > streamSeq);
    return waiting === undefined ? 0 : this.#clock.monotonic() - waiting.atMs;
  }

  /** Null before the first. */
  first(partition: number): StreamPlace | null {
    return this.#partitions.get(partition)?.first ?? null;
  }

  newest(partition: number): StreamPlace | null {
    return this.#partitions.get(partition)?.newest ?? null;
  }

  /** The newest number of all partitions; 0 before the first message. */
  get streamSeq(): number {
    return Math.max(0, ...[...this.#partitions.values()].map(({ newest }) => newest.streamSeq));
  }
}

/** How far the writers are, as seen by a process that follows the stream. */
export class StoredProgress {
  readonly #options: StoredProgressOptions;
  readonly #timer: Timer;
  readonly #stopping = new AbortController();
  #checkpoints: readonly Checkpoint[] = [];
  #reading: Promise<void> | null = null;
  #failed = false;

  constructor(options: StoredProgressOptions) {
    this.#options = options;
    this.#timer = every(options.clock, POLL_MS, () => void this.refresh());
    options.metrics.gauge(
      'underround_store_lag_seconds',
      'Age of the oldest row received that is not in the engine; 0 when all are',
      [],
      (gauge) => gauge.set(this.lagMs() / 1_000),
    );
  }

  /**
   * Age of the oldest received message that is not stored, in milliseconds; 0 when all are stored. It is the time since
   * that message arrived here. While a backlog is read, the stream times of the last stored and the newest message are
   * further apart; then it is their difference.
   */
  lagMs(): number {
    return Math.max(0, ...this.lagsMs());
  }

  /** The same by partition; empty until the checkpoints were read. */
  lagsMs(): number[] {
    const { received } = this.#options;
    return this.#checkpoints.map(({ streamSeq, timeMs }, partition) => {
      const newest = received.newest(partition);
      if (newest === null || newest.streamSeq <= streamSeq) return 0;
      // Before the first checkpoint nothing of the partition is stored.
      const storedMs = streamSeq === 0 ? (received.first(partition) ?? newest).timeMs : timeMs;
      return Math.max(received.waitingMs(partition, streamSeq), newest.timeMs - storedMs);
    });
  }

  /** Reads the checkpoints, also every 500 ms; a read in progress counts. Never rejects. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /**
   * Resolves once everything that the stream had at the call is stored, and received here.
   * @throws {StoreUnavailableError} When the stream does not answer.
   */
  async stored(): Promise<void> {
    const { stream, clock, received } = this.#options;
    const { signal } = this.#stopping;
    const partitions = Array.from({ length: stream.partitions }, (_, partition) => partition);
    const target = await stream.lastSeq();
    while (received.streamSeq < target && !signal.aborted) await sleep(clock, WAIT_POLL_MS, signal);
    const wanted = partitions.map((partition) => received.newest(partition)?.streamSeq ?? 0);
    const isStored = () =>
      wanted.every((streamSeq, at) => (this.#checkpoints[at]?.streamSeq ?? -1) >= streamSeq);
    for (await this.refresh(); !isStored() && !signal.aborted; await this.refresh())
      await sleep(clock, WAIT_POLL_MS, signal);
  }

  stop(): void {
    this.#timer.cancel();
    this.#stopping.abort();
  }

  async #read(): Promise<void> {
    const { values, stream, received, log } = this.#options;
    try {
      const partitions = Array.from({ length: stream.partitions }, (_, partition) => partition);
      this.#checkpoints = await Promise.all(partitions.map((partition) => readCheckpoint(values, partition)));
      this.#checkpoints.forEach(({ streamSeq }, partition) => {
        received.forgetStored(partition, streamSeq);
      });
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) log.warn({ err: error }, 'checkpoints.not_read');
      this.#failed = true;
    }
  }
}
