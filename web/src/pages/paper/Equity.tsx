import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { PaperStrategy } from '../../api/schema.ts';
import type { Line } from '../../charts/chartOptions.ts';
import { TimeChart } from '../../charts/TimeChart.tsx';
import { usd } from '../../ui/format.ts';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { curvesOf } from './curves.ts';

const REFETCH_MS = 5_000;

/**
 * P&L after each closed position, live and of the baseline. Both begin at 0, although they traded
 * different days.
 */
export function Equity({ strategy }: { strategy: PaperStrategy }): ReactNode {
  const path = { strategy_id: strategy.paper_strategy_id };
  const jobId = strategy.baseline_backtest_id;
  const equity = useApi('GET /v1/paper/strategies/{strategy_id}/equity', { path }, { refetchMs: REFETCH_MS });
  const baseline = useApi(
    'GET /v1/backtest/{job_id}',
    { path: { job_id: jobId } },
    { refetchMs: REFETCH_MS, isFinal: ({ status }) => status !== 'queued' && status !== 'running' },
  );
  const result = baseline.data?.result;
  const replayed = result && 'equity_curve' in result ? result.equity_curve : undefined;
  const shown = useMemo(() => linesOf(equity.data?.points ?? [], replayed ?? []), [equity.data, replayed]);
  if (equity.isPending) return <Loading rows={6} />;
  const known = lastAnswer(equity);
  if (known === undefined) return <RequestFailure of={equity} />;
  return (
    <>
      <RequestFailure of={equity} />
      {shown.times.length < 2 ? (
        <Empty title="No position closed yet">
          A position is closed when it is sold or its market is resolved. This page updates automatically.
        </Empty>
      ) : (
        <TimeChart
          label="P&L by number of closed positions, live on paper and in the baseline backtest"
          times={shown.times}
          counts="closed positions"
          lines={shown.lines}
          height={240}
        />
      )}
      {shown.times.length > 1 && known.points.length === 0 && (
        <Text size="sm">
          No position is closed on paper yet: its line begins with the first. The chart shows the baseline
          alone.
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {baseline.isError ? (
          `The baseline cannot be shown: ${baseline.error.message}.`
        ) : (
          <>
            The baseline is{' '}
            <Link to="/backtests/$jobId" params={{ jobId }}>
              a backtest of earlier windows
            </Link>
            {baseline.data?.status === 'complete' ? '' : `, ${baseline.data?.status ?? 'loading'}`}.
          </>
        )}
      </Text>
    </>
  );
}

function linesOf(...given: Parameters<typeof curvesOf>): { times: number[]; lines: Line[] } {
  const { counts, live, baseline } = curvesOf(...given);
  const shared = { scale: 'usd', kind: 'step', print: usd } as const;
  const lineOf = (label: string, colour: string, values: (number | null)[] | null): Line[] =>
    values === null ? [] : [{ ...shared, label, colour, values }];
  return {
    times: counts,
    lines: [...lineOf('on paper', '--up', live), ...lineOf('baseline', '--mantine-color-dimmed', baseline)],
  };
}
