/** Conditions compiled to closures over the columns they read. */
import type { Condition, ConditionMetric, Operator } from '../../schema/strategy.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Rows } from '../replay/rows.ts';
import type { Token } from '../signals/signal.ts';

/** What the conditions of one list are read from. */
export interface ConditionContext {
  readonly rows: Rows;
  readonly token: Token;
  readonly endTimeMs: number;
  /** Which price `token_price` is: the ask before the token is held, the bid while it is. */
  readonly price: 'ask' | 'bid';
}

/** Whether a condition holds at a row; rows have to come in order, each once. */
export type Test = (row: number) => boolean;

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

/** All of a list hold. A list without conditions never does. */
export function compileAll(conditions: readonly Condition[], context: ConditionContext): Test {
  const { plain, crossing } = compileEach(conditions, context);
  if (conditions.length < 2) return plain[0] ?? crossing[0] ?? NEVER;
  return (row) => {
    let holds = true;
    // Each has to see every row, so none is left out when another fails.
    for (const test of crossing) if (!test(row)) holds = false;
    if (!holds) return false;
    for (const test of plain) if (!test(row)) return false;
    return true;
  };
}

/** Any of a list holds. */
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
    const test = compare(readerOf(condition.metric, context), condition, context.rows.trusted);
    (crosses(condition) ? crossing : plain).push(test);
  }
  return { plain, crossing };
}

/** A value that is not known is neither above nor below anything. */
function compare(
  read: (row: number) => number,
  { operator, value }: { operator: Operator; value: number },
  trusted: Uint8Array,
): Test {
  switch (operator) {
    case 'above':
      return (row) => read(row) > value;
    case 'below':
      return (row) => read(row) < value;
    case 'crosses_above':
      return crossing(read, (before, now) => before <= value && now > value, trusted);
    case 'crosses_below':
      return crossing(read, (before, now) => before >= value && now < value, trusted);
  }
}

function crossing(
  read: (row: number) => number,
  crossed: (before: number, now: number) => boolean,
  trusted: Uint8Array,
): Test {
  let before = Number.NaN;
  return (row) => {
    if (trusted[row] === 0) {
      // Nobody saw how it went from one side of a break to the other.
      before = Number.NaN;
      return false;
    }
    const now = read(row);
    const holds = crossed(before, now);
    if (!Number.isNaN(now)) before = now;
    return holds;
  };
}

function readerOf(metric: ConditionMetric, context: ConditionContext): (row: number) => number {
  const { rows, token, endTimeMs, price } = context;
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
