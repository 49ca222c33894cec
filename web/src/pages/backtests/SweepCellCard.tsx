import { Button, Group, Stack, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAction } from '../../api/hooks.ts';
import type { SweepCell } from '../../api/schema.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { FormProblem } from '../../ui/FormProblem.tsx';
import { number, percent, usd, withSign } from '../../ui/format.ts';
import { cellDraft, type SweepJob } from './cell.ts';
import { draftOf } from './draft.ts';

/** All figures of one cell, and its backtest with curves and trades. */
export function SweepCellCard({
  job,
  cell,
  isBest,
  values,
  nameOf,
}: {
  job: SweepJob;
  cell: SweepCell;
  isBest: boolean;
  values: readonly (readonly [param: string, value: number])[];
  nameOf: (param: string) => string;
}): ReactNode {
  const navigate = useNavigate();
  const run = useAction('POST /v1/backtest', ['GET /v1/backtest', 'GET /app/backtests']);
  const start = () =>
    run.mutate(
      { body: cellDraft(draftOf(job), values) },
      {
        onSuccess: ({ job_id }) =>
          void navigate({ to: '/backtests/$jobId', params: { jobId: job_id }, search: {} }),
      },
    );
  const place = values.map(([param, value]) => `${nameOf(param)} ${number(value)}`).join(', ');
  const figures: Figure[] = [
    ['P&L after fees', withSign(cell.total_pnl, (value) => usd(value))],
    ['Sharpe per market', number(cell.sharpe_per_market, 2)],
    ['Trades', number(cell.trades_total)],
    ['Won', percent(cell.win_rate)],
    ['Max drawdown', usd(cell.max_drawdown)],
    ['Profit factor', number(cell.profit_factor, 2)],
    ...(cell.stressed_pnl === undefined
      ? []
      : [['P&L under stress', usd(cell.stressed_pnl)] satisfies Figure]),
  ];
  return (
    <Stack className="card" p="md" gap="sm" component="section" aria-label="Opened cell">
      <Group justify="space-between">
        <Text component="h2" fw={600}>
          {isBest ? 'Best Sharpe, cell: ' : 'Cell: '}
          {place}
        </Text>
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            renderRoot={(props) => <Link to="/backtests" search={{ from: job.job_id }} {...props} />}
          >
            Change the sweep
          </Button>
          <Button size="xs" loading={run.isPending} onClick={start}>
            Run this cell as a backtest
          </Button>
        </Group>
      </Group>
      {cell.error === null ? (
        <Figures figures={figures} cols={{ base: 2, sm: 3, lg: 6 }} />
      ) : (
        <Text>This cell was not run: {cell.error}</Text>
      )}
      <FormProblem error={run.error} hasFields={false} />
    </Stack>
  );
}
