import { Alert, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { PaperDivergence } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { cents, moment, number, percent, usd } from '../../ui/format.ts';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Signed } from '../../ui/Signed.tsx';
import { Loading } from '../../ui/states.tsx';
import { Differences } from './Differences.tsx';

type Run = PaperDivergence['live'];
const REFETCH_MS = 4_000;
const DIVERGENCE = 'GET /v1/paper/strategies/{strategy_id}/divergence';

/** Live, the baseline, and a backtest of the windows that were traded live, with the differences between live and that backtest. */
export function Divergence({ strategyId }: { strategyId: string }): ReactNode {
  const path = { strategy_id: strategyId };
  const report = useApi(DIVERGENCE, { path }, { refetchMs: REFETCH_MS });
  const replay = useAction('POST /v1/paper/strategies/{strategy_id}/divergence', [DIVERGENCE]);
  if (report.isPending) return <Loading rows={3} />;
  const known = lastAnswer(report);
  if (known === undefined) return <RequestFailure of={report} />;
  const { live, baseline, window } = known;
  const isUnderWay = window?.status === 'queued' || window?.status === 'running';
  return (
    <>
      <RequestFailure of={report} />
      <DataTable
        label="Runs"
        columns={COLUMNS}
        rows={[
          { name: 'Live, on paper', ...live },
          { name: 'Baseline, earlier windows', ...baseline },
          ...(window === null ? [] : [{ name: 'The same windows, replayed', ...window }]),
        ]}
        keyOf={({ name }) => name}
      />
      {replay.error !== null && <Alert color="red" role="alert" title={replay.error.message} />}
      <Group gap="sm">
        <Button
          variant="default"
          loading={replay.isPending || isUnderWay}
          onClick={() => replay.mutate({ path })}
        >
          {window === null ? 'Replay the same windows' : 'Replay them again'}
        </Button>
        <Text size="sm" c="dimmed">
          {moment(known.from)} to {moment(known.to)} UTC: windows that have ended are compared.
        </Text>
      </Group>
      {window?.status === 'complete' && <Differences report={known} strategyId={strategyId} />}
      {window?.status === 'failed' && (
        <Alert color="orange" title="The replay did not finish">
          Its <BacktestLink run={window}>backtest</BacktestLink> has the reason. Before the first window that
          began after the start of trading has ended, there is nothing to replay.
        </Alert>
      )}
    </>
  );
}

type NamedRun = Run & { readonly name: string };

const COLUMNS: readonly Column<NamedRun>[] = [
  { title: 'Run', cell: (run) => <BacktestLink run={run}>{run.name}</BacktestLink> },
  { title: 'State', cell: ({ status }) => status },
  { title: 'Closed', isNumber: true, cell: ({ trades }) => number(trades) },
  { title: 'Won', isNumber: true, cell: ({ win_rate }) => percent(win_rate) },
  {
    title: 'P&L',
    isNumber: true,
    cell: ({ net_pnl }) => <Signed value={net_pnl} format={(value) => usd(value)} />,
  },
  { title: 'Fees', isNumber: true, cell: ({ fees }) => usd(fees) },
  {
    title: 'P&L per trade',
    isNumber: true,
    cell: ({ avg_pnl_per_trade }) => <Signed value={avg_pnl_per_trade} format={(value) => usd(value, 3)} />,
  },
  { title: 'Slippage per share', isNumber: true, cell: ({ avg_slippage }) => cents(avg_slippage, 2) },
];

function BacktestLink({ run, children }: { run: Run; children: ReactNode }): ReactNode {
  if (run.backtest_id === null || run.status === 'gone') return children;
  return (
    <Link to="/backtests/$jobId" params={{ jobId: run.backtest_id }}>
      {children}
    </Link>
  );
}
