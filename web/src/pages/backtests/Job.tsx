import { Button, Code, Stack } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { BacktestJob, BacktestResult, SweepResult } from '../../api/schema.ts';
import { seriesText } from '../../strategy/series.ts';
import { STRATEGY_NAMES } from '../../strategy/strategies.ts';
import { requestText } from '../../strategy/strategyText.ts';
import { moment } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { sweepable } from './draft.ts';
import { JobProgress, JobState } from './JobState.tsx';
import { Result } from './Result.tsx';
import { Sweep } from './Sweep.tsx';

const route = getRouteApi('/shell/backtests/$jobId');
const REFETCH_MS = 1_000;

/** One job: its progress, then its result. */
export function Job(): ReactNode {
  const { jobId } = route.useParams();
  const job = useApi(
    'GET /v1/backtest/{job_id}',
    { path: { job_id: jobId } },
    { refetchMs: REFETCH_MS, isFinal: ({ status }) => status !== 'queued' && status !== 'running' },
  );
  if (job.isPending) return <Loading />;
  const known = lastAnswer(job);
  if (known === undefined) {
    return (
      <Page title="Backtest">
        <RequestFailure of={job} />
      </Page>
    );
  }
  return (
    <>
      <RequestFailure of={job} />
      <Shown job={known} />
    </>
  );
}

function Shown({ job }: { job: BacktestJob }): ReactNode {
  const cancel = useAction('DELETE /v1/backtest/{job_id}', ['GET /v1/backtest/{job_id}', 'GET /v1/backtest']);
  const names = sweepable(job.strategy);
  const isUnderWay = job.status === 'queued' || job.status === 'running';
  return (
    <Page
      title={`${job.kind === 'sweep' ? 'Sweep: ' : ''}${STRATEGY_NAMES[job.strategy.type]}`}
      about={`${seriesText(job.universe)}: ${requestText(job.request, (param) => names[param] ?? param)}. Submitted ${moment(job.submitted_at)} UTC`}
      actions={
        <>
          {!isUnderWay && <JobState job={job} />}
          {isUnderWay && (
            <Button variant="default" onClick={() => cancel.mutate({ path: { job_id: job.job_id } })}>
              Cancel
            </Button>
          )}
          <Again job={job} />
        </>
      }
    >
      {isUnderWay && (
        <Stack className="card" p="md" component="section" aria-label="Progress">
          <JobProgress job={job} />
        </Stack>
      )}
      {job.error !== null && (
        <div className="card">
          <Empty title="The job has no result">{job.error}</Empty>
        </div>
      )}
      {job.result !== null &&
        (isSweep(job.result) ? (
          <Sweep job={{ ...job, result: job.result }} />
        ) : (
          <Result job={{ ...job, result: job.result }} />
        ))}
      <details className="card" style={{ padding: 'var(--mantine-spacing-md)' }}>
        <summary>Request</summary>
        <Code block tabIndex={0} aria-label="The request" mt="xs">
          {JSON.stringify(job.request, null, 2)}
        </Code>
      </details>
    </Page>
  );
}

/** Actions for a job: change and run again, and paper-trade for a single strategy. */
function Again({ job }: { job: BacktestJob }): ReactNode {
  const search = { from: job.job_id };
  return (
    <>
      <Button variant="default" renderRoot={(props) => <Link to="/backtests" search={search} {...props} />}>
        Change and run again
      </Button>
      {job.kind === 'backtest' && job.status === 'complete' && (
        <Button renderRoot={(props) => <Link to="/paper" search={search} {...props} />}>
          Paper-trade this
        </Button>
      )}
    </>
  );
}

function isSweep(result: BacktestResult | SweepResult): result is SweepResult {
  return 'cells' in result;
}
