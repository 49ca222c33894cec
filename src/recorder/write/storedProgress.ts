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

/** The first and the newest message of each partition that this process has received. */
export class ReceivedPlaces {
  readonly #first = new Map<number, StreamPlace>();
  readonly #newest = new Map<number, StreamPlace>();

  note(place: StreamPlace): void {
    if (!this.#first.has(place.partition)) this.#first.set(place.partition, place);
    this.#newest.set(place.partition, place);
  }

  /** Null before the first. */
  first(partition: number): StreamPlace | null {
    return this.#first.get(partition) ?? null;
  }

  newest(partition: number): StreamPlace | null {
    return this.#newest.get(partition) ?? null;
  }

  /** The newest number of all partitions; 0 before the first message. */
  get streamSeq(): number {
    return Math.max(0, ...[...this.#newest.values()].map(({ streamSeq }) => streamSeq));
  }
}

/** How far the writers are, as seen by a process that follows the stream. */
export class StoredProgress {
  readonly #options: StoredProgressOptions;
  readonly #timer: Timer;
  readonly #stopping = new AbortController();
  #checkpoints: readonly Checkpoint[] = [];
  #reading = false;
  #failed = false;

  constructor(options: StoredProgressOptions) {
    this.#options = options;
    this.#timer = every(options.clock, POLL_MS, () => void this.#poll());
    options.metrics.gauge(
      'underround_store_lag_seconds',
      'Age of the oldest row received that is not in the engine; 0 when all are',
      [],
      (gauge) => gauge.set(this.lagMs() / 1_000),
    );
  }

  /** Age of the oldest received message that is not stored, in milliseconds of the stream's clock; 0 when all are. */
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
      return Math.max(0, newest.timeMs - storedMs);
    });
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
    for (await this.#poll(); !isStored() && !signal.aborted; await this.#poll())
      await sleep(clock, WAIT_POLL_MS, signal);
  }

  stop(): void {
    this.#timer.cancel();
    this.#stopping.abort();
  }

  /** Never rejects. */
  async #poll(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const { values, stream, log } = this.#options;
    try {
      const partitions = Array.from({ length: stream.partitions }, (_, partition) => partition);
      this.#checkpoints = await Promise.all(partitions.map((partition) => readCheckpoint(values, partition)));
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) log.warn({ err: error }, 'checkpoints.not_read');
      this.#failed = true;
    } finally {
      this.#reading = false;
    }
  }
}
