import type { Market, TimeseriesPoint, UnderlyingPoint } from '../../api/schema.ts';
import type { Band } from '../../charts/band.ts';
import { withHoles } from '../../charts/holes.ts';
import { priceMarket } from '../../live/outlook.ts';
import { TickerPrices } from '../../live/tickerPrices.ts';

/** The recorded prices of one market as columns, one row for each change. */
export interface Recorded {
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  /** Mid of Up: the probability that the market implies. */
  readonly implied: readonly (number | null)[];
  /** The model's probability of Up; null before the window and without a strike. */
  readonly model: readonly (number | null)[];
  readonly underlying: readonly (number | null)[];
  readonly spread: readonly (number | null)[];
}

/** Times at which the model is evaluated at most; between two of them it keeps its value. */
const MODEL_VALUES_MAX = 2_000;
/** Underlying prices are not connected if they are further apart than this share of the chart ... */
const HOLE_SHARE = 0.02;
/** ... and than this many times the usual distance of two prices: a quiet market has a price less often. */
const HOLE_SPACINGS = 10;

/**
 * @param points What the service recorded, oldest first, beginning with the state in force at the left edge.
 * @param earlier Prices of the underlying before the first point, for the volatility.
 * @param within Range of the chart; the last state is in force until its end, or until now.
 */
export function recordedOf(
  market: Market,
  points: readonly TimeseriesPoint[],
  { earlier, within, now }: { earlier: readonly UnderlyingPoint[]; within: Band; now: number },
): Recorded {
  const shown = extended(points, Math.min(within.to, now));
  const times = shown.map(({ ts }) => Math.max(Date.parse(ts) / 1000, within.from));
  return {
    times,
    implied: shown.map(({ mid_yes }) => mid_yes),
    model: modelOf(market, shown, earlier),
    underlying: withHoles(
      times,
      shown.map(({ underlying_price }) => underlying_price),
      Math.max((within.to - within.from) * HOLE_SHARE, HOLE_SPACINGS * usualSpacing(times)),
    ),
    spread: shown.map(({ spread_yes }) => spread_yes),
  };
}

/** The median distance of two neighbours; 0 without two. */
function usualSpacing(times: readonly number[]): number {
  const distances = times.slice(1).map((time, index) => time - (times[index] as number));
  return distances.sort((a, b) => a - b)[Math.floor((distances.length - 1) / 2)] ?? 0;
}

/** The points, and the last one again at the end: its state is still in force there. */
function extended(points: readonly TimeseriesPoint[], end: number): readonly TimeseriesPoint[] {
  const last = points.at(-1);
  if (last === undefined || Date.parse(last.ts) / 1000 >= end) return points;
  return [...points, { ...last, ts: new Date(end * 1000).toISOString(), underlying_price: null }];
}

function modelOf(
  market: Market,
  points: readonly TimeseriesPoint[],
  earlier: readonly UnderlyingPoint[],
): (number | null)[] {
  const [startMs, endMs] = [Date.parse(market.start_time), Date.parse(market.end_time)];
  const stepMs = Math.max((endMs - startMs) / MODEL_VALUES_MAX, 250);
  const prices = new TickerPrices();
  for (const { ts, price } of earlier) prices.push(Date.parse(ts), price);
  let evaluatedMs = Number.NEGATIVE_INFINITY;
  let value: number | null = null;
  return points.map(({ ts, underlying_price }) => {
    const timeMs = Date.parse(ts);
    if (underlying_price !== null) prices.push(timeMs, underlying_price);
    // The strike is not known before the window.
    if (timeMs < startMs || timeMs > endMs) return null;
    if (timeMs - evaluatedMs >= stepMs) {
      value = priceMarket(market, prices, timeMs).modelProbability;
      evaluatedMs = timeMs;
    }
    return value;
  });
}
