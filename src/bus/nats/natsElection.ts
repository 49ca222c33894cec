import { JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Election } from '../recordStream.ts';
import type { NatsLink } from './natsLink.ts';
import { openBucket } from './valueBucket.ts';

/** The server deletes the entry of a leader that did not renew it for so long. */
const ENTRY_MS = 4_000;
const RENEW_MS = 1_000;
/** A leader resigns this long after it began its last successful renewal, before its entry can expire. */
const RESIGN_MS = 2_500;
const CANDIDATE_POLL_MS = 400;
const REQUEST_TIMEOUT_MS = 1_000;
/** JetStream's errors "wrong last sequence": another process has written the entry, or is about to. */
const WRONG_REVISION: readonly number[] = [10_071, 10_164];

interface ElectionOptions {
  readonly link: NatsLink;
  readonly bucket: string;
  readonly replicas: number;
  /** Differs from process to process, also after a restart. */
  readonly candidate: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Elections by entries of a bucket that expire: the process whose entry exists leads. */
export class NatsElection implements Election {
  readonly #options: ElectionOptions;
  readonly #gauge;
  #bucket: KV | null = null;
  #campaigns = 0;

  constructor(options: ElectionOptions) {
    this.#options = options;
    const help = 'Whether this process leads a task: 1 or 0';
    this.#gauge = options.metrics.gauge('underround_leader', help, ['task']);
  }

  campaign(
    task: string,
    { onElected, onLost }: { readonly onElected: () => void; readonly onLost: () => void },
  ): { readonly isLeader: boolean; stop(): Promise<void> } {
    const { clock, log } = this.#options;
    const report = (isLeader: boolean) => {
      this.#gauge.set({ task }, isLeader ? 1 : 0);
      log.info({ task }, isLeader ? 'election.won' : 'election.lost');
      if (isLeader) onElected();
      else onLost();
    };
    this.#gauge.set({ task }, 0);
    return new Campaign({
      task,
      candidate: `${this.#options.candidate}.${++this.#campaigns}`,
      clock,
      log,
      bucket: () => this.#open(),
      remove: (revision) => this.#remove(task, revision),
      onFailed: () => {
        // It may have been deleted: the next attempt creates it again.
        this.#bucket = null;
      },
      report,
    });
  }

  async #open(): Promise<KV> {
    if (this.#bucket !== null) return this.#bucket;
    const { bucket, link, replicas } = this.#options;
    const client = jetstream(await link.connection(), { timeout: REQUEST_TIMEOUT_MS });
    this.#bucket = await openBucket(client, bucket, { replicas, ttl: ENTRY_MS });
    return this.#bucket;
  }

  /**
   * Removes an entry unless it is newer than a revision. The bucket's own `delete` would leave a mark with a revision of
   * its own, and a cluster (2.9.10) accepts two messages that replace the same revision if they come at once: it elected
   * two processes. It stores only one of the messages that must be the first.
   */
  async #remove(task: string, revision: number): Promise<void> {
    const { bucket, link } = this.#options;
    const manager = await jetstreamManager(await link.connection(), {
      timeout: REQUEST_TIMEOUT_MS,
      checkAPI: false,
    });
    await manager.streams.purge(`KV_${bucket}`, { filter: `$KV.${bucket}.${task}`, seq: revision + 1 });
  }
}

interface CampaignOptions {
  readonly task: string;
  readonly candidate: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly bucket: () => Promise<KV>;
  /** Removes the task's entry, unless it is newer than `revision`. */
  readonly remove: (revision: number) => Promise<void>;
  readonly onFailed: () => void;
  readonly report: (isLeader: boolean) => void;
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  /** The revision of the own entry; null while another process may lead. */
  #revision: number | null = null;
  /** Monotonic time at which the leadership ends unless it is renewed. */
  #endMs = 0;
  #failures = 0;

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get isLeader(): boolean {
    return this.#revision !== null && this.#options.clock.monotonic() < this.#endMs;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startMs = clock.monotonic();
      const attempt = this.#attempt();
      const limitMs = this.#revision === null ? REQUEST_TIMEOUT_MS * 2 : this.#endMs - startMs;
      const revision = await within(clock, Math.max(0, limitMs), attempt, signal);
      if (revision !== null && !signal.aborted) this.#onRenewed(revision, startMs);
      else if (this.#revision !== null && clock.monotonic() >= this.#endMs) this.#resign();
      await sleep(clock, this.#pauseMs(startMs, revision !== null), signal);
    }
    await this.#leave();
  }

  #pauseMs(startMs: number, isRenewed: boolean): number {
    if (this.#revision === null) return CANDIDATE_POLL_MS;
    // After a failed renewal the next one follows soon: there is not much time.
    const spentMs = this.#options.clock.monotonic() - startMs;
    return isRenewed ? Math.max(0, RENEW_MS - spentMs) : 100;
  }

  #onRenewed(revision: number, startMs: number): void {
    const isNew = this.#revision === null;
    this.#revision = revision;
    this.#endMs = startMs + RESIGN_MS;
    this.#failures = 0;
    if (isNew) this.#options.report(true);
  }

  #resign(): void {
    this.#revision = null;
    this.#options.report(false);
  }

  /** @returns The revision of the own entry after a renewal; null when it failed or another process leads. */
  async #attempt(): Promise<number | null> {
    const { bucket, candidate, log, task } = this.#options;
    try {
      const entries = await bucket();
      if (this.#revision !== null) return await entries.update(task, candidate, this.#revision);
      // Not `create`, which replaces the mark of a deletion: see `#remove`.
      return await entries.put(task, candidate, { previousSeq: 0 });
    } catch (error) {
      if (error instanceof JetStreamApiError && WRONG_REVISION.includes(error.code))
        return this.#afterConflict();
      this.#options.onFailed();
      // A server that is away, or a bucket without a leader, fails every attempt.
      if (++this.#failures === 1) log.warn({ err: error, task }, 'election.not_reached');
      return null;
    }
  }

  /** The entry has another revision: it is another process's, or an answer to this one was lost. */
  async #afterConflict(): Promise<number | null> {
    const { bucket, candidate, task } = this.#options;
    this.#failures = 0;
    try {
      const entries = await bucket();
      const entry = await entries.get(task);
      if (entry?.operation === 'PUT' && entry.string() === candidate) {
        return await entries.update(task, candidate, entry.revision);
      }
      // Another process has it: this one must not go on until its own time ends.
      if (this.#revision !== null && entry !== null) this.#endMs = 0;
    } catch {
      // The next attempt follows.
    }
    return null;
  }

  async #leave(): Promise<void> {
    if (this.#revision === null) return;
    const revision = this.#revision;
    this.#resign();
    try {
      await this.#options.remove(revision);
    } catch {
      // The entry expires.
    }
  }
}

/** The result of `work`; null when it takes longer, or when `signal` aborts. */
async function within<T>(
  clock: Clock,
  limitMs: number,
  work: Promise<T | null>,
  signal: AbortSignal,
): Promise<T | null> {
  const late = new AbortController();
  const end = () => late.abort();
  signal.addEventListener('abort', end, { once: true });
  const limit = sleep(clock, limitMs, late.signal).then(() => null);
  const result = await Promise.race([work, limit]);
  late.abort();
  signal.removeEventListener('abort', end);
  return result;
}
