import { Stack, Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import type { BacktestResult } from '../../api/schema.ts';
import type { Line } from '../../charts/chartOptions.ts';
import { TimeChart } from '../../charts/TimeChart.tsx';
import { TradesTable } from '../../trades/TradesTable.tsx';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { cents, number, percent, usd } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { TradedMarkets } from './TradedMarkets.tsx';

/** The result of a backtest. */
export function Result({ result, jobId }: { result: BacktestResult; jobId: string }): ReactNode {
  // Newest first.
  const newest = useMemo(() => result.trades.toReversed(), [result]);
  const figures: Figure[] = [
    ['P&L after fees', usd(result.total_pnl), intervalText(result.intervals?.total_pnl, usd)],
    ['Fees', usd(result.total_fees)],
    ['Trades', number(result.trades_total)],
    ['Won', percent(result.win_rate), intervalText(result.intervals?.win_rate, percent)],
    ['P&L per trade', usd(result.avg_pnl_per_trade, 3)],
    ['Slippage', cents(result.avg_slippage)],
    // Results of earlier releases have no orders.
    ...(result.orders ? [['Orders filled', percent(result.fill_rate)] satisfies Figure] : []),
    ['Profit factor', number(result.profit_factor)],
    ['Largest trade', percent(result.largest_trade_share), 'of the P&L'],
    [
      'Sharpe per market',
      number(result.sharpe_per_market),
      intervalText(result.intervals?.sharpe_per_market, (bound) => number(bound)),
    ],
    ['Sharpe (annualised)', number(result.sharpe_ratio)],
    ['Sortino', number(result.sortino_ratio)],
    ['P&L / max drawdown', number(result.calmar_ratio)],
    ['Max drawdown', usd(result.max_drawdown)],
    ['Coverage', percent(result.coverage)],
    ...(result.stress ? stressFigures(result.stress) : []),
  ];
  return (
    <>
      <Figures figures={figures} />
      <Section title="Equity and drawdown">
        <Equity result={result} />
      </Section>
      {result.trades.length > 0 && (
        <Section title="Trades on the market chart">
          <TradedMarkets trades={result.trades} jobId={jobId} />
        </Section>
      )}
      <Section title="Trades">
        {newest.length === 0 ? (
          <Empty title="No trades" />
        ) : (
          <TradesTable trades={newest} source={{ backtest: jobId }} />
        )}
        <Text size="sm" c="dimmed">
          {result.markets_traded} of {result.markets_total} markets traded{skippedText(result)}.
          {missedText(result)} Data {result.receipt.data_hash.slice(0, 12)}, rules{' '}
          {result.receipt.venue_rules}: the same job gives the same bytes again.
        </Text>
      </Section>
    </>
  );
}

function stressFigures(stress: NonNullable<BacktestResult['stress']>): Figure[] {
  const { void_markets, disputed_markets, late_usd_max } = stress;
  return [
    ['P&L under stress', usd(stress.total_pnl), `${void_markets} annulled, ${disputed_markets} paid late`],
    ['Max drawdown under stress', usd(stress.max_drawdown), `up to ${usd(late_usd_max)} paid late at once`],
  ];
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Stack className="card" p="md" component="section" aria-label={title}>
      <Text component="h2" fw={600}>
        {title}
      </Text>
      {children}
    </Stack>
  );
}

/** The 95 % interval of a figure, e.g. `95 %: −$3.10 to $31.00`; none with too few markets. */
function intervalText(
  interval: readonly [number, number] | null | undefined,
  print: (bound: number) => string,
): string {
  return interval
    ? `95\u00a0%: ${print(interval[0])} to ${print(interval[1])}`
    : 'too few markets for an interval';
}

function skippedText({ markets_skipped }: BacktestResult): string {
  if (markets_skipped.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { reason } of markets_skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`);
  return `; skipped: ${reasons.join(', ')}`;
}

function missedText({ orders }: BacktestResult): string {
  if (!orders) return '';
  const reasons = Object.entries({ ...orders.missed, taken_back: orders.taken_back }).filter(
    ([, count]) => count !== undefined && count > 0,
  );
  const text = reasons.map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`).join(', ');
  return ` ${orders.filled} of ${orders.placed} orders filled${text === '' ? '' : `; not filled: ${text}`}.`;
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
    return <Empty title="Nothing was traded">The entry condition was never met in these markets.</Empty>;
  return <TimeChart label="P&L over time" times={shown.times} lines={shown.lines} height={240} />;
}
