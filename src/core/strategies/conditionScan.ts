/**
 * Conditions searched for in the columns of a whole recording. At rows with a proven book they agree exactly with the
 * tests of `condition.ts`, but they have no memory: rows may be visited in any order, and skipped.
 */
import type { Condition, EntryCondition, Operator } from '../../schema/strategy.ts';
import { type Reading, type ReadingTerms, readingKey, readingOf } from './reading.ts';
import {
  type Column,
  firstCrossedDown,
  firstCrossedUp,
  firstPassing,
  type ReadingColumns,
} from './readingColumns.ts';

/** A condition with its reading, prepared once per strategy. */
interface ScannedCondition {
  readonly operator: Operator;
  readonly value: number;
  readonly reading: Reading;
  readonly key: string;
}
interface ScannedGroup {
  readonly any: readonly ScannedCondition[];
}
type ScannedItem = ScannedCondition | ScannedGroup;

/** Finds the first row from `from` on, before `end`, at which a condition is true; `end` if there is none. */
type Search = (from: number, end: number) => number;

/** Something that is true at some rows of one market. */
interface Scan {
  /** The first row from `from` on at which it is true; the end of the window if there is none. */
  next(from: number): number;
}

export function scannedCondition(condition: Condition, terms: ReadingTerms): ScannedCondition {
  const { operator, value } = condition;
  const reading = readingOf(condition, terms);
  return { operator, value, reading, key: readingKey(reading) };
}

export function scannedItem(item: EntryCondition, terms: ReadingTerms): ScannedItem {
  if (!('any' in item)) return scannedCondition(item, terms);
  return { any: item.any.map((condition) => scannedCondition(condition, terms)) };
}

function searchOf({ operator, value, reading, key }: ScannedCondition, columns: ReadingColumns): Search {
  const now = columns.now(reading, key);
  switch (operator) {
    case 'above':
      return (from, end) => now.firstAbove(value, from, end);
    case 'below':
      return (from, end) => now.firstBelow(value, from, end);
    case 'crosses_above': {
      const crossed = { before: columns.before(reading, key), now, value };
      return (from, end) => firstCrossedUp(crossed, from, end);
    }
    case 'crosses_below': {
      const crossed = { before: columns.before(reading, key), now, value };
      return (from, end) => firstCrossedDown(crossed, from, end);
    }
    default:
      return passing(operator, value, now);
  }
}

function passing(operator: '>=' | '<=' | '==' | '!=', value: number, column: Column): Search {
  const test = TESTS[operator](value);
  return (from, end) => firstPassing(test, column, { from, end });
}

/** NaN passes none of them; a block without values has a minimum above its maximum. */
const TESTS = {
  '>=': (value: number) => ({
    inBlock: (_min: number, max: number) => max >= value,
    passes: (now: number) => now >= value,
  }),
  '<=': (value: number) => ({
    inBlock: (min: number) => min <= value,
    passes: (now: number) => now <= value,
  }),
  '==': (value: number) => ({
    inBlock: (min: number, max: number) => min <= value && max >= value,
    passes: (now: number) => now === value,
  }),
  '!=': (value: number) => ({
    inBlock: (min: number, max: number) => min < value || max > value,
    passes: (now: number) => now < value || now > value,
  }),
} as const;

/** One condition on one market. */
export class ConditionScan implements Scan {
  readonly #search: Search;
  readonly #end: number;
  /** The last search started at row `#from` and found row `#next`: the condition is true at no row between them. */
  #from = 0;
  #next = -1;

  constructor(condition: ScannedCondition, columns: ReadingColumns) {
    this.#search = searchOf(condition, columns);
    this.#end = columns.end;
  }

  next(from: number): number {
    // The last search found nothing before `#next`, and sessions only go forward.
    if (from >= this.#from && from <= this.#next) return this.#next;
    this.#from = from;
    this.#next = this.#search(from, this.#end);
    return this.#next;
  }
}

/** A list of conditions on one market. */
export class ConditionScans implements Scan {
  readonly #scans: readonly Scan[];
  readonly #end: number;

  constructor(items: readonly ScannedItem[], columns: ReadingColumns) {
    this.#scans = items.map((item) =>
      'any' in item ? new ConditionScans(item.any, columns) : new ConditionScan(item, columns),
    );
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
      const next = (scans[at] as Scan).next(row);
      passed = next === row ? passed + 1 : 1;
      row = next;
    }
    return Math.min(row, end);
  }

  /** The first row from `from` on at which any is true; the end of the window if there is none. */
  next(from: number): number {
    let first = this.#end;
    for (const scan of this.#scans) {
      const next = scan.next(from);
      if (next < first) first = next;
      if (first === from) return first;
    }
    return first;
  }
}
