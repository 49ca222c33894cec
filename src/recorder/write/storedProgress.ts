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
  /** The newest message of a partition that this process has received; null: none yet. */
  readonly received: (partition: number) => StreamPlace | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'gauge'>;
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
    return this.#checkpoints.map(({ streamSeq, timeMs }, partition) => {
      const newest = this.#options.received(partition);
      return newest === null || newest.streamSeq <= streamSeq ? 0 : Math.max(0, newest.timeMs - timeMs);
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
    const receivedSeq = () =>
      Math.max(0, ...partitions.map((partition) => received(partition)?.streamSeq ?? 0));
    while (receivedSeq() < target && !signal.aborted) await sleep(clock, WAIT_POLL_MS, signal);
    const wanted = partitions.map((partition) => received(partition)?.streamSeq ?? 0);
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
