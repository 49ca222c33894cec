import { Button, Group } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import type { Market, TimeseriesPoint } from '../../api/schema.ts';
import type { Band, Line } from '../../charts/chartOptions.ts';
import type { DrawnTrade } from '../../charts/drawnTrades.ts';
import { TimeChart } from '../../charts/TimeChart.tsx';
import { assetPrice, cents, tradeCount } from '../../ui/format.ts';
import { saveCsv } from '../../ui/saveCsv.ts';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { secondsOf, useMidpoints } from './data.ts';

const PRICES = { price: [0, 1] } as const;

/** Mid of Up beside the underlying with trades on it, and the spread below. */
export function MidCharts({
  market,
  bands,
  trades,
  onPick,
}: {
  market: Market;
  bands: readonly Band[];
  trades?: readonly DrawnTrade[] | undefined;
  onPick?: (timeMs: number) => void;
}): ReactNode {
  const { points, error } = useMidpoints(market);
  const span = useMemo(() => secondsOf(market), [market]);
  const shown = useMemo(() => chartsOf(points ?? [], market.ticker), [points, market.ticker]);
  const strike = market.strike_price;
  const mark = useMemo(
    () =>
      strike === null
        ? undefined
        : { scale: 'underlying', value: strike, label: `strike ${assetPrice(strike)}` },
    [strike],
  );
  if (error !== null) return <Failure error={error} />;
  if (points === undefined) return <Loading rows={8} />;
  if (points.length === 0) {
    return (
      <Empty title="Nothing recorded yet">
        Books of a market are recorded from shortly before its window.
      </Empty>
    );
  }
  const pick = onPick === undefined ? {} : { onPick: (seconds: number) => onPick(seconds * 1000) };
  const drawn = trades === undefined ? {} : { trades };
  const tradesText = trades === undefined ? '' : `, with ${tradeCount(trades.length)}`;
  return (
    <>
      <TimeChart
        label={`Mid of Up and price of ${market.ticker} over time${tradesText}`}
        times={shown.times}
        lines={shown.mid}
        span={span}
        gaps={bands}
        {...(mark === undefined ? {} : { mark })}
        {...drawn}
        ranges={PRICES}
        height={300}
        {...pick}
      />
      <TimeChart
        label="Spread of Up over time"
        times={shown.times}
        lines={shown.spread}
        span={span}
        gaps={bands}
        height={140}
        {...pick}
      />
      <Group>
        <Button size="xs" variant="default" onClick={() => saveCsv(`${market.slug}.csv`, COLUMNS, points)}>
          Download {points.length.toLocaleString('en')} points as CSV
        </Button>
      </Group>
    </>
  );
}

const COLUMNS = ['ts', 'mid_yes', 'spread_yes', 'underlying_price'] as const;

function chartsOf(points: readonly TimeseriesPoint[], ticker: string) {
  const mid: Line[] = [
    {
      ...{ label: 'Up', scale: 'price', colour: '--up', kind: 'step', print: cents },
      values: points.map(({ mid_yes }) => mid_yes),
    },
    {
      ...{ label: ticker, scale: 'underlying', colour: '#e8890c', print: assetPrice },
      values: points.map(({ underlying_price }) => underlying_price),
    },
  ];
  const spread: Line[] = [
    {
      ...{ label: 'Spread', scale: 'spread', colour: '--down', kind: 'step', print: cents },
      values: points.map(({ spread_yes }) => spread_yes),
    },
  ];
  return { times: points.map(({ ts }) => Date.parse(ts) / 1000), mid, spread };
}
