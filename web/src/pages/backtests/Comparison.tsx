import { Alert, NativeSelect, Stack, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { Comparison as Compared } from '../../../../src/report/comparison.ts';
import { useApi } from '../../api/hooks.ts';
import type { BacktestJob, BacktestResult } from '../../api/schema.ts';
import { seriesText } from '../../strategy/series.ts';
import { strategyText } from '../../strategy/strategyText.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { moment, number, percent, usd, withSign } from '../../ui/format.ts';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';
import type { ToCompare } from './compareWorker.ts';

const route = getRouteApi('/shell/backtests/$jobId');
const OFFERED = 50;

type Finished = BacktestJob & { readonly result: BacktestResult };

/** This run against another one, market by market: the test of `underround compare`. */
export function Comparison({ job }: { job: Finished }): ReactNode {
  const { with: other } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useApi('GET /v1/backtest', { query: { limit: OFFERED } });
  const offered = (list.data?.jobs ?? []).filter(
    ({ job_id, kind, status }) => kind === 'backtest' && status === 'complete' && job_id !== job.job_id,
  );
  const isListed = other === undefined || offered.some(({ job_id }) => job_id === other);
  return (
    <Stack className="card" p="md" id="comparison" component="section" aria-label="Comparison">
      <Text component="h2" fw={600}>
        Compare with another run
      </Text>
      <NativeSelect
        label="Other run"
        maw={620}
        data={[
          { value: '', label: offered.length === 0 ? 'no other finished backtest' : 'none' },
          ...(isListed ? [] : [{ value: other, label: other }]),
          ...offered.map((one) => ({
            value: one.job_id,
            label: `${moment(one.submitted_at)} UTC: ${seriesText(one.universe)}, ${strategyText(one.strategy)}`,
          })),
        ]}
        value={other ?? ''}
        onChange={(event) => {
          const { value } = event.currentTarget;
          void navigate({
            search: (before) => ({ ...before, with: value === '' ? undefined : value }),
            ...{ replace: true, resetScroll: false },
          });
        }}
      />
      {other !== undefined && <OtherRun job={job} otherId={other} />}
    </Stack>
  );
}

function OtherRun({ job, otherId }: { job: Finished; otherId: string }): ReactNode {
  const other = useApi('GET /v1/backtest/{job_id}', { path: { job_id: otherId } });
  if (other.isPending) return <Loading rows={3} />;
  if (other.data === undefined) return <RequestFailure of={other} />;
  const { result } = other.data;
  if (result === null || !('trades' in result)) {
    return (
      <Alert color="orange" title="The other run has no trades to compare: it is a sweep or has not ended." />
    );
  }
  return <Difference job={job} other={{ ...other.data, result }} />;
}

/** Null until the worker has compared the two. */
function useCompared(own: BacktestResult, other: BacktestResult): Compared | null {
  const [found, setFound] = useState<Compared | null>(null);
  useEffect(() => {
    setFound(null);
    const worker = new Worker(new URL('./compareWorker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Compared>) => setFound(data);
    worker.postMessage({ own, other } satisfies ToCompare);
    return () => worker.terminate();
  }, [own, other]);
  return found;
}

function Difference({ job, other }: { job: Finished; other: Finished }): ReactNode {
  const found = useCompared(job.result, other.result);
  if (found === null) return <Loading rows={3} />;
  const { difference, test, a, b, pairs } = found;
  const signed = (value: number | null) => withSign(value, (one) => usd(one, 4));
  const interval = difference.total_interval;
  const figures: Figure[] = [
    ['P&L, this run', usd(a.total_pnl), `${number(a.markets_traded)} markets traded`],
    ['P&L, other run', usd(b.total_pnl), `${number(b.markets_traded)} markets traded`],
    [
      'Difference',
      withSign(difference.total, (value) => usd(value)),
      interval ? `95\u00a0%: ${usd(interval[0])} to ${usd(interval[1])}` : 'too few markets for an interval',
    ],
    ['Per market', signed(difference.per_market), `${percent(difference.better_share, 0)} of markets better`],
    ['Compared markets', number(pairs), leftOutText(found)],
    [
      'p-value',
      test === null ? '–' : number(test.p, 3),
      test === null ? 'no test' : `t ${number(test.t, 2)}`,
    ],
  ];
  return (
    <>
      <div>
        {found.conclusion.map((line) => (
          <Text key={line}>{line}</Text>
        ))}
      </div>
      <Figures figures={figures} />
      <Text size="sm" c="dimmed">
        {test === null ? 'The test needs markets in which the runs differ. ' : `Test: ${test.name}. `}
        The same comparison as <code>underround compare</code>. A market that only one run traded counts as 0
        for the other.{' '}
        <Link to="/backtests/$jobId" params={{ jobId: other.job_id }} search={{ with: job.job_id }}>
          Open the other run
        </Link>
      </Text>
    </>
  );
}

function leftOutText({ traded_by_both, left_out }: Compared): string {
  const both = `${number(traded_by_both)} traded by both`;
  return left_out === 0 ? both : `${both}, ${number(left_out)} left out`;
}
