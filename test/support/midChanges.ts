/**
 * How far the price of Up moves in a short time, in cents: in real recordings, and in the fair prices of real windows.
 * The simulator is compared with both.
 */
import { probabilityUp } from '../../src/core/pricing/probability.ts';
import { recordingLines } from './fixtures.ts';

/** The mid of Up implied by a trade. */
interface Print {
  readonly timeMs: number;
  readonly midCents: number;
}

const HALF_TICK = 0.5;
const SAMPLE_MS = 50;
/** Windows with fewer prints were not yet open. */
const PRINTS_MIN = 40;

/** The value at or below which `share` of the values are. */
export function quantileOf(values: Float64Array, share: number): number {
  return values.toSorted()[Math.floor(share * (values.length - 1))] as number;
}

/**
 * Absolute changes of the mid of 5m windows of 2026-03-10 over `lengthMs`, from trades: a taker's price is a best
 * price, half a tick from the mid. Both moments need a trade shortly before them. The recording has seconds 6 to 68 of
 * six windows.
 */
export function recordedChanges(lengthMs: number): Float64Array {
  const changes: number[] = [];
  const freshMs = Math.max(150, lengthMs / 4);
  for (const prints of recordedPrints().values()) {
    const [first, last] = [prints[0] as Print, prints.at(-1) as Print];
    const at = (timeMs: number) => {
      const print = prints.findLast((one) => one.timeMs <= timeMs);
      return print !== undefined && timeMs - print.timeMs <= freshMs ? print.midCents : null;
    };
    for (let timeMs = first.timeMs; timeMs + lengthMs <= last.timeMs; timeMs += SAMPLE_MS) {
      const [before, after] = [at(timeMs), at(timeMs + lengthMs)];
      if (before !== null && after !== null) changes.push(Math.abs(after - before));
    }
  }
  return Float64Array.from(changes);
}

function recordedPrints(): Map<string, Print[]> {
  const [header = '', ...rows] = recordingLines('polymarket/selcukguler0-2026-03-10-1925/live_trades.csv');
  const names = header.trimEnd().split(',');
  const windows = new Map<string, Print[]>();
  for (const row of rows) {
    const cells = row.trimEnd().split(',');
    const cell = (name: string) => cells[names.indexOf(name)] as string;
    const slug = cell('market_slug');
    if (!slug.includes('-updown-5m-')) continue;
    const isUp = cell('outcome') === 'Up';
    const ofUp = 100 * (isUp ? Number(cell('price')) : 1 - Number(cell('price')));
    const eatsAsk = (cell('side') === 'BUY') === isUp;
    const print = { timeMs: Number(cell('timestamp_ms')), midCents: ofUp + (eatsAsk ? -1 : 1) * HALF_TICK };
    const prints = windows.get(slug) ?? [];
    windows.set(slug, prints);
    prints.push(print);
  }
  for (const prints of windows.values()) prints.sort((a, b) => a.timeMs - b.timeMs);
  return new Map([...windows].filter(([, prints]) => prints.length >= PRINTS_MIN));
}

const TWAP_SECONDS = 60;
const VOLATILITY_SECONDS = 600;
const VOLATILITY_STEP = 5;
/** If Chainlink's points are missing for this long, the value is unknown. */
const POINT_AGE_MAX = 5;

/**
 * P(Up) in cents by seconds left, for all BTC 5m windows of 2026-07-24: the fair price from that day's Chainlink points
 * by the rule of 2026-11 (TWAP60 at both ends); NaN where points are missing.
 */
export function fairCentsOfRealWindows(): Float64Array[] {
  const folder = 'polymarket/ligengxin96-2026-07-24';
  const points = new Map<number, number>();
  for (const row of recordingLines(`${folder}/BTCUSD-prices-2026-07-24.csv.gz`).slice(1)) {
    const [feedMs, price] = row.split(',');
    points.set(Math.floor(Number(feedMs) / 1000), Number(price));
  }
  const pointAt = (second: number) => {
    for (let age = 0; age <= POINT_AGE_MAX; age++) {
      const point = points.get(second - age);
      if (point !== undefined) return point;
    }
    return Number.NaN;
  };
  return recordingLines(`${folder}/BTC-5m-markets-2026-07-24.jsonl.gz`).map((line) => {
    const { start_sec: start, end_sec: end } = JSON.parse(line) as { start_sec: number; end_sec: number };
    const strike = meanOf(pointAt, start - TWAP_SECONDS + 1, start);
    return Float64Array.from({ length: end - start }, (_, secondsLeft) => {
      if (secondsLeft === 0) return Number.NaN;
      const now = end - secondsLeft;
      const insideMean = secondsLeft < TWAP_SECONDS ? meanOf(pointAt, end - TWAP_SECONDS + 1, now) : 0;
      const outlook = { spot: pointAt(now), strike, secondsLeft, sigma: sigmaAt(pointAt, now) };
      return 100 * probabilityUp({ ...outlook, twapSeconds: TWAP_SECONDS, insideMean });
    });
  });
}

/**
 * Absolute changes over `seconds` of values by seconds left, with more than `over` and at most `upTo` seconds left at
 * the end.
 */
export function changesOf(
  windows: readonly Float64Array[],
  { seconds, over, upTo }: { seconds: number; over: number; upTo: number },
): Float64Array {
  const changes: number[] = [];
  for (const values of windows) {
    for (let left = over + 1; left <= upTo && left + seconds < values.length; left++) {
      const change = Math.abs((values[left] as number) - (values[left + seconds] as number));
      if (!Number.isNaN(change)) changes.push(change);
    }
  }
  return Float64Array.from(changes);
}

function meanOf(pointAt: (second: number) => number, from: number, to: number): number {
  let sum = 0;
  for (let second = from; second <= to; second++) sum += pointAt(second);
  return sum / (to - from + 1);
}

function sigmaAt(pointAt: (second: number) => number, now: number): number {
  let [squares, count] = [0, 0];
  for (let second = now - VOLATILITY_SECONDS; second < now; second += VOLATILITY_STEP) {
    const move = Math.log(pointAt(second + VOLATILITY_STEP) / pointAt(second));
    if (Number.isNaN(move)) continue;
    squares += move * move;
    count++;
  }
  return count < 60 ? Number.NaN : Math.sqrt(squares / (count * VOLATILITY_STEP));
}
