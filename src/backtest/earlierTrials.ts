/** Counts a user's earlier trials on a universe: the best of many trials looks good by chance. */
import { sql } from 'kysely';
import { beyondPlace } from '../control/keyset.ts';
import type { Database } from '../control/schema.ts';
import { type BacktestUniverse, type JobSpec, type JobStatus, seriesSetOf } from '../schema/backtest.ts';
import { cellCount } from './cells.ts';
import { storedSpec } from './jobs.ts';

const PAGE_JOBS = 200;
/** Length of the end of a result that is searched for its receipt, the last member (about 200 characters). */
const RECEIPT_CHARACTERS = 1_000;
/** Jobs without a result are not trials. */
const SHOW_NOTHING: readonly JobStatus[] = ['failed', 'cancelled'];

interface JudgedJob {
  readonly jobId: string;
  readonly userId: string;
  readonly spec: JobSpec;
  /** The `data_hash` of its receipt. */
  readonly dataHash: string;
}

interface Place {
  readonly submittedMs: number;
  readonly jobId: string;
}

/**
 * Number of cells that the user's earlier jobs on the same universe tried. Counting stops at the first job with the
 * same question and data, because a repeated job must return the same bytes. Repeated jobs in between count once. A
 * backtest is one cell. Comparisons of paper strategies, failed and cancelled jobs do not count.
 */
export async function earlierTrials(db: Database, job: JudgedJob): Promise<number> {
  const own = keyOf(job.spec, job.dataHash);
  const tried = new Map<string, number>();
  for await (const { spec, dataHash } of jobsBefore(db, job)) {
    if (!isSameUniverse(spec, job.spec)) continue;
    // An unfinished job is assumed to read the same data as this one.
    const key = keyOf(spec, dataHash ?? job.dataHash);
    if (key === own) break;
    tried.set(key, spec.kind === 'sweep' ? cellCount(spec) : 1);
  }
  return [...tried.values()].reduce((sum, cells) => sum + cells, 0);
}

/** Oldest first. */
async function* jobsBefore(
  db: Database,
  { jobId, userId }: JudgedJob,
): AsyncGenerator<{ spec: JobSpec; dataHash: string | null }> {
  const all = db.selectFrom('backtest_jobs').where('user_id', '=', userId);
  const found = await all.select('submitted_ms').where('job_id', '=', jobId).executeTakeFirst();
  if (found === undefined) return;
  const own: Place = { submittedMs: found.submitted_ms, jobId };
  for (let after: Place | null = null; ; ) {
    let query = all
      .select(['job_id', 'submitted_ms', 'spec'])
      .select(endOfResult().as('receipt'))
      .where('baseline_ms', 'is', null)
      .where('status', 'not in', SHOW_NOTHING)
      .where((row) => beyondPlace(row, '<', orderOf(own)))
      .orderBy('submitted_ms')
      .orderBy('job_id')
      .limit(PAGE_JOBS);
    const from = after;
    if (from !== null) query = query.where((row) => beyondPlace(row, '>', orderOf(from)));
    const rows = await query.execute();
    for (const { spec, receipt } of rows) {
      const [, dataHash = null] = /"data_hash":"([0-9a-f]{64})"/.exec(receipt ?? '') ?? [];
      yield { spec: storedSpec(spec), dataHash };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_JOBS) return;
    after = { submittedMs: last.submitted_ms, jobId: last.job_id };
  }
}

/** A shorter result is whole: SQLite counts a negative start from the end, so that `substr` alone would cut it. */
function endOfResult() {
  return sql<string | null>`case when length(result) <= ${RECEIPT_CHARACTERS} then result
    else substr(result, length(result) - ${RECEIPT_CHARACTERS}) end`;
}

function orderOf({ submittedMs, jobId }: Place) {
  return [
    ['submitted_ms', submittedMs],
    ['job_id', jobId],
  ] as const;
}

function isSameUniverse({ universe: a }: JobSpec, { universe: b }: JobSpec): boolean {
  return seriesNames(a) === seriesNames(b);
}

/** The series of a universe in one text, in whatever order and however often it names them. */
export function seriesNames(universe: BacktestUniverse): string {
  const { tickers, event_types } = seriesSetOf(universe);
  const names = [tickers, event_types].map((list) => [...new Set<string>(list)].sort().join());
  return names.join(' ');
}

/** The job's question without its time range, which the data hash represents: an open end moves with every request. */
function keyOf(spec: JobSpec, dataHash: string): string {
  const { strategy, sizeUsd } = spec;
  // A stress only adds figures.
  const { stress: _, ...params } = spec.params;
  const axes = spec.kind === 'sweep' ? [spec.xAxis, spec.yAxis] : [];
  return JSON.stringify([strategy, params, sizeUsd, axes, dataHash]);
}
