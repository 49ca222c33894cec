import { Badge, Button, Checkbox, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { call } from '../../api/client.ts';
import { listPollingMs } from '../../api/hooks.ts';
import type { JobSummaries } from '../../api/schema.ts';
import { seriesText } from '../../strategy/series.ts';
import { STRATEGY_NAMES } from '../../strategy/strategies.ts';
import { requestText } from '../../strategy/strategyText.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { duration, moment, number, usd } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { ShowOlder } from '../../ui/ShowOlder.tsx';
import { Signed } from '../../ui/Signed.tsx';
import { Empty } from '../../ui/states.tsx';
import { sweepable } from './draft.ts';
import { JobState } from './JobState.tsx';

type JobRow = JobSummaries['jobs'][number];

const PAGE_SIZE = 25;
/** While a job runs, and while none does: a paper strategy may start one at any time. */
const [ACTIVE_MS, IDLE_MS] = [2_000, 15_000] as const;
const isActive = ({ status }: JobRow) => status === 'queued' || status === 'running';

/** All jobs with their key figures, newest first; two backtests can be chosen to be compared. */
export function Jobs(): ReactNode {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const list = useInfiniteQuery<JobSummaries, Error, { pages: JobSummaries[] }, unknown[], string | null>({
    queryKey: ['GET /app/backtests'],
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /app/backtests',
        { query: { limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: ({ state }) =>
      listPollingMs(state, state.data?.pages.some(({ jobs }) => jobs.some(isActive)) ? ACTIVE_MS : IDLE_MS),
  });
  const jobs = list.data?.pages.flatMap((page) => page.jobs) ?? [];
  // Only the last two: choosing a third one drops the first.
  const choose = (jobId: string) =>
    setChosen(chosen.includes(jobId) ? chosen.filter((id) => id !== jobId) : [...chosen, jobId].slice(-2));
  if (list.isPending) {
    return (
      <div className="card">
        <TableFrame columns={8} />
      </div>
    );
  }
  if (lastAnswer(list) === undefined) return <RequestFailure of={list} />;
  if (jobs.length === 0) {
    return (
      <div className="card">
        <Empty title="No backtests yet">Run the backtest above: it needs only seconds.</Empty>
      </div>
    );
  }
  return (
    <>
      <RequestFailure of={list} />
      <Chosen chosen={chosen} />
      <div className="card">
        <DataTable
          label="Backtests"
          columns={columnsFor(chosen, choose)}
          rows={jobs}
          keyOf={({ job_id }) => job_id}
        />
      </div>
      <ShowOlder list={list} />
    </>
  );
}

function Chosen({ chosen: [first, second] }: { chosen: readonly string[] }): ReactNode {
  return (
    <Group gap="sm" role="group" aria-label="Comparison">
      {first !== undefined && second !== undefined ? (
        <Button
          size="xs"
          renderRoot={(props) => (
            <Link
              to="/backtests/$jobId"
              params={{ jobId: first }}
              search={{ with: second }}
              hash="comparison"
              {...props}
            />
          )}
        >
          Compare the two chosen runs
        </Button>
      ) : (
        <Text size="sm" c="dimmed">
          {first === undefined
            ? 'Choose two backtests to compare them market by market.'
            : 'Choose one more backtest to compare the two.'}
        </Text>
      )}
    </Group>
  );
}

function columnsFor(chosen: readonly string[], choose: (jobId: string) => void): readonly Column<JobRow>[] {
  return [
    { title: 'Run', isText: true, cell: (job) => <Name job={job} /> },
    { title: 'Markets', cell: ({ universe }) => seriesText(universe) },
    {
      title: 'P&L',
      isNumber: true,
      cell: ({ summary }) => <Signed value={summary?.total_pnl} format={(value) => usd(value)} />,
    },
    {
      title: 'Sharpe per market',
      isNumber: true,
      cell: ({ summary }) => number(summary?.sharpe_per_market, 2),
    },
    {
      title: 'Max drawdown',
      isNumber: true,
      cell: ({ summary }) => usd(summary?.max_drawdown),
    },
    { title: 'Trades', isNumber: true, cell: ({ summary }) => number(summary?.trades_total) },
    {
      title: 'Took',
      isNumber: true,
      cell: (job) => (job.status === 'complete' ? tookText(job) : <JobState job={job} />),
    },
    { title: 'Submitted, UTC', cell: ({ submitted_at }) => moment(submitted_at) },
    {
      title: 'Compare',
      cell: (job) => {
        const { job_id, kind, status } = job;
        return kind === 'backtest' && status === 'complete' ? (
          <Checkbox
            aria-label={`Compare the run ${job_id}`}
            checked={chosen.includes(job_id)}
            onChange={() => choose(job_id)}
          />
        ) : (
          <Text span size="xs" c="dimmed">
            {kind === 'sweep' ? 'backtests only' : isActive(job) ? 'when complete' : 'no result'}
          </Text>
        );
      },
    },
  ];
}

function Name({ job }: { job: JobRow }): ReactNode {
  const names = sweepable(job.strategy);
  return (
    <>
      <Group gap={6}>
        <Link to="/backtests/$jobId" params={{ jobId: job.job_id }}>
          {job.kind === 'sweep' ? 'Sweep: ' : ''}
          {STRATEGY_NAMES[job.strategy.type]}
        </Link>
        {job.kind === 'sweep' && job.summary !== null && (
          <Badge variant="outline" color="var(--mantine-color-dimmed)">
            best of {number(job.summary.cells)}
          </Badge>
        )}
        {job.is_comparison && <Badge color="violet.9">baseline</Badge>}
      </Group>
      <Text size="xs" c="dimmed" lineClamp={2}>
        {requestText(job.request, (param) => names[param] ?? param)}
      </Text>
      {job.error !== null && (
        <Text size="xs" c="var(--mantine-color-error)">
          {job.error}
        </Text>
      )}
    </>
  );
}

function tookText({ started_at, completed_at }: JobRow): string {
  if (started_at === null || completed_at === null) return '–';
  return duration(Math.max(0, Date.parse(completed_at) - Date.parse(started_at)) / 1000);
}
