import { Button, Group } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import type { Market, Trade } from '../../api/schema.ts';
import { axisPrice } from '../../charts/axisPrice.ts';
import { type Bubble, bubbleLayer } from '../../charts/bubbleLayer.ts';
import { candleLayer } from '../../charts/candleLayer.ts';
import { candleSeconds, candlesOf } from '../../charts/candles.ts';
import { ChartGroupContext, makeChartGroup, useChartGroup, useShared } from '../../charts/chartGroup.ts';
import type { Band, Line } from '../../charts/chartOptions.ts';
import { distanceLayer } from '../../charts/distanceLayer.ts';
import type { DrawnTrade } from '../../charts/drawnTrades.ts';
import type { Layer, TimeMark } from '../../charts/layers.ts';
import { TimeChart } from '../../charts/TimeChart.tsx';
import { useClockAhead } from '../../live/useServiceClock.ts';
import { assetPrice, cents, percent, tradeCount } from '../../ui/format.ts';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { saveCsv } from '../../ui/saveCsv.ts';
import { Empty, Loading } from '../../ui/states.tsx';
import { isBeforeShown, SHOWN_FROM, secondsOf, useRecordedPoints } from './data.ts';
import { type Recorded, recordedOf } from './recorded.ts';
import { expectsUp, priceOfUp } from './tradePrice.ts';

/** Some room above and below, so that a price near the edge is visible. */
export const PROBABILITY = { price: [-0.03, 1.03] } as const;
const NO_TRADES: readonly Trade[] = [];

interface MidChartsProps {
  readonly market: Market;
  readonly bands: readonly Band[];
  /** Trades of a strategy. */
  readonly trades?: readonly DrawnTrade[] | undefined;
  /** Trades of the market, as bubbles. */
  readonly tape?: readonly Trade[];
  readonly hasCandles?: boolean;
  readonly onPick?: (timeMs: number) => void;
}

/** The charts of one market, in a group of their own. */
export function MidCharts(props: MidChartsProps): ReactNode {
  const group = useMemo(makeChartGroup, []);
  return (
    <ChartGroupContext value={group}>
      <PriceCharts {...props} />
      <PointsDownload market={props.market} />
    </ChartGroupContext>
  );
}

/** Implied and model probability, the underlying with its distance to the strike, and the spread, below each other. */
export function PriceCharts(props: MidChartsProps): ReactNode {
  const { market, bands } = props;
  const request = useRecordedPoints(market);
  const found = lastAnswer(request);
  const span = useMemo(() => secondsOf(market), [market]);
  const aheadMs = useClockAhead() ?? 0;
  const recorded = useMemo(() => {
    if (found === undefined) return undefined;
    const now = (Date.now() + aheadMs) / 1000;
    return recordedOf(market, found.points, { earlier: found.earlier, within: span, now });
  }, [market, found, span, aheadMs]);
  const timeMarks = useMemo(() => timeMarksOf(market), [market]);
  if (request.isPending) return <Loading rows={8} />;
  if (found === undefined || recorded === undefined) return <RequestFailure of={request} />;
  if (isBeforeShown(market, Date.now() + aheadMs)) return <Empty title="Not begun">{SHOWN_FROM}</Empty>;
  if (found.points.length === 0) {
    return (
      <>
        <RequestFailure of={request} />
        <Empty title="Nothing recorded yet">No book of this market was recorded so far.</Empty>
      </>
    );
  }
  const pick = props.onPick;
  const shared = {
    ...{ times: recorded.times, span, gaps: bands, timeMarks },
    ...(pick === undefined ? {} : { onPick: (seconds: number) => pick(seconds * 1000) }),
  };
  return (
    <>
      <RequestFailure of={request} />
      <ProbabilityChart {...props} recorded={recorded} shared={shared} />
      <UnderlyingChart {...props} recorded={recorded} shared={shared} />
      <SpreadChart recorded={recorded} shared={shared} />
    </>
  );
}

/** Saves the points of the charts as a file. */
export function PointsDownload({ market }: { market: Market }): ReactNode {
  const points = lastAnswer(useRecordedPoints(market))?.points ?? [];
  if (points.length === 0) return null;
  return (
    <Group>
      <Button size="xs" variant="default" onClick={() => saveCsv(`${market.slug}.csv`, COLUMNS, points)}>
        Download {points.length === 1 ? 'one point' : `${points.length.toLocaleString('en')} points`} as CSV
      </Button>
    </Group>
  );
}

const COLUMNS = ['ts', 'mid_yes', 'spread_yes', 'underlying_price'] as const;

/** What all charts of a market have in common. */
interface SharedProps {
  readonly times: readonly number[];
  readonly span: Band;
  readonly gaps: readonly Band[];
  readonly timeMarks: readonly TimeMark[];
  readonly onPick?: (seconds: number) => void;
}

type PaneProps = MidChartsProps & { readonly recorded: Recorded; readonly shared: SharedProps };

function ProbabilityChart({
  trades,
  tape = NO_TRADES,
  hasCandles = false,
  recorded,
  shared,
}: PaneProps): ReactNode {
  const under = useMemo(() => [bubbleLayer(tape.map(bubbleOf), 'price')], [tape]);
  const candles = useCandles({
    ...recorded,
    values: recorded.implied,
    scale: 'price',
    isWanted: hasCandles,
    shared,
  });
  const lines = useMemo<Line[]>(
    () => [
      {
        ...{ label: 'Implied, Up', scale: 'price', colour: '--up', print: cents },
        kind: hasCandles ? 'none' : 'step',
        values: recorded.implied,
      },
      {
        ...{ label: 'Model, Up', scale: 'price', colour: '#7c5cd6', print: percentOrDash },
        values: recorded.model,
      },
    ],
    [recorded, hasCandles],
  );
  return (
    <TimeChart
      {...shared}
      label={`Implied and model probability of Up over time${trades === undefined ? '' : `, with ${tradeCount(trades.length)}`}`}
      lines={lines}
      under={under}
      over={candles}
      {...(trades === undefined ? {} : { trades })}
      ranges={PROBABILITY}
      hasTimeAxis={false}
      height={260}
    />
  );
}

function UnderlyingChart({ market, hasCandles = false, recorded, shared }: PaneProps): ReactNode {
  const { ticker, strike_price: strike } = market;
  const { times, underlying } = recorded;
  const candles = useCandles({
    times,
    values: underlying,
    scale: 'underlying',
    isWanted: hasCandles,
    shared,
  });
  const under = useMemo<Layer[]>(() => {
    if (strike === null) return [];
    const within = { from: Date.parse(market.start_time) / 1000, to: Date.parse(market.end_time) / 1000 };
    return [distanceLayer({ times, values: underlying, level: strike, scale: 'underlying', within })];
  }, [times, underlying, strike, market.start_time, market.end_time]);
  const mark = useMemo(
    () =>
      strike === null
        ? undefined
        : { scale: 'underlying', value: strike, label: `strike ${assetPrice(strike)}` },
    [strike],
  );
  const lines = useMemo<Line[]>(() => {
    const distance = underlying.map((price) => (price === null || strike === null ? null : price - strike));
    return [
      {
        ...{ label: `${ticker}, spot`, scale: 'underlying', colour: '#c2710a', print: assetPrice },
        ...{ printAxis: axisPrice, kind: hasCandles ? 'none' : 'line', values: underlying },
      },
      // In the legend alone: the shaded area draws it.
      {
        ...{ label: 'To strike', scale: 'distance', colour: '--mantine-color-dimmed', print: signedPrice },
        ...{ kind: 'none', isAxisHidden: true, values: distance },
      },
    ];
  }, [ticker, underlying, strike, hasCandles]);
  return (
    <TimeChart
      {...shared}
      label={`Price of ${ticker} and its distance to the strike over time`}
      lines={lines}
      under={under}
      over={candles}
      {...(mark === undefined ? {} : { mark })}
      hasTimeAxis={false}
      height={190}
    />
  );
}

function SpreadChart({ recorded, shared }: Pick<PaneProps, 'recorded' | 'shared'>): ReactNode {
  const lines = useMemo<Line[]>(
    () => [
      {
        ...{ label: 'Spread, Up', scale: 'spread', colour: '--down', kind: 'step', print: cents },
        values: recorded.spread,
      },
    ],
    [recorded],
  );
  return <TimeChart {...shared} label="Spread of Up over time" lines={lines} height={150} />;
}

const NO_LAYERS: readonly Layer[] = [];

/** The values as candles, with a length that fits the displayed time. */
function useCandles({
  times,
  values,
  scale,
  isWanted,
  shared,
}: Pick<Recorded, 'times'> & {
  values: readonly (number | null)[];
  scale: string;
  isWanted: boolean;
  shared: SharedProps;
}): readonly Layer[] {
  const zoom = useShared(useChartGroup('time').zoom);
  const { from, to } = zoom ?? shared.span;
  return useMemo(() => {
    if (!isWanted) return NO_LAYERS;
    const seconds = candleSeconds({ from, to });
    return [candleLayer(candlesOf(times, values, seconds), { scale, seconds })];
  }, [isWanted, times, values, scale, from, to]);
}

function bubbleOf(trade: Trade): Bubble {
  return {
    time: Date.parse(trade.ts) / 1000,
    ...{ value: priceOfUp(trade), size: trade.size, isUp: expectsUp(trade) },
  };
}

/** Start and end of the window, as lines. */
export function timeMarksOf({ start_time, end_time }: Market): TimeMark[] {
  return [
    { time: Date.parse(start_time) / 1000, label: 'window starts' },
    { time: Date.parse(end_time) / 1000, label: 'ends' },
  ];
}

const percentOrDash = (value: number | null) => percent(value);

function signedPrice(value: number | null): string {
  if (value === null) return assetPrice(null);
  return `${value < 0 ? '−' : '+'}${assetPrice(Math.abs(value))}`;
}
