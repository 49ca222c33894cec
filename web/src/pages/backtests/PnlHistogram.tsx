import { Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import type { BacktestTrade } from '../../api/schema.ts';
import { percent, tradeCount, usd } from '../../ui/format.ts';
import classes from './PnlHistogram.module.css';
import { pnlBins } from './pnlBins.ts';

const [WIDTH, HEIGHT] = [720, 160];

/** How many trades gained or lost how much, and how much of the P&L the largest one made. */
export function PnlHistogram({
  trades,
  largestShare,
}: {
  trades: readonly BacktestTrade[];
  largestShare: number | null;
}): ReactNode {
  const closed = useMemo(
    () => trades.flatMap(({ net_pnl }) => (net_pnl === null ? [] : [net_pnl])),
    [trades],
  );
  const bins = useMemo(() => pnlBins(closed), [closed]);
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const width = WIDTH / Math.max(1, bins.length);
  const best = closed.reduce((a, b) => Math.max(a, b), 0);
  const worst = closed.reduce((a, b) => Math.min(a, b), 0);
  const won = closed.filter((pnl) => pnl > 0).length;
  return (
    <figure className={classes.figure}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Trades by P&L: ${won} of ${closed.length} gained`}
      >
        {bins.map(({ from, to, count }, at) => (
          <rect
            key={from}
            x={at * width + 1}
            width={Math.max(1, width - 2)}
            y={HEIGHT - (count / most) * (HEIGHT - 4)}
            height={(count / most) * (HEIGHT - 4)}
            fill={from >= 0 ? 'var(--up)' : 'var(--down)'}
          >
            <title>{`${usd(from)} to ${usd(to)}: ${tradeCount(count)}`}</title>
          </rect>
        ))}
      </svg>
      <div className={classes.axis}>
        <span>{usd(bins[0]?.from)}</span>
        <span>most in one bar: {tradeCount(most)}</span>
        <span>{usd(bins.at(-1)?.to)}</span>
      </div>
      <Text component="figcaption" size="sm" c="dimmed">
        {won} of {tradeCount(closed.length)} gained. Best {usd(best)}, worst {usd(worst)}.{' '}
        {largestShare === null
          ? 'The largest trade has no share of the P&L, because the P&L is not positive.'
          : `The largest trade made ${percent(largestShare)} of the P&L.`}
      </Text>
    </figure>
  );
}
