/** Conditions compiled to closures over the columns they read. */
import type { Condition, ConditionMetric } from '../../schema/strategy.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Rows } from '../session/rows.ts';
import type { Token } from '../signals/signal.ts';

/** A value that conditions are about. */
export interface Reading {
  readonly metric: ConditionMetric;
  readonly token: Token;
  /** Which price `token_price` is: the ask before the token is held, the bid while it is. */
  readonly price: 'ask' | 'bid';
}

/** What a crossing remembers: the value before the row that comes next; NaN at first, and after a break. */
export interface Crossing {
  readonly reading: Reading;
  before: number;
}

/** Reached at a row whose reading is beyond the value, or has come there just now. */
export interface Bound {
  readonly reading: Reading;
  readonly side: 'above' | 'below';
  /** The reading of the row before, as a crossing remembers it, has to lie on the other side or at the value. */
  readonly crosses: boolean;
  readonly value: number;
}

/** The inputs for the conditions of one list. */
interface ConditionContext extends Omit<Reading, 'metric'>, ReadFrom {
  /** Receives the memory of its crossings. */
  readonly crossings: Crossing[];
}

/** The source of a value. */
interface ReadFrom {
  readonly rows: Rows;
  readonly endTimeMs: number;
}

/** Whether a condition is true at a row; rows must come in order, each once. */
type Test = (row: number) => boolean;

const NEVER: Test = () => false;
const MODEL_METRICS: readonly ConditionMetric[] = [
  'underlying_distance_pct',
  'underlying_distance_sigma',
  'model_probability',
];

export function needsModel(conditions: readonly Condition[]): boolean {
  return conditions.some(({ metric }) => MODEL_METRICS.includes(metric));
}

export function needsBooks(conditions: readonly Condition[]): boolean {
  return conditions.some(({ metric }) => metric === 'imbalance');
}

export function crosses({ operator }: Condition): boolean {
  return operator === 'crosses_above' || operator === 'crosses_below';
}

/**
 * A condition that must be true at a row for all of a list to be. A crossing if there is one, because it is true at few
 * rows; otherwise one on the price, which tells strategies apart best.
 */
export function rarestOf(conditions: readonly Condition[]): readonly Condition[] {
  const rank = (condition: Condition) =>
    (crosses(condition) ? 2 : 0) + (condition.metric === 'token_price' ? 1 : 0);
  return conditions.toSorted((a, b) => rank(b) - rank(a)).slice(0, 1);
}

export function boundOf(condition: Condition, of: Omit<Reading, 'metric'>): Bound {
  const { metric, operator, value } = condition;
  const side = operator === 'above' || operator === 'crosses_above' ? 'above' : 'below';
  return { reading: { ...of, metric }, side, crosses: crosses(condition), value };
}

/** True if all of a list are. A list without conditions never is. */
export function compileAll(conditions: readonly Condition[], context: ConditionContext): Test {
  const { plain, crossing } = compileEach(conditions, context);
  if (conditions.length < 2) return plain[0] ?? crossing[0] ?? NEVER;
  return (row) => {
    let holds = true;
    // Each must see every row, so all of them run even if one fails.
    for (const test of crossing) if (!test(row)) holds = false;
    if (!holds) return false;
    for (const test of plain) if (!test(row)) return false;
    return true;
  };
}

/** True if any of a list is. */
export function compileAny(conditions: readonly Condition[], context: ConditionContext): Test {
  const { plain, crossing } = compileEach(conditions, context);
  if (conditions.length < 2) return plain[0] ?? crossing[0] ?? NEVER;
  return (row) => {
    let holds = false;
    for (const test of crossing) if (test(row)) holds = true;
    if (holds) return true;
    for (const test of plain) if (test(row)) return true;
    return false;
  };
}

function compileEach(conditions: readonly Condition[], context: ConditionContext) {
  const plain: Test[] = [];
  const crossing: Test[] = [];
  for (const condition of conditions) {
    const test = compare(condition, context);
    (crosses(condition) ? crossing : plain).push(test);
  }
  return { plain, crossing };
}

/** An unknown value is neither above nor below anything. */
function compare({ metric, operator, value }: Condition, context: ConditionContext): Test {
  const { token, price } = context;
  const reading = { metric, token, price };
  const read = readerOf(reading, context);
  switch (operator) {
    case 'above':
      return (row) => read(row) > value;
    case 'below':
      return (row) => read(row) < value;
    case 'crosses_above':
      return crossing(read, (before, now) => before <= value && now > value, crossingOf(reading, context));
    case 'crosses_below':
      return crossing(read, (before, now) => before >= value && now < value, crossingOf(reading, context));
  }
}

function crossingOf(reading: Reading, { rows, crossings }: ConditionContext) {
  const memory: Crossing = { reading, before: Number.NaN };
  crossings.push(memory);
  return { memory, trusted: rows.trusted };
}

function crossing(
  read: (row: number) => number,
  crossed: (before: number, now: number) => boolean,
  { memory, trusted }: { memory: Crossing; trusted: Uint8Array },
): Test {
  return (row) => {
    const { before } = memory;
    const now = read(row);
    const isTrusted = trusted[row] === 1;
    memory.before = rememberedAfter(before, now, isTrusted);
    return isTrusted && crossed(before, now);
  };
}

/** A crossing's memory after a row. */
export function rememberedAfter(before: number, now: number, isTrusted: boolean): number {
  // The path of the value across a break is unknown.
  if (!isTrusted) return Number.NaN;
  return Number.isNaN(now) ? before : now;
}

export function readerOf(
  { metric, token, price }: Reading,
  { rows, endTimeMs }: ReadFrom,
): (row: number) => number {
  const isYes = token === 'yes';
  const bids = isYes ? rows.yesBid : rows.noBid;
  const asks = isYes ? rows.yesAsk : rows.noAsk;
  const dealt = price === 'ask' ? asks : bids;
  const { distance, distanceSigma, timeMs, imbalance, yesProb } = rows;
  switch (metric) {
    case 'token_price':
      return (row) => (dealt[row] as number) / TICKS_PER_USDC;
    case 'underlying_distance_pct':
      return (row) => (distance[row] as number) * 100;
    case 'underlying_distance_sigma':
      return (row) => distanceSigma[row] as number;
    case 'seconds_to_end':
      return (row) => (endTimeMs - (timeMs[row] as number)) / 1_000;
    case 'spread':
      return (row) => ((asks[row] as number) - (bids[row] as number)) / TICKS_PER_USDC;
    case 'imbalance':
      return isYes ? (row) => imbalance[row] as number : (row) => -(imbalance[row] as number);
    case 'model_probability':
      return isYes ? (row) => yesProb[row] as number : (row) => 1 - (yesProb[row] as number);
  }
}
