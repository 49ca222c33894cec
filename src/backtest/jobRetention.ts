import { type Kysely, sql } from 'kysely';
import type { Schema } from '../control/schema.ts';
import { MIB } from '../runtime/byteUnits.ts';

/** How many finished jobs of a user are kept, the newest. Comparisons of paper strategies are counted separately. */
export interface KeptJobs {
  readonly jobs: number;
  /** Bytes of results: older jobs are deleted once the results of newer ones have this size. */
  readonly resultBytes: number;
}

export const KEPT_JOBS: KeptJobs = { jobs: 1_000, resultBytes: 128 * MIB };
/** Jobs deleted by one statement. More than one new job adds, so the table shrinks to its limit. */
const DELETED_AT_ONCE = 10;

/** Deletes a user's oldest finished jobs beyond the limits: without limits, one user could fill the disk. */
export async function deleteOldJobs(
  db: Kysely<Schema>,
  { userId, isComparison }: { userId: string; isComparison: boolean },
  { jobs, resultBytes }: KeptJobs,
): Promise<void> {
  const isOfKind = isComparison ? sql`baseline_ms is not null` : sql`baseline_ms is null`;
  await sql`
    delete from backtest_jobs where job_id in (
      select job_id from (
        select job_id,
          row_number() over newest as place,
          sum(octet_length(result)) over (newest rows between unbounded preceding and 1 preceding) as newer_bytes
        from backtest_jobs
        where user_id = ${userId} and status not in ('queued', 'running') and ${isOfKind}
        window newest as (order by submitted_ms desc, job_id desc)
      ) as finished
      where place > ${jobs} or newer_bytes >= ${resultBytes}
      order by place desc
      limit ${DELETED_AT_ONCE})`.execute(db);
}
