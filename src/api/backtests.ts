import { type AskedBacktest, axisProblems, executionProblems, requestOf, specOf } from '../backtest/asked.ts';
import { cellCount } from '../backtest/cells.ts';
import type { JobControl } from '../backtest/jobControl.ts';
import type { Job, JobRepository } from '../backtest/jobs.ts';
import { type CursorScope, decodeCursor, encodeCursor } from '../http/cursor.ts';
import { forbidden, invalid, notFound, tooManyRequests } from '../http/refusal.ts';
import { type Answer, type ApiRequest, type RawRequest, type Route, route } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import type { Clock } from '../runtime/clock.ts';
import {
  backtestJobListShape,
  backtestJobShape,
  backtestMembers,
  MARKET_LIMIT_DEFAULT,
  sweepMembers,
} from '../schema/api/backtests.ts';
import { required, withDefault } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import { boolean, text } from '../schema/api/types.ts';
import type { BacktestSpec, JobSpec } from '../schema/backtest.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';

const WAIT_MS_MAX = 30_000;
/** A job takes seconds, so polling more often than this returns nothing new. */
const RETRY_AFTER_SECONDS = 5;
const JOB_ID = /^bt_[0-9A-Za-z]{1,64}$/;

const wait = withDefault(boolean, false, 'Wait for the job to end before answering, at most 30 s');
const jobId = required(text(), '`job_id` from the list of jobs');
const ABOUT = 'Not idempotent: a retry creates a second job. 429 if the user has too many unfinished jobs.';

export interface BacktestDependencies extends FollowedAssets {
  readonly backtests: Pick<JobControl, 'submit' | 'wait' | 'cancel'> & {
    readonly jobs: Pick<JobRepository, 'find' | 'list' | 'count' | 'result'>;
  };
  readonly clock: Clock;
}
type Submission = ApiRequest<
  { wait_for_result: typeof wait },
  Record<never, never>,
  ReturnType<typeof backtestMembers>
>;

export function backtestRoutes(parts: BacktestDependencies): Route[] {
  return [...submitRoutes(parts), ...jobRoutes(parts)];
}

function submitRoutes(parts: BacktestDependencies): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/backtest',
      auth: 'key',
      access: { feature: 'backtest' },
      summary: 'Replay a strategy on recorded markets',
      description: ABOUT,
      query: { wait_for_result: wait },
      body: backtestMembers(parts.tickers),
      success: 201,
      refusals: [400, 403, 429],
      response: backtestJobShape,
      handle: (request) => {
        const problems = executionProblems(request.body);
        if (problems.length > 0) throw invalid(problems);
        return submit(parts, request, { kind: 'backtest', ...allowedSpec(parts, request, request.body) });
      },
    }),
    route({
      method: 'POST',
      path: '/v1/backtest/sweep',
      auth: 'key',
      access: { feature: 'sweep' },
      summary: 'Sweep: replay a strategy for every value of one or two parameters',
      description: `${ABOUT} In the result, each row of \`cells\` has one y value.`,
      query: { wait_for_result: wait },
      body: sweepMembers(parts.tickers),
      success: 201,
      refusals: [400, 403, 429],
      response: backtestJobShape,
      handle: (request) => {
        const { x_axis: xAxis, y_axis: yAxis } = request.body;
        const problems = [...axisProblems(request.body), ...executionProblems(request.body)];
        if (problems.length > 0) throw invalid(problems);
        const axes = { xAxis, yAxis };
        const spec = allowedSpec(parts, request, request.body);
        const [cells, cap] = [cellCount(axes), request.limits.sweep_cells];
        if (cells > cap) throw forbidden(`${cells} cells; your tier allows ${cap} in a sweep`);
        return submit(parts, request, { kind: 'sweep', ...spec, ...axes });
      },
    }),
  ];
}

function jobRoutes({ backtests }: BacktestDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/backtest',
      auth: 'key',
      access: { feature: 'backtest' },
      summary: 'List the user’s backtests and sweeps, newest first, without their results',
      query: {
        limit: parameter.limit(20, 100),
        offset: parameter.offset,
        cursor: parameter.cursor,
      },
      response: backtestJobListShape,
      handle: async (request) => {
        const { limit, offset } = request.query;
        const { jobs, next_cursor } = await jobPage(backtests, request);
        const list = {
          jobs: jobs.map((job) => ({ ...jobBody(job), result: null })),
          count: limit === 0 ? await backtests.jobs.count(ownerOf(request).userId) : jobs.length,
          ...{ limit, offset, next_cursor },
        };
        return { body: JSON.stringify(list) };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/backtest/{job_id}',
      auth: 'key',
      access: { feature: 'backtest' },
      summary: 'Get one backtest or sweep with its result',
      pathFields: { job_id: jobId },
      response: backtestJobShape,
      handle: async (request) => {
        const job = await backtests.jobs.find(request.path.job_id, ownerOf(request));
        if (job === null) throw notFound('Job not found');
        return { body: await withResult(backtests, job) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v1/backtest/{job_id}',
      auth: 'key',
      access: { feature: 'backtest' },
      summary: 'Cancel a backtest or sweep; a finished one does not change',
      pathFields: { job_id: jobId },
      success: 204,
      response: null,
      handle: async (request) => {
        const found = await backtests.cancel(request.path.job_id, ownerOf(request));
        if (!found) throw notFound('Job not found');
        return { status: 204, body: '' };
      },
    }),
  ];
}

type JobPageRequest = Pick<RawRequest, 'identity'> & {
  readonly query: { readonly limit: number; readonly offset: number; readonly cursor: string | null };
};

/** One page of the user's jobs, newest first, and the place of the next one. */
export async function jobPage(
  backtests: BacktestDependencies['backtests'],
  request: JobPageRequest,
): Promise<{ jobs: Job[]; next_cursor: string | null }> {
  const { limit, offset, cursor } = request.query;
  const { userId } = ownerOf(request);
  const scope: CursorScope = ['backtests', userId];
  const place = decodeCursor(scope, cursor, JOB_ID);
  const after = place && { submittedMs: place.timeMs, jobId: place.tie };
  const found = limit === 0 ? [] : await backtests.jobs.list(userId, { limit: limit + 1, offset, after });
  const jobs = found.slice(0, limit);
  const last = found.length > limit ? jobs.at(-1) : undefined;
  const next = last && encodeCursor(scope, { timeMs: last.submittedMs, tie: last.jobId });
  return { jobs, next_cursor: next ?? null };
}

/** @throws {RequestRefusedError} 400 for a range that ends before it starts, 403 beyond a cap or the history window. */
function allowedSpec(
  { clock }: BacktestDependencies,
  { limits, history }: Submission,
  asked: AskedBacktest,
): BacktestSpec {
  checkRange(asked.start, asked.end);
  const cap = limits.backtest_markets;
  const marketLimit = asked.market_limit ?? Math.min(MARKET_LIMIT_DEFAULT, cap);
  if (marketLimit > cap) throw forbidden(`${marketLimit} markets; your tier allows ${cap} in a backtest`);
  const startMs = history.range({ startMs: asked.start, endMs: asked.end });
  return specOf(asked, { startMs, nowMs: clock.now(), marketLimit });
}

async function submit(
  { backtests }: BacktestDependencies,
  request: Submission,
  spec: JobSpec,
): Promise<Answer> {
  const owner = ownerOf(request);
  const cap = request.limits.backtest_jobs;
  const made = await backtests.submit({ ...owner, spec, isComparison: false, cap });
  if (made === null) {
    const jobs = cap === 1 ? 'one job' : `${cap} jobs`;
    throw tooManyRequests(
      `Your tier allows ${jobs} at once; wait for one to end or cancel it`,
      RETRY_AFTER_SECONDS,
    );
  }
  const waiting = { limitMs: WAIT_MS_MAX, signal: request.signal };
  const job = request.query.wait_for_result ? await backtests.wait(made.jobId, owner, waiting) : made;
  const { url } = request.conditions;
  const location = `${url.startsWith('/app/') ? '/app' : '/v1'}/backtest/${made.jobId}`;
  return { status: 201, headers: { location }, body: await withResult(backtests, job ?? made) };
}

function ownerOf({ identity }: Pick<RawRequest, 'identity'>): { userId: string } {
  if (identity === null) throw new TypeError('a route without a key has no user');
  return { userId: identity.userId };
}

/** The result is JSON already; parsing megabytes only to print them again would block every other request. */
async function withResult(backtests: BacktestDependencies['backtests'], job: Job): Promise<string> {
  const result = job.status === 'complete' ? await backtests.jobs.result(job.jobId) : null;
  return `${JSON.stringify(jobBody(job)).slice(0, -1)},"result":${result ?? 'null'}}`;
}

export function jobBody({ spec, ...job }: Job) {
  return {
    job_id: job.jobId,
    kind: job.kind,
    status: job.status,
    progress: job.progress,
    submitted_at: formatTime(job.submittedMs),
    // A queued job may have started before, but that run was lost.
    started_at: job.status === 'queued' ? null : formatTimeOrNull(job.startedMs),
    completed_at: formatTimeOrNull(job.completedMs),
    strategy: spec.strategy,
    universe: spec.universe,
    size_usd: spec.sizeUsd,
    params: spec.params,
    request: requestOf(spec),
    error: job.error,
  };
}
