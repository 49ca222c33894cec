import { Stack, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { BacktestResult, BacktestTrade } from '../../api/schema.ts';
import { type Line, TimeChart } from '../../charts/TimeChart.tsx';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { cents, moment, number, percent, shares, usd } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';

/** Trades listed; the answer of the API has all of them. */
const TRADES_SHOWN = 200;

/** What a strategy would have made. */
export function Result({ result }: { result: BacktestResult }): ReactNode {
  const figures: Figure[] = [
    ['P&L after fees', usd(result.total_pnl)],
    ['Fees', usd(result.total_fees)],
    ['Trades', number(result.trades_total)],
    ['Won', percent(result.win_rate)],
    ['P&L a trade', usd(result.avg_pnl_per_trade, 3)],
    ['Slippage', cents(result.avg_slippage)],
    ['Profit factor', number(result.profit_factor)],
    ['Sharpe a year', number(result.sharpe_ratio)],
    ['Sortino', number(result.sortino_ratio)],
    ['Calmar', number(result.calmar_ratio)],
    ['Deepest fall', usd(result.max_drawdown)],
    ['Coverage', percent(result.coverage)],
  ];
  return (
    <>
      <Figures figures={figures} />
      <Stack className="card" p="md">
        <Text component="h2" fw={600}>
          P&L and the fall below its highest
        </Text>
        <Equity result={result} />
      </Stack>
      <Stack className="card" p="md">
        <Text component="h2" fw={600}>
          Trades
        </Text>
        <Trades trades={result.trades} />
        <Text size="sm" c="dimmed">
          {result.markets_traded} of {result.markets_total} markets traded{skippedText(result)}. Data{' '}
          {result.receipt.data_hash.slice(0, 12)}, rules {result.receipt.venue_rules}: the same job gives the
          same bytes again.
        </Text>
      </Stack>
    </>
  );
}

function skippedText({ markets_skipped }: BacktestResult): string {
  if (markets_skipped.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { reason } of markets_skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`);
  return `; left out: ${reasons.join(', ')}`;
}

function Equity({ result }: { result: BacktestResult }): ReactNode {
  const shown = useMemo(() => {
    const points = result.equity_curve;
    let highest = 0;
    const falls = points.map(({ cumulative_pnl }) => {
      highest = Math.max(highest, cumulative_pnl);
      return cumulative_pnl - highest;
    });
    const lines: Line[] = [
      {
        ...{ label: 'P&L', scale: 'usd', colour: '--up', kind: 'step', print: usd },
        values: points.map(({ cumulative_pnl }) => cumulative_pnl),
      },
      { label: 'fall', scale: 'usd', colour: '--down', kind: 'step', print: usd, values: falls },
    ];
    return { times: points.map(({ ts }) => Date.parse(ts) / 1000), lines };
  }, [result]);
  if (shown.times.length === 0)
    return <Empty title="Nothing was traded">Its condition was never met in these markets.</Empty>;
  return <TimeChart label="P&L over time" times={shown.times} lines={shown.lines} height={240} />;
}

function Trades({ trades }: { trades: readonly BacktestTrade[] }): ReactNode {
  if (trades.length === 0) return <Empty title="No trades" />;
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Opened</Table.Th>
            <Table.Th>Bought</Table.Th>
            <Table.Th ta="right">At</Table.Th>
            <Table.Th ta="right">Shares</Table.Th>
            <Table.Th ta="right">Sold at</Table.Th>
            <Table.Th>Because</Table.Th>
            <Table.Th ta="right">P&L</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {trades.slice(0, TRADES_SHOWN).map((trade) => (
            <Table.Tr key={`${trade.market_id} ${trade.opened_at}`}>
              <Table.Td className="nowrap">
                <Link
                  to="/markets/$marketId"
                  params={{ marketId: trade.market_id }}
                  search={{ at: Date.parse(trade.opened_at) }}
                >
                  {moment(trade.opened_at)}
                </Link>
              </Table.Td>
              <Table.Td>{trade.side === 'buy_yes' ? 'Up' : 'Down'}</Table.Td>
              <Table.Td ta="right">{cents(trade.entry_price)}</Table.Td>
              <Table.Td ta="right">{shares(trade.shares)}</Table.Td>
              <Table.Td ta="right">{cents(trade.exit_price)}</Table.Td>
              <Table.Td>{trade.exit_reason?.replaceAll('_', ' ') ?? 'open'}</Table.Td>
              <Table.Td ta="right" className={(trade.net_pnl ?? 0) >= 0 ? 'up' : 'down'}>
                {usd(trade.net_pnl)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
