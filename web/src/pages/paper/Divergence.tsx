import { Alert, Button, Group, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { PaperDivergence } from '../../api/schema.ts';
import { cents, moment, number, percent, usd } from '../../ui/format.ts';
import { Failure, Loading } from '../../ui/states.tsx';
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
  if (report.data === undefined) {
    return <Failure error={report.error} retry={() => void report.refetch()} />;
  }
  const { live, baseline, window } = report.data;
  const isUnderWay = window?.status === 'queued' || window?.status === 'running';
  return (
    <>
      <Runs
        runs={[
          ['Live, on paper', live],
          ['Baseline, earlier windows', baseline],
          ...(window === null ? [] : [['The same windows, replayed', window] as const]),
        ]}
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
          {moment(report.data.from)} to {moment(report.data.to)}: windows that have ended are compared.
        </Text>
      </Group>
      {window?.status === 'complete' && <Differences report={report.data} strategyId={strategyId} />}
      {window?.status === 'failed' && (
        <Alert color="orange" title="The replay did not finish">
          Its <BacktestLink run={window}>backtest</BacktestLink> has the reason. Before the first window has
          ended there is nothing to replay.
        </Alert>
      )}
    </>
  );
}

function Runs({ runs }: { runs: readonly (readonly [name: string, run: Run])[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Run</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th ta="right">Closed</Table.Th>
            <Table.Th ta="right">Won</Table.Th>
            <Table.Th ta="right">P&L</Table.Th>
            <Table.Th ta="right">Fees</Table.Th>
            <Table.Th ta="right">P&L per trade</Table.Th>
            <Table.Th ta="right">Slippage</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map(([name, run]) => (
            <Table.Tr key={name}>
              <Table.Td>
                <BacktestLink run={run}>{name}</BacktestLink>
              </Table.Td>
              <Table.Td>{run.status}</Table.Td>
              <Table.Td ta="right">{number(run.trades)}</Table.Td>
              <Table.Td ta="right">{percent(run.win_rate)}</Table.Td>
              <Table.Td ta="right">{usd(run.net_pnl)}</Table.Td>
              <Table.Td ta="right">{usd(run.fees)}</Table.Td>
              <Table.Td ta="right">{usd(run.avg_pnl_per_trade, 3)}</Table.Td>
              <Table.Td ta="right">{cents(run.avg_slippage)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function BacktestLink({ run, children }: { run: Run; children: ReactNode }): ReactNode {
  if (run.backtest_id === null || run.status === 'gone') return children;
  return (
    <Link to="/backtests/$jobId" params={{ jobId: run.backtest_id }}>
      {children}
    </Link>
  );
}
