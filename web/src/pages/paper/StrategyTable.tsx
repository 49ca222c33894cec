import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PaperStrategyList } from '../../api/schema.ts';
import { STRATEGY_NAMES } from '../../strategy/strategies.ts';
import { strategyText } from '../../strategy/strategyText.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { moment, usd, visibleName, WINDOW_NAMES } from '../../ui/format.ts';
import { Signed } from '../../ui/Signed.tsx';
import { Activity } from './Activity.tsx';

type Strategy = PaperStrategyList['strategies'][number];

const COLUMNS: readonly Column<Strategy>[] = [
  {
    title: 'Name',
    isText: true,
    cell: ({ paper_strategy_id, name, strategy, size_usd }) => (
      <>
        <Link to="/paper/$strategyId" params={{ strategyId: paper_strategy_id }}>
          {visibleName(name, paper_strategy_id)}
        </Link>
        <Text size="xs" c="dimmed" lineClamp={2}>
          {STRATEGY_NAMES[strategy.type]}: {strategyText(strategy)} · {usd(size_usd, 0)}
        </Text>
      </>
    ),
  },
  {
    title: 'Markets',
    cell: ({ universe }) => `${universe.ticker} ${WINDOW_NAMES[universe.event_type]}`,
  },
  { title: 'State', cell: ({ active }) => <Activity isActive={active} /> },
  {
    title: 'Realised P&L',
    isNumber: true,
    cell: ({ net_pnl }) => <Signed value={net_pnl} format={(value) => usd(value)} />,
  },
  { title: 'Open positions', isNumber: true, cell: ({ open_positions }) => open_positions },
  { title: 'Closed positions', isNumber: true, cell: ({ closed_positions }) => closed_positions },
  { title: 'Since, UTC', cell: ({ created_at }) => moment(created_at) },
];

/** Paper strategies with their parameters and P&L, newest first. */
export function StrategyTable({ strategies }: Pick<PaperStrategyList, 'strategies'>): ReactNode {
  return (
    <DataTable
      label="Paper strategies"
      columns={COLUMNS}
      rows={strategies.toReversed()}
      keyOf={({ paper_strategy_id }) => paper_strategy_id}
    />
  );
}
