/** Conditions compiled to closures over the columns they read. */
import type { Condition, EntryCondition, Operator } from '../../schema/strategy.ts';
import {
  type ReadFrom,
  type Reading,
  type ReadingTerms,
  readerOf,
  readingKey,
  readingOf,
  type Series,
  seriesOf,
} from './reading.ts';

/** What a crossing remembers: the value before the row that comes next; NaN at first, and after a break. */
export interface Crossing {
  readonly reading: Reading;
  before: number;
}

/** Whether a condition is true at a row; rows must come in order, each once. */
type Test = (row: number) => boolean;

/** The inputs for the conditions of one list. */
interface ConditionContext extends ReadingTerms {
  readonly memory: ConditionMemory;
}

const NEVER: Test = () => false;

/** What the conditions of one strategy in one market remember of earlier rows. */
export class ConditionMemory {
  readonly crossings: Crossing[] = [];
  readonly from: ReadFrom;
  readonly #series = new Map<string, { readonly series: Series; value: number }>();

  constructor(from: ReadFrom) {
    this.from = from;
  }

  /** Whether it consists of crossings only. */
  get isOfCrossings(): boolean {
    return this.#series.size === 0;
  }

  /** Call for every row, before the conditions see it. */
  see(row: number): void {
    for (const known of this.#series.values()) known.value = known.series.see(row);
  }

  /** The value of a reading at the row seen last. */
  reader(reading: Reading): (row: number) => number {
    const key = readingKey(reading);
    const known = this.#series.get(key);
    if (known !== undefined) return () => known.value;
    const series = seriesOf(reading, this.from);
    if (series === null) return readerOf(reading, this.from);
    const seen = { series, value: Number.NaN };
    this.#series.set(key, seen);
    return () => seen.value;
  }
}

/** The conditions of an entry one by one, also those in groups. */
export function singleConditions(entry: readonly EntryCondition[]): Condition[] {
  return entry.flatMap((item) => ('any' in item ? item.any : [item]));
}

export function crosses({ operator }: Pick<Condition, 'operator'>): boolean {
  return operator === 'crosses_above' || operator === 'crosses_below';
}

/** True if all of a list are. A list without conditions never is. */
export function compileAll(entry: readonly EntryCondition[], context: ConditionContext): Test {
  const plain: Test[] = [];
  const crossing: Test[] = [];
  for (const item of entry) {
    const test = 'any' in item ? compileAny(item.any, context) : compare(item, context);
    (singleConditions([item]).some(crosses) ? crossing : plain).push(test);
  }
  if (entry.length < 2) return plain[0] ?? crossing[0] ?? NEVER;
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
  const plain: Test[] = [];
  const crossing: Test[] = [];
  for (const condition of conditions) {
    (crosses(condition) ? crossing : plain).push(compare(condition, context));
  }
  if (conditions.length < 2) return plain[0] ?? crossing[0] ?? NEVER;
  return (row) => {
    let holds = false;
    for (const test of crossing) if (test(row)) holds = true;
    if (holds) return true;
    for (const test of plain) if (test(row)) return true;
    return false;
  };
}

/** An unknown value satisfies no operator. */
function compare(condition: Condition, context: ConditionContext): Test {
  const { operator, value } = condition;
  const reading = readingOf(condition, context);
  const read = context.memory.reader(reading);
  switch (operator) {
    case 'above':
      return (row) => read(row) > value;
    case 'below':
      return (row) => read(row) < value;
    case '>=':
      return (row) => read(row) >= value;
    case '<=':
      return (row) => read(row) <= value;
    case '==':
      return (row) => read(row) === value;
    case '!=':
      return (row) => {
        const now = read(row);
        return now < value || now > value;
      };
    case 'crosses_above':
    case 'crosses_below':
      return crossing(read, condition, crossingOf(reading, context));
  }
}

function crossingOf(reading: Reading, { memory }: ConditionContext) {
  const { crossings, from } = memory;
  const remembered: Crossing = { reading, before: Number.NaN };
  crossings.push(remembered);
  return { remembered, trusted: from.rows.trusted };
}

function crossing(
  read: (row: number) => number,
  { operator, value }: { readonly operator: Operator; readonly value: number },
  { remembered, trusted }: { remembered: Crossing; trusted: Uint8Array },
): Test {
  const isUpwards = operator === 'crosses_above';
  return (row) => {
    const { before } = remembered;
    const now = read(row);
    const isTrusted = trusted[row] === 1;
    remembered.before = rememberedAfter(before, now, isTrusted);
    if (!isTrusted) return false;
    return isUpwards ? before <= value && now > value : before >= value && now < value;
  };
}

/** A crossing's memory after a row. */
export function rememberedAfter(before: number, now: number, isTrusted: boolean): number {
  // The path of the value across a break is unknown.
  if (!isTrusted) return Number.NaN;
  return Number.isNaN(now) ? before : now;
}
