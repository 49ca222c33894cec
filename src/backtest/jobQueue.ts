import type { Database } from '../control/schema.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Job, SUMMARY, toJob } from './jobs.ts';

/** Lease: a job without a heartbeat for this long may be claimed by another process. */
export const LEASE_MS = 15_000;
/** A job that ended its process this many times is not tried again. */
export const ATTEMPTS_MAX = 3;
/** Baselines and window replays of one user that run at once. Any number of baselines may wait. */
const COMPARISONS_RUNNING_MAX = 2;

const LOST = 'the processes that ran the job ended several times; it is not tried again';

/** Queue operations of the processes that run jobs. The table is the queue, so it outlives them. */
export class JobQueue {
  readonly #db: Database;
  readonly #clock: Pick<Clock, 'now'>;
  /** Id of this process. */
  readonly #runner: string;

  constructor(db: Database, { clock, runner }: { clock: Pick<Clock, 'now'>; runner: string }) {
    this.#db = db;
    this.#clock = clock;
    this.#runner = runner;
  }

  /**
   * Claims the next job. It belongs to the user with the fewest running jobs, and among those to the user whose last
   * start is longest ago. So one user's many jobs do not delay another user's first. A user's submitted jobs go before
   * the comparisons with their paper strategies. Jobs of suspended users wait.
   * @param isServed False for users from whom no further job is claimed now.
   */
  async claim(isServed: (userId: string) => boolean = () => true): Promise<Job | null> {
    for (const userId of await this.#usersInTurn()) {
      if (!isServed(userId)) continue;
      const next = await this.#nextOf(userId);
      if (next === undefined) continue;
      const nowMs = this.#clock.now();
      const row = await this.#db
        .updateTable('backtest_jobs')
        .set((job) => ({
          ...{ status: 'running' as const, progress: 0, started_ms: nowMs, seen_ms: nowMs },
          ...{ runner: this.#runner, attempts: job('attempts', '+', 1) },
        }))
        .where('job_id', '=', next.job_id)
        // Another process may have claimed it first.
        .where('status', '=', 'queued')
        .returning(SUMMARY)
        .executeTakeFirst();
      if (row) return toJob(row);
    }
    return null;
  }

  /** Renews the lease of a job. @returns False if the job was cancelled or claimed by another process. */
  async keep(jobId: string, progress: number): Promise<boolean> {
    const kept = await this.#ours(jobId, { progress, seen_ms: this.#clock.now() });
    return kept > 0;
  }

  /** Ends a job that this process still owns. @returns False if it does not. */
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

  /**
   * Returns a job to the queue because this process is ending. The attempt does not count, as the job did not cause it.
   */
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
   * Requeues abandoned jobs: those of processes that ended, and those whose claim or end this process could not save.
   * @param alone No other process runs jobs of this database, so every job of another runner is abandoned.
   * @param own The jobs that this process runs.
   */
  async recover({ alone, own = [] }: { alone: boolean; own?: readonly string[] }): Promise<number> {
    const lost = () => {
      const running = this.#db.updateTable('backtest_jobs').where('status', '=', 'running');
      if (alone) return running.where('runner', '!=', this.#runner);
      const silent = running.where('seen_ms', '<', this.#clock.now() - LEASE_MS);
      return own.length === 0 ? silent : silent.where('job_id', 'not in', own);
    };
    const failed = { status: 'failed' as const, error: LOST, completed_ms: this.#clock.now(), runner: null };
    await lost().set(failed).where('attempts', '>=', ATTEMPTS_MAX).execute();
    const { numUpdatedRows } = await lost()
      .set({ status: 'queued', progress: 0, runner: null })
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  /** The user's next job, unless it is a comparison and enough of these run. */
  async #nextOf(userId: string): Promise<{ job_id: string } | undefined> {
    const { count } = await this.#db
      .selectFrom('backtest_jobs')
      .select((jobs) => jobs.fn.countAll<number>().as('count'))
      .where('user_id', '=', userId)
      .where('status', '=', 'running')
      .where('baseline_ms', 'is not', null)
      .executeTakeFirstOrThrow();
    let queued = this.#db
      .selectFrom('backtest_jobs')
      .select('job_id')
      .where('status', '=', 'queued')
      .where('user_id', '=', userId);
    if (count >= COMPARISONS_RUNNING_MAX) queued = queued.where('baseline_ms', 'is', null);
    return await queued
      .orderBy('baseline_ms', (order) => order.asc().nullsFirst())
      .orderBy('submitted_ms')
      .orderBy('job_id')
      .limit(1)
      .executeTakeFirst();
  }

  async #usersInTurn(): Promise<string[]> {
    const suspendedUsers = this.#db
      .selectFrom('users')
      .select('user_id')
      .where('suspended_ms', 'is not', null);
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
      .where('queued.user_id', 'not in', suspendedUsers)
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
