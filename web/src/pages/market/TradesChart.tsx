import { type ReactNode, useMemo } from 'react';
import type { Market, Trade } from '../../api/schema.ts';
import type { Band, Line } from '../../charts/chartOptions.ts';
import { TimeChart } from '../../charts/TimeChart.tsx';
import { cents } from '../../ui/format.ts';
import { Empty, Loading } from '../../ui/states.tsx';
import { secondsOf, useTrades } from './data.ts';

/** Prices as of Up: a trade of Down at 40¢ is one of Up at 60¢. */
export function TradesChart({ market, bands }: { market: Market; bands: readonly Band[] }): ReactNode {
  const trades = useTrades(market);
  const span = useMemo(() => secondsOf(market), [market]);
  const shown = useMemo(() => linesOf(trades ?? []), [trades]);
  if (trades === undefined) return <Loading rows={3} />;
  if (trades.length === 0)
    return <Empty title="No trades">Nobody has traded this market while it was recorded.</Empty>;
  return (
    <TimeChart
      label={`${trades.length} trades over time`}
      times={shown.times}
      lines={shown.lines}
      span={span}
      gaps={bands}
      height={200}
    />
  );
}

function linesOf(trades: readonly Trade[]): { times: number[]; lines: Line[] } {
  const priceOf = ({ side, price }: Trade) => (side.endsWith('YES') ? price : 1 - price);
  const wantsUp = ({ side }: Trade) => side === 'BUY_YES' || side === 'SELL_NO';
  const pick = (isUp: boolean) => trades.map((trade) => (wantsUp(trade) === isUp ? priceOf(trade) : null));
  return {
    times: trades.map(({ ts }) => Date.parse(ts) / 1000),
    lines: [
      {
        label: 'buy Up or sell Down',
        scale: 'price',
        colour: '--up',
        kind: 'points',
        values: pick(true),
        print: cents,
      },
      {
        label: 'buy Down or sell Up',
        scale: 'price',
        colour: '--down',
        kind: 'points',
        values: pick(false),
        print: cents,
      },
    ],
  };
}
