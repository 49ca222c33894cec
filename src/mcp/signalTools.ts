import { fromJsonSchema } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { InputOf } from '../client/requests.ts';
import { backtestMembers } from '../schema/api/backtests.ts';
import { bodySchema } from '../schema/api/body.ts';
import { EVENT_TYPES, TICKERS } from '../schema/market.ts';
import * as argument from './arguments.ts';
import { shortJob } from './shortJob.ts';
import { following, readingTool, type Tool } from './tool.ts';

const OPPORTUNITIES_MAX = 40;
const AUDIT_ROWS_MAX = 50;
const TRADES_MAX = 100;
const TRADES_DEFAULT = 20;
const JOBS_MAX = 20;

const getCalibration = readingTool({
  name: 'get_calibration',
  title: 'Calibration of market prices',
  description:
    'How often markets resolved Up, by the probability that their price implied a given time before the end, with 95 % intervals and scores (Brier, log loss in nats). A well calibrated bucket has frac_resolved_up near mean_prob.',
  input: {
    ticker: argument.ticker.optional(),
    event_type: argument.eventType.optional(),
    minutes_before: z.number().min(0).max(1440).default(1).describe('Minutes before the end of the window'),
    since: argument.time('Only markets that end at or after this').optional(),
    until: argument.time('Only markets that end before this').optional(),
    buckets: z.int().min(2).max(50).default(10).describe('Equal ranges of probability, 2 to 50'),
    max_markets: z.int().min(10).max(10_000).default(2000).describe('Newest markets to count, 10 to 10,000'),
  },
  run: async (query, { client, signal }) => {
    const body = await client.call('GET /v1/stats/calibration', { query, signal });
    return { body, leftOut: null };
  },
});

const getOpenOpportunities = readingTool({
  name: 'get_open_opportunities',
  title: 'Opportunities that are open now',
  description:
    'Trades that the detectors find worthwhile after fees at this moment. tier: logical (YES and NO together cost less than 1), endgame, stable, stale. Prices, fees and expected profit are USDC per share. They are estimates, not advice; get_audit_summary shows how earlier ones turned out.',
  input: {
    min_edge: z
      .number()
      .min(0)
      .max(0.5)
      .default(0.04)
      .describe('Least mispricing, in probability (0.04: 4 points)'),
    tickers: argument.tickers.optional(),
    event_types: z
      .array(z.enum(EVENT_TYPES))
      .max(EVENT_TYPES.length)
      .optional()
      .describe('Only these windows'),
    limit: argument.limit(OPPORTUNITIES_MAX, 20),
  },
  run: async ({ min_edge, tickers, event_types, limit }, { client, signal }) => {
    const query = {
      min_edge_pp: min_edge,
      tickers: tickers?.join(','),
      event_types: event_types?.join(','),
      limit,
    };
    const body = await client.call('GET /v1/arb/live', { query, signal });
    const isFull = body.opportunities.length >= limit;
    return {
      body,
      leftOut: isFull
        ? `There may be more than ${limit}: raise limit (up to ${OPPORTUNITIES_MAX}) or min_edge`
        : null,
    };
  },
});

const getAuditSummary = readingTool({
  name: 'get_audit_summary',
  title: 'How signals turned out',
  description:
    'Sums over every published signal of a period: how many, how many resolved, expected and realised profit in USDC per share, in total and by kind, asset and window. Signals are logged before publication, so this is not chosen afterwards.',
  input: { window: argument.window },
  run: async (query, { client, signal }) => ({
    body: await client.call('GET /v1/arb/audit/aggregate', { query, signal }),
    leftOut: null,
  }),
});

const listAuditRows = readingTool({
  name: 'list_audit_rows',
  title: 'Published signals',
  description:
    'Lists published signals, newest first: market, direction, fill price and fee (USDC per share), the model’s probability, the fill that was executable some milliseconds later, and the realised profit per share (null until the market resolves).',
  input: {
    window: argument.window,
    ticker: argument.ticker.optional(),
    event_type: argument.eventType.optional(),
    tier: z.enum(['logical', 'endgame', 'stable', 'stale']).optional().describe('Kind of signal'),
    limit: argument.limit(AUDIT_ROWS_MAX, 20),
    cursor: argument.cursor,
  },
  run: async (query, { client, signal }) => {
    const body = await client.call('GET /v1/arb/audit', { query, signal });
    return { body, leftOut: following(body.next_cursor) };
  },
});

const listBacktests = readingTool({
  name: 'list_backtests',
  title: 'Backtests of this user',
  description:
    'Lists the user’s backtests and sweeps, newest first, with strategy, status and times but without results. get_backtest has the result of one.',
  input: { limit: argument.limit(JOBS_MAX, 10), cursor: argument.cursor },
  run: async (query, { client, signal }) => {
    const page = await client.call('GET /v1/backtest', { query, signal });
    // Each job repeats its strategy in `request`.
    const jobs = page.jobs.map(({ request: _, ...job }) => job);
    return { body: { ...page, jobs }, leftOut: following(page.next_cursor) };
  },
});

const getBacktest = readingTool({
  name: 'get_backtest',
  title: 'Result of a backtest',
  description:
    'Gets one backtest or sweep with its result: profit after fees (USD), win rate, intervals, fill rate, drawdown, coverage of the recording and single trades. Status queued or running: call again later. A sweep has cells instead of trades, of a large one only some, and n_trials says how many combinations were tried.',
  input: {
    job_id: z
      .string()
      .regex(/^[\w-]{1,64}$/)
      .describe('As list_backtests and run_backtest give it'),
    trades: z
      .int()
      .min(0)
      .max(TRADES_MAX)
      .default(TRADES_DEFAULT)
      .describe(`Most trades of the answer, 0 to ${TRADES_MAX}`),
  },
  run: async ({ job_id, trades }, { client, signal }) => {
    const job = await client.call('GET /v1/backtest/{job_id}', { path: { job_id }, signal });
    return shortJob(job, trades);
  },
});

type BacktestBody = NonNullable<InputOf<'POST /v1/backtest'>['body']>;

const runBacktest: Tool<BacktestBody> = {
  name: 'run_backtest',
  title: 'Run a backtest',
  description:
    'Replays a strategy on recorded order books with fees, latency and the venue’s hold, and waits a while for the result (profit in USD). If it is not finished then, it goes on: read it with get_backtest. Each run counts as a trial of this user: the more are tried, the better the best one looks by chance.',
  // The body of the API's own call: a new strategy of the service is one of this tool.
  input: fromJsonSchema<BacktestBody>(
    bodySchema(backtestMembers(TICKERS)) as Parameters<typeof fromJsonSchema>[0],
  ),
  writes: true,
  run: async (body, { client, signal }) => {
    const query = { wait_for_result: true };
    const job = await client.call('POST /v1/backtest', { query, body, signal });
    const answer = shortJob(job, TRADES_DEFAULT);
    if (job.status !== 'queued' && job.status !== 'running') return answer;
    return { ...answer, leftOut: `It is not finished yet: call get_backtest with job_id ${job.job_id}` };
  },
};

export const signalTools = [
  getCalibration,
  getOpenOpportunities,
  getAuditSummary,
  listAuditRows,
  listBacktests,
  getBacktest,
];

/** Tools that create something; offered only with `--allow-write`. */
export const writingTools: readonly Tool[] = [runBacktest];
