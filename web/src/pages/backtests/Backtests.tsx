import { Badge, Progress, Table } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { BacktestJobList } from '../../api/schema.ts';
import { seriesText } from '../../strategy/series.ts';
import { STRATEGY_NAMES } from '../../strategy/strategies.ts';
import { moment } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Builder } from './Builder.tsx';
import { draftOf, FIRST_DRAFT } from './draft.ts';

const route = getRouteApi('/shell/backtests');
const REFETCH_MS = 3_000;

/** A form for a new backtest, and the list of earlier ones. */
export function Backtests(): ReactNode {
  const list = useApi('GET /v1/backtest', { query: { limit: 50 } }, { refetchMs: REFETCH_MS });
  return (
    <Page
      title="Backtests"
      about="Replay a strategy on recorded order books with your latency and the venue’s fees and taker delay. Nothing fills inside a gap."
    >
      <Begun />
      <div className="card">
        {list.isPending && <Loading />}
        {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
        {list.isSuccess && list.data.jobs.length === 0 && (
          <Empty title="No backtests yet">Run the backtest above: it needs only seconds.</Empty>
        )}
        {list.isSuccess && list.data.jobs.length > 0 && <Jobs jobs={list.data.jobs} />}
      </div>
    </Page>
  );
}

/** The builder, initialised with the request of the job in the address. */
function Begun(): ReactNode {
  const { from } = route.useSearch();
  const job = useApi(
    'GET /v1/backtest/{job_id}',
    { path: { job_id: from ?? '' } },
    { enabled: from !== undefined },
  );
  if (from === undefined) return <Builder key="new" first={FIRST_DRAFT} />;
  if (job.isPending) return <Loading />;
  if (job.isError) return <Failure error={job.error} retry={() => void job.refetch()} />;
  return <Builder key={from} first={draftOf(job.data)} />;
}

function Jobs({ jobs }: Pick<BacktestJobList, 'jobs'>): ReactNode {
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Strategy</Table.Th>
            <Table.Th>Markets</Table.Th>
            <Table.Th>Submitted</Table.Th>
            <Table.Th>State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.map((job) => (
            <Table.Tr key={job.job_id}>
              <Table.Td>
                <Link to="/backtests/$jobId" params={{ jobId: job.job_id }}>
                  {job.kind === 'sweep' ? 'Sweep: ' : ''}
                  {STRATEGY_NAMES[job.strategy.type]}
                </Link>
              </Table.Td>
              <Table.Td className="nowrap">{seriesText(job.universe)}</Table.Td>
              <Table.Td className="nowrap">{moment(job.submitted_at)}</Table.Td>
              <Table.Td>
                <JobState status={job.status} progress={job.progress} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const COLOURS = {
  ...{ queued: 'gray.7', running: 'blue.9', complete: 'teal.9', failed: 'red.9', cancelled: 'gray.7' },
} as const;

export function JobState({
  status,
  progress,
}: {
  status: keyof typeof COLOURS;
  progress: number;
}): ReactNode {
  if (status === 'running') {
    return (
      <Progress
        value={progress * 100}
        aria-label={`running, ${Math.round(progress * 100)} % done`}
        miw={120}
      />
    );
  }
  return <Badge color={COLOURS[status]}>{status}</Badge>;
}
