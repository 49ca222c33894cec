/** Thresholds that a reading has to reach before a strategy can act. */
import type { Condition, EntryCondition } from '../../schema/strategy.ts';
import { crosses, singleConditions } from './condition.ts';
import { type Reading, type ReadingTerms, readingOf } from './reading.ts';

/** Reached at a row whose reading is beyond the value, or has come there just now. */
export interface Bound {
  readonly reading: Reading;
  readonly side: 'above' | 'below';
  /** The reading of the row before, as a crossing remembers it, has to lie on the other side or at the value. */
  readonly crosses: boolean;
  readonly value: number;
}

/**
 * The conditions of which one must be true at a row for all of an entry to be: a condition, or those of a group. A
 * crossing if there is one, because it is true at few rows; otherwise one on the price, which tells strategies apart
 * best.
 */
export function rarestOf(entry: readonly EntryCondition[]): readonly Condition[] {
  const rankOf = (item: EntryCondition) => Math.min(...singleConditions([item]).map(rank));
  const [rarest] = entry.toSorted((a, b) => rankOf(b) - rankOf(a));
  return rarest === undefined ? [] : singleConditions([rarest]);
}

function rank(condition: Condition): number {
  // Nearly every row differs from a value.
  if (condition.operator === '!=') return -1;
  return (crosses(condition) ? 2 : 0) + (condition.metric === 'token_price' ? 1 : 0);
}

/** At a row that reaches none of them the condition is not true. */
export function boundsOf(condition: Condition, terms: ReadingTerms): Bound[] {
  const { operator, value } = condition;
  const reading = readingOf(condition, terms);
  const bound = (side: Bound['side'], at: number): Bound => ({
    ...{ reading, side, crosses: crosses(condition), value: at },
  });
  switch (operator) {
    case 'above':
    case 'crosses_above':
      return [bound('above', value)];
    case 'below':
    case 'crosses_below':
      return [bound('below', value)];
    case '>=':
    case '==':
      return [bound('above', nextBelow(value))];
    case '<=':
      return [bound('below', -nextBelow(-value))];
    case '!=':
      return [bound('above', value), bound('below', value)];
  }
}

/** The largest number below a finite one, so that `> below(x)` means `>= x`. */
function nextBelow(value: number): number {
  if (value === 0) return -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? -1n : 1n));
  return view.getFloat64(0);
}
