import type { Band } from './band.ts';

/** Open, highest, lowest and last value of one time bucket. */
export interface Candle {
  /** Start of the bucket, Unix seconds. */
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400];
const CANDLES_MAX = 90;

/** Length of a bucket in seconds with which so much time has at most `CANDLES_MAX` candles. */
export function candleSeconds({ from, to }: Band): number {
  return STEPS.find((step) => (to - from) / step <= CANDLES_MAX) ?? 86_400;
}

/** Candles of the values; a bucket without a value has none. Buckets begin at multiples of their length. */
export function candlesOf(
  times: readonly number[],
  values: readonly (number | null)[],
  seconds: number,
): Candle[] {
  const candles: Candle[] = [];
  for (let index = 0; index < times.length; index++) {
    const value = values[index];
    if (value == null) continue;
    const time = Math.floor((times[index] as number) / seconds) * seconds;
    const last = candles.at(-1);
    if (last?.time !== time) candles.push({ time, open: value, high: value, low: value, close: value });
    else {
      const { open, high, low } = last;
      const [highest, lowest] = [Math.max(high, value), Math.min(low, value)];
      candles[candles.length - 1] = { time, open, high: highest, low: lowest, close: value };
    }
  }
  return candles;
}
