import { fromJsonSchema } from '@modelcontextprotocol/server';
import type { InputOf } from '../client/requests.ts';
import { backtestMembers } from '../schema/api/backtests.ts';
import { bodySchema } from '../schema/api/body.ts';
import { TICKERS } from '../schema/market.ts';
import { shortJob } from './signalTools.ts';
import type { Tool } from './tool.ts';

const TRADES = 20;
type Body = NonNullable<InputOf<'POST /v1/backtest'>['body']>;

const runBacktest: Tool<Body> = {
  name: 'run_backtest',
  title: 'Run a backtest',
  description:
    'Replays a strategy on recorded order books with fees, latency and the venue’s hold, and waits a while for the result (profit in USD). If it is not finished then, it goes on: read it with get_backtest. Each run counts as a trial of this user: the more are tried, the better the best one looks by chance.',
  // The body of the API's own call: a new strategy of the service is one of this tool.
  input: fromJsonSchema<Body>(bodySchema(backtestMembers(TICKERS)) as Parameters<typeof fromJsonSchema>[0]),
  writes: true,
  run: async (body, { client, signal }) => {
    const query = { wait_for_result: true };
    const job = await client.call('POST /v1/backtest', { query, body, signal });
    const answer = shortJob(job, TRADES);
    if (job.status !== 'queued' && job.status !== 'running') return answer;
    return { ...answer, leftOut: `It is not finished yet: call get_backtest with job_id ${job.job_id}` };
  },
};

/** Tools that create something; offered only with `--allow-write`. */
export const writingTools: readonly Tool[] = [runBacktest];
