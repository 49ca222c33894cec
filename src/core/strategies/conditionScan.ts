/**
 * Conditions searched for in the columns of a whole recording. At rows with a proven book they agree exactly with the
 * tests of `condition.ts`, but they have no memory: rows may be visited in any order, and skipped.
 */
import type { Condition, Operator } from '../../schema/strategy.ts';
import type { Reading } from './condition.ts';
import {
  type Column,
  type Crossed,
  firstCrossedDown,
  firstCrossedUp,
  type ReadingColumns,
  readingKey,
} from './readingColumns.ts';

/** A condition with its reading, prepared once per strategy. */
interface ScannedCondition {
  readonly operator: Operator;
  readonly value: number;
  readonly reading: Reading;
  readonly key: string;
}

export function scannedCondition(
  { metric, operator, value }: Condition,
  of: Omit<Reading, 'metric'>,
): ScannedCondition {
  const reading = { ...of, metric };
  return { operator, value, reading, key: readingKey(reading) };
}

/** One condition on one market. */
class ConditionScan {
  readonly #isAbove: boolean;
  readonly #value: number;
  readonly #now: Column;
  /** Null: a state, not a crossing. */
  readonly #crossed: Crossed | null;
  readonly #end: number;
  /** It is true at no row from `#from` on before `#next`. */
  #from = 0;
  #next = -1;

  constructor({ operator, value, reading, key }: ScannedCondition, columns: ReadingColumns) {
    const crosses = operator === 'crosses_above' || operator === 'crosses_below';
    this.#isAbove = operator === 'above' || operator === 'crosses_above';
    this.#value = value;
    this.#now = columns.now(reading, key);
    this.#crossed = crosses ? { before: columns.before(reading, key), now: this.#now, value } : null;
    this.#end = columns.end;
  }

  /** The first row from `from` on at which it is true; the end of the window if there is none. */
  next(from: number): number {
    // The last search found nothing before `#next`, and sessions only go forward.
    if (from >= this.#from && from <= this.#next) return this.#next;
    this.#from = from;
    this.#next = this.#search(from);
    return this.#next;
  }

  #search(from: number): number {
    const end = this.#end;
    if (this.#crossed === null) {
      return this.#isAbove
        ? this.#now.firstAbove(this.#value, from, end)
        : this.#now.firstBelow(this.#value, from, end);
    }
    return this.#isAbove
      ? firstCrossedUp(this.#crossed, from, end)
      : firstCrossedDown(this.#crossed, from, end);
  }
}

/** A list of conditions on one market. */
export class ConditionScans {
  readonly #scans: readonly ConditionScan[];
  readonly #end: number;

  constructor(conditions: readonly ScannedCondition[], columns: ReadingColumns) {
    this.#scans = conditions.map((condition) => new ConditionScan(condition, columns));
    this.#end = columns.end;
  }

  /** The first row from `from` on at which all are true; the end of the window if there is none. */
  nextAll(from: number): number {
    const scans = this.#scans;
    const end = this.#end;
    if (scans.length === 0) return end;
    let row = from;
    // A condition that fails at a row says how far the others can skip.
    for (let passed = 0, at = 0; passed < scans.length && row < end; at = (at + 1) % scans.length) {
      const next = (scans[at] as ConditionScan).next(row);
      passed = next === row ? passed + 1 : 1;
      row = next;
    }
    return Math.min(row, end);
  }

  /** The first row from `from` on at which any is true; the end of the window if there is none. */
  nextAny(from: number): number {
    let first = this.#end;
    for (const scan of this.#scans) {
      const next = scan.next(from);
      if (next < first) first = next;
      if (first === from) return first;
    }
    return first;
  }
}
