/** The values that conditions compare, read from the rows of a market. */
import type { Condition, ConditionMetric, StrategySide } from '../../schema/strategy.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Rows } from '../session/rows.ts';
import type { TapeMarket } from '../session/tape.ts';
import type { UnderlyingMeasure } from '../session/underlyingState.ts';
import type { Token } from '../signals/signal.ts';
import { SecondMids } from './secondMids.ts';

/** A value that conditions are about. */
export interface Reading {
  readonly metric: ConditionMetric;
  readonly token: Token;
  /** Which price `token_price` is: the ask before the token is held, the bid while it is. */
  readonly price: 'ask' | 'bid';
  /** Of a metric over a window; else null. */
  readonly windowSeconds: number | null;
}

/** What the conditions of one list have in common. */
export interface ReadingTerms extends Pick<Reading, 'price'> {
  /** The token that the strategy buys. */
  readonly own: Token;
}

/** The source of a value. */
export interface ReadFrom extends Pick<TapeMarket, 'startTimeMs' | 'endTimeMs'> {
  readonly rows: Rows;
}

/** A reading that depends on earlier rows too: it sees every row, in order and once. */
export interface Series {
  /** @returns The value at that row; NaN if there is none. */
  see(row: number): number;
}

const STRIKE_METRICS: readonly ConditionMetric[] = [
  'underlying_distance_pct',
  'underlying_distance_sigma',
  'model_probability',
];

export function tokenBought(side: StrategySide): Token {
  return side === 'buy_yes' ? 'yes' : 'no';
}

export function readingOf({ metric, token = 'own', window_s }: Condition, terms: ReadingTerms): Reading {
  const { own, price } = terms;
  return { metric, token: token === 'own' ? own : token, price, windowSeconds: window_s ?? null };
}

/** Equal for readings with equal values. */
export function readingKey({ metric, token, price, windowSeconds }: Reading): string {
  return `${metric} ${token} ${price} ${windowSeconds}`;
}

export function needsStrike({ metric }: Pick<Reading, 'metric'>): boolean {
  return STRIKE_METRICS.includes(metric);
}

export function needsBooks({ metric }: Pick<Reading, 'metric'>): boolean {
  return metric === 'imbalance';
}

/** Whether its value depends on earlier rows too. */
export function hasSeries({ metric }: Pick<Reading, 'metric'>): boolean {
  return metric === 'token_move' || metric === 'token_volatility';
}

/** The measure of the underlying that it reads; null: none. */
export function measureOf({
  metric,
  windowSeconds,
}: Pick<Reading, 'metric' | 'windowSeconds'>): UnderlyingMeasure | null {
  switch (metric) {
    case 'underlying_move_usd':
      return { of: 'move_usd', windowSeconds: null };
    case 'underlying_move_pct':
      return { of: 'move_pct', windowSeconds: null };
    case 'underlying_volatility':
      return { of: 'volatility', windowSeconds };
    default:
      return null;
  }
}

/** Its value at every row; null: it is read from a row alone. */
export function seriesOf(reading: Reading, from: ReadFrom): Series | null {
  if (!hasSeries(reading)) return null;
  return reading.metric === 'token_move'
    ? new TokenMove(reading.token, from)
    : new TokenVolatility(reading, from);
}

/** @param reading Not one of a series. */
export function readerOf(
  { metric, token, price, windowSeconds }: Reading,
  { rows, startTimeMs, endTimeMs }: ReadFrom,
): (row: number) => number {
  const isYes = token === 'yes';
  const bids = isYes ? rows.yesBid : rows.noBid;
  const asks = isYes ? rows.yesAsk : rows.noAsk;
  const traded = price === 'ask' ? asks : bids;
  const { distance, distanceSigma, timeMs, imbalance, yesProb } = rows;
  const measure = measureOf({ metric, windowSeconds });
  if (measure !== null) {
    const column = rows.measured(measure);
    return (row) => column[row] as number;
  }
  switch (metric) {
    case 'token_price':
      return (row) => (traded[row] as number) / TICKS_PER_USDC;
    case 'underlying_distance_pct':
      return (row) => (distance[row] as number) * 100;
    case 'underlying_distance_sigma':
      return (row) => distanceSigma[row] as number;
    case 'seconds_to_end':
      return (row) => (endTimeMs - (timeMs[row] as number)) / 1_000;
    case 'seconds_since_open':
      return (row) => ((timeMs[row] as number) - startTimeMs) / 1_000;
    case 'spread':
      return (row) => ((asks[row] as number) - (bids[row] as number)) / TICKS_PER_USDC;
    case 'imbalance':
      return isYes ? (row) => imbalance[row] as number : (row) => -(imbalance[row] as number);
    case 'model_probability':
      return isYes ? (row) => yesProb[row] as number : (row) => 1 - (yesProb[row] as number);
    default:
      throw new RangeError(`${metric} is not read from one row`);
  }
}

/** Twice the mid of a token in ticks; NaN at a row without a proven, two-sided book. */
function doubledMids(token: Token, { yesBid, yesAsk, noBid, noAsk, trusted }: Rows): (row: number) => number {
  const [bids, asks] = token === 'yes' ? [yesBid, yesAsk] : [noBid, noAsk];
  return (row) => (trusted[row] === 1 ? (bids[row] as number) + (asks[row] as number) : Number.NaN);
}

/** The mid less the first one of the window. */
class TokenMove implements Series {
  readonly #doubled: (row: number) => number;
  readonly #timeMs: Float64Array;
  readonly #startTimeMs: number;
  #first = Number.NaN;

  constructor(token: Token, { rows, startTimeMs }: ReadFrom) {
    this.#doubled = doubledMids(token, rows);
    this.#timeMs = rows.timeMs;
    this.#startTimeMs = startTimeMs;
  }

  see(row: number): number {
    const doubled = this.#doubled(row);
    if (Number.isNaN(this.#first) && (this.#timeMs[row] as number) >= this.#startTimeMs)
      this.#first = doubled;
    return (doubled - this.#first) / (2 * TICKS_PER_USDC);
  }
}

/** The deviation of the mids of the last whole seconds. */
class TokenVolatility implements Series {
  readonly #doubled: (row: number) => number;
  readonly #timeMs: Float64Array;
  readonly #mids: SecondMids;

  constructor({ token, windowSeconds }: Reading, { rows }: ReadFrom) {
    if (windowSeconds === null) throw new RangeError('a volatility without a window');
    this.#doubled = doubledMids(token, rows);
    this.#timeMs = rows.timeMs;
    this.#mids = new SecondMids(windowSeconds);
  }

  see(row: number): number {
    const doubled = this.#doubled(row);
    if (Number.isNaN(doubled)) {
      this.#mids.restart();
      return Number.NaN;
    }
    this.#mids.push(this.#timeMs[row] as number, doubled);
    if (!this.#mids.isFull) return Number.NaN;
    return Math.sqrt(this.#mids.variance) / (2 * TICKS_PER_USDC);
  }
}
