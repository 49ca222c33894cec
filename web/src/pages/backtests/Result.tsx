import { Stack, Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import type { BacktestJob, BacktestResult } from '../../api/schema.ts';
import type { Line } from '../../charts/chartOptions.ts';
import { TimeChart } from '../../charts/TimeChart.tsx';
import { TradesTable } from '../../trades/TradesTable.tsx';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { cents, number, percent, usd, withSign } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { Comparison } from './Comparison.tsx';
import { equityOf } from './equity.ts';
import { PnlHistogram } from './PnlHistogram.tsx';
import { TradedMarkets } from './TradedMarkets.tsx';
import { VerdictCard } from './VerdictCard.tsx';
import { verdictOf } from './verdict.ts';

/** The result of a backtest: the verdict, the key figures, the curves, the trades, and a comparison. */
export function Result({ job }: { job: BacktestJob & { readonly result: BacktestResult } }): ReactNode {
  const { result, job_id: jobId } = job;
  // Newest first.
  const newest = useMemo(() => result.trades.toReversed(), [result]);
  return (
    <>
      <VerdictCard verdict={verdictOf(result, job.params.fill_mode === 'mid')}>
        <Details result={result} />
      </VerdictCard>
      <Figures figures={keyFigures(result)} />
      <Section title="Equity and drawdown">
        <Equity result={result} />
      </Section>
      {result.trades.length > 0 && (
        <Section title="P&L of the trades">
          <PnlHistogram trades={result.trades} largestShare={result.largest_trade_share} />
        </Section>
      )}
      {result.trades.length > 0 && (
        <Section title="Trades on the market chart">
          <TradedMarkets trades={result.trades} jobId={jobId} />
        </Section>
      )}
      <Section title="Trades">
        {newest.length === 0 ? (
          <Empty title="No trades">The entry condition was never met, or no order was filled.</Empty>
        ) : (
          <TradesTable trades={newest} source={{ backtest: jobId }} name={jobId} />
        )}
      </Section>
      <Comparison job={job} />
    </>
  );
}

function keyFigures(result: BacktestResult): Figure[] {
  const { intervals, total_pnl, trades_total, max_drawdown, sharpe_per_market } = result;
  return [
    ['P&L after fees', withSign(total_pnl, (value) => usd(value)), intervalText(intervals?.total_pnl, usd)],
    [
      'Sharpe per market',
      number(sharpe_per_market, 2),
      intervalText(intervals?.sharpe_per_market, (bound) => number(bound, 2)),
    ],
    [
      'Trades',
      number(trades_total),
      `in ${number(result.markets_traded)} of ${number(result.markets_total)} markets`,
    ],
    ['Won', percent(result.win_rate), intervalText(intervals?.win_rate, percent)],
    ['Max drawdown', usd(max_drawdown)],
    ['Largest trade', percent(result.largest_trade_share), 'of the P&L'],
  ];
}

/** All other figures, and what the result was computed from. */
function Details({ result }: { result: BacktestResult }): ReactNode {
  const figures: Figure[] = [
    ['Fees', usd(result.total_fees)],
    ['P&L per trade', usd(result.avg_pnl_per_trade, 3)],
    ['Slippage', cents(result.avg_slippage, 2)],
    // Results of earlier releases have no orders.
    ...(result.orders ? [['Orders filled', percent(result.fill_rate)] satisfies Figure] : []),
    ['Profit factor', number(result.profit_factor, 2)],
    ['Sharpe (annualised)', number(result.sharpe_ratio, 2)],
    ['Sortino', number(result.sortino_ratio, 2)],
    ['P&L / max drawdown', number(result.calmar_ratio, 2)],
    ['Coverage', percent(result.coverage)],
    ...(result.stress ? stressFigures(result.stress) : []),
  ];
  return (
    <Stack gap="xs">
      <Figures figures={figures} />
      <Text size="sm" c="dimmed">
        {result.markets_traded} of {result.markets_total} markets traded{skippedText(result)}.
        {missedText(result)} Data {result.receipt.data_hash.slice(0, 12)}, rules {result.receipt.venue_rules}:
        the same job gives the same bytes again.
      </Text>
    </Stack>
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

/** The P&L after each market, and below it how far it was under its highest value so far. */
function Equity({ result }: { result: BacktestResult }): ReactNode {
  const shown = useMemo(() => {
    const { times, pnl, drawdown } = equityOf(result);
    const shared = { scale: 'usd', kind: 'step', print: usd } as const;
    const equity: Line[] = [{ ...shared, label: 'P&L', colour: '--up', values: pnl }];
    const underwater: Line[] = [{ ...shared, label: 'drawdown', colour: '--down', values: drawdown }];
    return { times, equity, underwater };
  }, [result]);
  if (shown.times.length === 0)
    return <Empty title="Nothing was traded">The entry condition was never met in these markets.</Empty>;
  return (
    <>
      <TimeChart label="P&L over time" times={shown.times} lines={shown.equity} height={220} />
      <TimeChart label="Drawdown over time" times={shown.times} lines={shown.underwater} height={130} />
    </>
  );
}
