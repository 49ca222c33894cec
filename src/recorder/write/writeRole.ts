import type { Election, RecordStream } from '../../bus/recordStream.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** Pause before a partition is taken again whose store or checkpoint could not be read. */
const RETRY_DELAY_MS = 1_000;
/** Time for an election, before a process campaigns for its next partition. */
const ELECTION_MS = 250;
/** Added after an election that it won, for each partition it has: processes that start together get equal shares. */
const SHARE_DELAY_MS = 500;

interface Worker {
  stop(): Promise<void>;
}

interface WriteRoleOptions {
  readonly stream: Pick<RecordStream, 'partitions'>;
  readonly election: Election;
  /**
   * Begins to store a partition.
   * @param isOwner False as soon as another process may be elected for it.
   * @throws {StoreUnavailableError}
   */
  readonly startWorker: (partition: number, isOwner: () => boolean) => Promise<Worker>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter' | 'gauge'>;
}

/** The campaign for one partition. */
interface Post {
  isHeld(): boolean;
  leave(): Promise<void>;
}

/** Stores the partitions for which this process is elected; the other write processes stand by. */
export class WriteRole {
  readonly #options: WriteRoleOptions;
  readonly #posts = new Map<number, Post>();
  readonly #stopping = new AbortController();
  readonly #failures;
  /** Why each partition that this process was elected for is not being stored. */
  readonly #reasons = new Map<number, string>();

  constructor(options: WriteRoleOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#failures = metrics.counter(
      'underround_partition_starts_failed_total',
      'Partitions that could not be taken over and are tried again',
    );
    metrics.gauge(
      'underround_partitions_held',
      'Partitions of the stream that this process stores',
      [],
      (gauge) => gauge.set(this.held.length),
    );
  }

  /** The partitions that this process stores now. */
  get held(): readonly number[] {
    return [...this.#posts].filter(([, post]) => post.isHeld()).map(([partition]) => partition);
  }

  /** The partitions that wait for this process, for readiness. */
  reasons(): string[] {
    return [...this.#reasons].map(([partition, why]) => `partition ${partition} is not stored: ${why}`);
  }

  start(): void {
    void this.#campaignForAll();
  }

  /** Finishes the batches in work, then leaves the partitions to other processes. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#posts.values()].map((post) => post.leave()));
  }

  async #campaignForAll(): Promise<void> {
    const { clock, stream } = this.#options;
    const { signal } = this.#stopping;
    for (let partition = 0; partition < stream.partitions && !signal.aborted; partition++) {
      const post = this.#campaign(partition);
      this.#posts.set(partition, post);
      await sleep(clock, ELECTION_MS, signal);
      if (post.isHeld()) await sleep(clock, SHARE_DELAY_MS * this.held.length, signal);
    }
  }

  #campaign(partition: number): Post {
    let term: AbortController | null = null;
    let done: Promise<void> = Promise.resolve();
    const end = () => {
      term?.abort();
      term = null;
    };
    const onElected = () => {
      // The election may be lost and won again while the last term ends.
      if (this.#stopping.signal.aborted) return;
      const own = new AbortController();
      term = own;
      const isOwner = () => !own.signal.aborted && campaign.isLeader;
      done = done.then(() => this.#work(partition, { ended: own.signal, isOwner }));
    };
    const campaign = this.#options.election.campaign(`write.${partition}`, { onElected, onLost: end });
    return {
      isHeld: () => term !== null,
      leave: async () => {
        end();
        // The next process takes over where this one has stopped.
        await done;
        await campaign.stop();
      },
    };
  }

  async #work(
    partition: number,
    { ended, isOwner }: { ended: AbortSignal; isOwner: () => boolean },
  ): Promise<void> {
    const { startWorker, clock, log } = this.#options;
    while (!ended.aborted) {
      try {
        const worker = await startWorker(partition, isOwner);
        this.#reasons.delete(partition);
        if (!ended.aborted)
          await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }));
        await worker.stop();
        return;
      } catch (error) {
        this.#failures.inc();
        this.#reasons.set(partition, (error as Error).message);
        log.warn({ err: error, partition }, 'partition.not_taken');
        await sleep(clock, RETRY_DELAY_MS, ended);
      }
    }
    this.#reasons.delete(partition);
  }
}
