import { JobSummaries } from '../../backtest/jobSummary.ts';
import { type Route, route } from '../../http/route.ts';
import { jobSummariesShape } from '../../schema/api/backtests.ts';
import * as parameter from '../../schema/api/parameters.ts';
import { type BacktestDependencies, jobBody, jobPage } from '../backtests.ts';

/** The list of the page Backtests: jobs with their key figures, so that rows differ at a glance. */
export function jobSummaryRoute({ backtests }: BacktestDependencies): Route {
  const summaries = new JobSummaries((jobId) => backtests.jobs.result(jobId));
  return route({
    method: 'GET',
    path: '/app/backtests',
    auth: 'session',
    access: { feature: 'backtest' },
    summary: 'The user’s backtests and sweeps with their key figures, newest first',
    query: { limit: parameter.limit(20, 50), offset: parameter.offset, cursor: parameter.cursor },
    response: jobSummariesShape,
    handle: async (request) => {
      const { jobs, next_cursor } = await jobPage(backtests, request);
      const rows = [];
      // In turn: each result may be megabytes of text.
      for (const job of jobs) {
        rows.push({ ...jobBody(job), is_comparison: job.isComparison, summary: await summaries.of(job) });
      }
      return { body: JSON.stringify({ jobs: rows, next_cursor }) };
    },
  });
}
