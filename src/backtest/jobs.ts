import type { Kysely, Selectable } from 'kysely';
import { createId, type RowSources } from '../control/ids.ts';
import { beyondPlace } from '../control/keyset.ts';
import type { Database, Schema } from '../control/schema.ts';
import type { JobKind, JobSpec, JobStatus } from '../schema/backtest.ts';
import { deleteOldJobs, KEPT_JOBS, type KeptJobs } from './jobRetention.ts';
import type { BacktestJobsTable } from './schemaJobs.ts';

/** A job without its result, which may be megabytes. */
export interface Job {
  readonly jobId: string;
  readonly userId: string;
  readonly kind: JobKind;
  readonly status: JobStatus;
  readonly progress: number;
  readonly submittedMs: number;
  readonly startedMs: number | null;
  readonly completedMs: number | null;
  readonly spec: JobSpec;
  readonly error: string | null;
  readonly attempts: number;
  /** Whether the job is a paper strategy's comparison: its baseline, or the replay of its period. */
  readonly isComparison: boolean;
}

export interface NewJob {
  readonly userId: string;
  readonly spec: JobSpec;
  /** Comparisons of paper strategies count separately from jobs that a user submits. */
  readonly isComparison: boolean;
  /** Maximum number of the user's unfinished jobs counted together, including this one. */
  readonly cap: number;
}

interface JobPlace {
  readonly submittedMs: number;
  readonly jobId: string;
}

export const SUMMARY = [
  ...(['job_id', 'user_id', 'kind', 'status', 'progress', 'submitted_ms', 'started_ms'] as const),
  ...(['completed_ms', 'spec', 'error', 'attempts', 'baseline_ms'] as const),
] as const;
const ACTIVE: readonly JobStatus[] = ['queued', 'running'];

/** The jobs of all users, run by any process. */
export class JobRepository {
  readonly #db: Database;
  readonly #sources: RowSources;
  readonly #kept: KeptJobs;

  constructor(db: Database, { kept = KEPT_JOBS, ...sources }: RowSources & { readonly kept?: KeptJobs }) {
    this.#db = db;
    this.#sources = sources;
    this.#kept = kept;
  }

  /**
   * Also deletes the user's oldest finished jobs beyond the limits of `kept`.
   * @returns Null if the user has the maximum number of jobs.
   */
  async create({ userId, spec, isComparison, cap }: NewJob): Promise<Job | null> {
    const { clock, randomBytes } = this.#sources;
    const nowMs = clock.now();
    return await this.#db.transaction().execute(async (transaction) => {
      // Locks the user's row, so two concurrent requests cannot both count before either has created its job.
      const owner = transaction.updateTable('users').set((users) => ({ tier: users.ref('tier') }));
      await owner.where('user_id', '=', userId).execute();
      if ((await activeJobs(transaction, { userId, isComparison })) >= cap) return null;
      await deleteOldJobs(transaction, { userId, isComparison }, this.#kept);
      const row = await transaction
        .insertInto('backtest_jobs')
        .values({
          ...{ job_id: createId('bt', randomBytes), user_id: userId, kind: spec.kind, status: 'queued' },
          ...{ progress: 0, submitted_ms: nowMs, started_ms: null, completed_ms: null },
          ...{ spec: JSON.stringify(spec), result: null, error: null },
          ...{ baseline_ms: isComparison ? nowMs : null, runner: null, seen_ms: null, attempts: 0 },
        })
        .returning(SUMMARY)
        .executeTakeFirstOrThrow();
      return toJob(row);
    });
  }

  /** @param owner Restricts the search to jobs of this user; null: any user. */
  async find(jobId: string, owner: { userId: string } | null): Promise<Job | null> {
    let found = this.#db.selectFrom('backtest_jobs').select(SUMMARY).where('job_id', '=', jobId);
    if (owner !== null) found = found.where('user_id', '=', owner.userId);
    const row = await found.executeTakeFirst();
    return row ? toJob(row) : null;
  }

  /** JSON as stored; null if there is none. */
  async result(jobId: string): Promise<string | null> {
    const found = this.#db.selectFrom('backtest_jobs').select('result').where('job_id', '=', jobId);
    return (await found.executeTakeFirst())?.result ?? null;
  }

  /** Newest first. */
  async list(
    userId: string,
    { limit, offset, after }: { limit: number; offset: number; after: JobPlace | null },
  ): Promise<Job[]> {
    let query = this.#db
      .selectFrom('backtest_jobs')
      .select(SUMMARY)
      .where('user_id', '=', userId)
      .orderBy('submitted_ms', 'desc')
      .orderBy('job_id', 'desc')
      .limit(limit);
    if (after === null) query = query.offset(offset);
    else {
      const { submittedMs, jobId } = after;
      const place = [
        ['submitted_ms', submittedMs],
        ['job_id', jobId],
      ] as const;
      query = query.where((row) => beyondPlace(row, '<', place));
    }
    return (await query.execute()).map(toJob);
  }

  async count(userId: string): Promise<number> {
    const { count } = await this.#db
      .selectFrom('backtest_jobs')
      .select((jobs) => jobs.fn.countAll<number>().as('count'))
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Cancels a queued or running job; a finished one does not change. @returns False if there is none. */
  async cancel(jobId: string, owner: { userId: string }): Promise<boolean> {
    const job = await this.find(jobId, owner);
    if (job === null) return false;
    await this.#db
      .updateTable('backtest_jobs')
      .set({ status: 'cancelled', completed_ms: this.#sources.clock.now(), runner: null })
      .where('job_id', '=', jobId)
      .where('status', 'in', ACTIVE)
      .execute();
    return true;
  }
}

async function activeJobs(
  db: Kysely<Schema>,
  { userId, isComparison }: { userId: string; isComparison: boolean },
): Promise<number> {
  const { count } = await db
    .selectFrom('backtest_jobs')
    .select((jobs) => jobs.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('status', 'in', ACTIVE)
    .where('baseline_ms', isComparison ? 'is not' : 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export function toJob(row: Pick<Selectable<BacktestJobsTable>, (typeof SUMMARY)[number]>): Job {
  return {
    jobId: row.job_id,
    userId: row.user_id,
    kind: row.kind,
    status: row.status,
    progress: row.progress,
    submittedMs: row.submitted_ms,
    startedMs: row.started_ms,
    completedMs: row.completed_ms,
    spec: storedSpec(row.spec),
    error: row.error,
    attempts: row.attempts,
    isComparison: row.baseline_ms !== null,
  };
}

/** Parses a stored job. Releases before `max_slippage` stored none, and their jobs filled without a limit. */
export function storedSpec(text: string): JobSpec {
  const spec = JSON.parse(text) as JobSpec;
  return { ...spec, params: { ...spec.params, max_slippage: spec.params.max_slippage ?? null } };
}
