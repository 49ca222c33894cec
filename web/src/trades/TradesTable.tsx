import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { type Column, DataTable } from '../ui/DataTable.tsx';
import { cents, moment, sizeFormat, tradeCount, usd } from '../ui/format.ts';
import { Signed } from '../ui/Signed.tsx';
import { saveCsv } from '../ui/saveCsv.ts';
import { OpenedLink } from './OpenedLink.tsx';
import type { MadeTrade, TradeSource } from './source.ts';

/** Rows shown at first, and added by each "Show older". */
const STEP = 100;
const HEIGHT_PX = 560;
const CSV_COLUMNS = [
  ...([
    'market_id',
    'side',
    'decided_at',
    'opened_at',
    'closed_at',
    'decision_price',
    'entry_price',
  ] as const),
  ...(['exit_price', 'shares', 'size_usd', 'fees_usd', 'entry_slippage', 'exit_slippage'] as const),
  ...(['entry_levels', 'exit_levels', 'net_pnl', 'outcome', 'exit_reason'] as const),
] as const;

/** Trades below a fixed head; the time of a trade links to its market with all trades drawn. */
export function TradesTable({
  trades,
  source,
  name,
}: {
  trades: readonly MadeTrade[];
  source: TradeSource;
  /** Of the CSV file, without its ending. */
  name: string;
}): ReactNode {
  const [shown, setShown] = useState(STEP);
  const listed = trades.slice(0, shown);
  return (
    <>
      <DataTable
        label="Trades"
        columns={columnsOf(source, sizeFormat(listed.map((trade) => trade.shares)))}
        rows={listed}
        keyOf={({ market_id, opened_at }) => `${market_id} ${opened_at}`}
        maxHeight={HEIGHT_PX}
      />
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed">
          {shown < trades.length
            ? `The newest ${shown} of ${tradeCount(trades.length)}`
            : tradeCount(trades.length)}
        </Text>
        <Group gap="sm">
          {shown < trades.length && (
            <Button size="xs" variant="default" onClick={() => setShown(shown + STEP)}>
              Show older
            </Button>
          )}
          <Button size="xs" variant="default" onClick={() => saveCsv(`${name}.csv`, CSV_COLUMNS, trades)}>
            Download all as CSV
          </Button>
        </Group>
      </Group>
    </>
  );
}

function columnsOf(source: TradeSource, size: (shares: number) => string): readonly Column<MadeTrade>[] {
  return [
    {
      title: 'Opened, UTC',
      cell: (trade) => <OpenedLink trade={trade} source={source} />,
    },
    { title: 'Closed, UTC', cell: ({ closed_at }) => (closed_at === null ? 'held' : moment(closed_at)) },
    { title: 'Bought', cell: ({ side }) => (side === 'buy_yes' ? 'Up' : 'Down') },
    { title: 'Shares', isNumber: true, cell: (trade) => size(trade.shares) },
    { title: 'Entry price', isNumber: true, cell: ({ entry_price }) => cents(entry_price, 2) },
    { title: 'Entry slippage', isNumber: true, cell: ({ slippage }) => cents(slippage, 2) },
    { title: 'Exit price', isNumber: true, cell: ({ exit_price }) => cents(exit_price, 2) },
    { title: 'Exit slippage', isNumber: true, cell: ({ exit_slippage }) => cents(exit_slippage, 2) },
    { title: 'Exit reason', cell: ({ exit_reason }) => exit_reason?.replaceAll('_', ' ') ?? 'open' },
    {
      title: 'P&L',
      isNumber: true,
      cell: ({ net_pnl }) => <Signed value={net_pnl} format={(value) => usd(value)} />,
    },
  ];
}
