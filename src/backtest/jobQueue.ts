import type { Database } from '../control/schema.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Job, SUMMARY, toJob } from './jobs.ts';

/** A process that said nothing of its job for so long has lost it to whoever asks next. */
export const LEASE_MS = 15_000;
/** A job that ended its process so often is not tried again. */
export const ATTEMPTS_MAX = 3;

const LOST = 'the processes that ran it ended, several times; it is not tried again';

/** What the processes that run jobs ask of the table. The table is the queue: it outlives them. */
export class JobQueue {
  readonly #db: Database;
  readonly #clock: Pick<Clock, 'now'>;
  /** Names this process. */
  readonly #runner: string;

  constructor(db: Database, { clock, runner }: { clock: Pick<Clock, 'now'>; runner: string }) {
    this.#db = db;
    this.#clock = clock;
    this.#runner = runner;
  }

  /**
   * Takes the next job: of the user who has the fewest running, then of the one who has waited longest since their
   * last start, so that nobody's many jobs stand before another's first.
   * @param isServed False for a user from whom no further job is taken now.
   */
  async claim(isServed: (userId: string) => boolean = () => true): Promise<Job | null> {
    for (const userId of await this.#usersInTurn()) {
      if (!isServed(userId)) continue;
      const oldest = await this.#db
        .selectFrom('backtest_jobs')
        .select('job_id')
        .where('status', '=', 'queued')
        .where('user_id', '=', userId)
        .orderBy('submitted_ms')
        .orderBy('job_id')
        .limit(1)
        .executeTakeFirst();
      if (oldest === undefined) continue;
      const nowMs = this.#clock.now();
      const row = await this.#db
        .updateTable('backtest_jobs')
        .set((job) => ({
          ...{ status: 'running' as const, progress: 0, started_ms: nowMs, seen_ms: nowMs },
          ...{ runner: this.#runner, attempts: job('attempts', '+', 1) },
        }))
        .where('job_id', '=', oldest.job_id)
        // Another process may have been faster.
        .where('status', '=', 'queued')
        .returning(SUMMARY)
        .executeTakeFirst();
      if (row) return toJob(row);
    }
    return null;
  }

  /** Says that a job is being worked on. @returns False where it is no longer ours: cancelled, or taken by another. */
  async keep(jobId: string, progress: number): Promise<boolean> {
    const kept = await this.#ours(jobId, { progress, seen_ms: this.#clock.now() });
    return kept > 0;
  }

  /** Ends a job that is still ours. */
  async finish(
    jobId: string,
    outcome: { readonly result: string } | { readonly error: string },
  ): Promise<boolean> {
    const ended = { completed_ms: this.#clock.now(), runner: null };
    const done =
      'result' in outcome
        ? await this.#ours(jobId, { ...ended, status: 'complete', progress: 1, result: outcome.result })
        : await this.#ours(jobId, { ...ended, status: 'failed', error: outcome.error });
    return done > 0;
  }

  /** Puts a job of ours back in the queue: this process is about to end, which is not the job's fault. */
  async giveBack(jobId: string): Promise<void> {
    const { attempts } = await this.#db
      .selectFrom('backtest_jobs')
      .select('attempts')
      .where('job_id', '=', jobId)
      .executeTakeFirstOrThrow();
    const back = { progress: 0, runner: null, attempts: Math.max(0, attempts - 1) };
    await this.#ours(jobId, { ...back, status: 'queued' });
  }

  /**
   * Queues again what others left running.
   * @param alone No other process runs jobs of this database, so whatever runs was left by one that is gone.
   */
  async recover({ alone }: { alone: boolean }): Promise<number> {
    const lost = () => {
      const running = this.#db.updateTable('backtest_jobs').where('status', '=', 'running');
      const others = running.where('runner', '!=', this.#runner);
      return alone ? others : others.where('seen_ms', '<', this.#clock.now() - LEASE_MS);
    };
    const failed = { status: 'failed' as const, error: LOST, completed_ms: this.#clock.now(), runner: null };
    await lost().set(failed).where('attempts', '>=', ATTEMPTS_MAX).execute();
    const { numUpdatedRows } = await lost()
      .set({ status: 'queued', progress: 0, runner: null })
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  async #usersInTurn(): Promise<string[]> {
    const waiting = await this.#db
      .selectFrom('backtest_jobs as queued')
      .select('queued.user_id')
      .select((job) => [
        job.fn.min('queued.submitted_ms').as('oldest_ms'),
        job
          .selectFrom('backtest_jobs as running')
          .select((other) => other.fn.countAll<number>().as('count'))
          .whereRef('running.user_id', '=', 'queued.user_id')
          .where('running.status', '=', 'running')
          .as('running'),
        job
          .selectFrom('backtest_jobs as begun')
          .select((other) => other.fn.max('begun.started_ms').as('last'))
          .whereRef('begun.user_id', '=', 'queued.user_id')
          .as('last_ms'),
      ])
      .where('queued.status', '=', 'queued')
      .groupBy('queued.user_id')
      .execute();
    const numbers = (row: (typeof waiting)[number]) => [row.running ?? 0, row.last_ms ?? 0, row.oldest_ms];
    return waiting
      .map((row) => ({ userId: row.user_id, keys: numbers(row) }))
      .sort((a, b) => compare(a.keys, b.keys))
      .map(({ userId }) => userId);
  }

  async #ours(jobId: string, set: Partial<JobChange>): Promise<number> {
    const { numUpdatedRows } = await this.#db
      .updateTable('backtest_jobs')
      .set(set)
      .where('job_id', '=', jobId)
      .where('status', '=', 'running')
      .where('runner', '=', this.#runner)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }
}

interface JobChange {
  readonly status: 'queued' | 'complete' | 'failed';
  readonly progress: number;
  readonly completed_ms: number;
  readonly result: string;
  readonly error: string;
  readonly runner: null;
  readonly seen_ms: number;
  readonly attempts: number;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : Number(a[at]) - Number(b[at]);
}
