/**
 * Readings of a whole recording as columns, made once per market: all cells of a sweep compare the same columns with
 * their own values. Blocks of rows store their minimum and maximum, so that a search skips those that cannot match.
 */
import { ROW_GAP_KNOWN, type Rows } from '../session/rows.ts';
import type { TapeMarket } from '../session/tape.ts';
import { rememberedAfter } from './condition.ts';
import { type Reading, readerOf, seriesOf } from './reading.ts';

const BLOCK_BITS = 5;
const BLOCK_ROWS = 1 << BLOCK_BITS;

/** One value per row, NaN if there is none. */
export class Column {
  readonly values: Float64Array;
  /** Minimum and maximum of each block; `Infinity` and `-Infinity` if it has no value. */
  readonly min: Float64Array;
  readonly max: Float64Array;

  constructor(values: Float64Array) {
    const blocks = (values.length + BLOCK_ROWS - 1) >> BLOCK_BITS;
    this.values = values;
    this.min = new Float64Array(blocks).fill(Number.POSITIVE_INFINITY);
    this.max = new Float64Array(blocks).fill(Number.NEGATIVE_INFINITY);
    for (let row = 0; row < values.length; row++) {
      const value = values[row] as number;
      const block = row >> BLOCK_BITS;
      if (value < (this.min[block] as number)) this.min[block] = value;
      if (value > (this.max[block] as number)) this.max[block] = value;
    }
  }

  /** The first row from `from` on, below `end`, with a value above `value`; `end` if there is none. */
  firstAbove(value: number, from: number, end: number): number {
    const { values, max } = this;
    for (let row = from; row < end; ) {
      const blockEnd = Math.min(end, ((row >> BLOCK_BITS) + 1) << BLOCK_BITS);
      if ((max[row >> BLOCK_BITS] as number) > value) {
        for (; row < blockEnd; row++) if ((values[row] as number) > value) return row;
      }
      row = blockEnd;
    }
    return end;
  }

  /** The same for a value below `value`. */
  firstBelow(value: number, from: number, end: number): number {
    const { values, min } = this;
    for (let row = from; row < end; ) {
      const blockEnd = Math.min(end, ((row >> BLOCK_BITS) + 1) << BLOCK_BITS);
      if ((min[row >> BLOCK_BITS] as number) < value) {
        for (; row < blockEnd; row++) if ((values[row] as number) < value) return row;
      }
      row = blockEnd;
    }
    return end;
  }
}

/** A test of the values of a column, such as "below 0.4". */
interface ValueTest {
  /** Whether a block with this minimum and maximum may have such a value. */
  readonly inBlock: (min: number, max: number) => boolean;
  readonly passes: (value: number) => boolean;
}

/** The first row from `from` on, below `end`, whose value passes; `end` if there is none. */
export function firstPassing({ inBlock, passes }: ValueTest, column: Column, range: RowRange): number {
  const { values, min, max } = column;
  const { from, end } = range;
  for (let row = from; row < end; ) {
    const block = row >> BLOCK_BITS;
    const blockEnd = Math.min(end, (block + 1) << BLOCK_BITS);
    if (inBlock(min[block] as number, max[block] as number)) {
      for (; row < blockEnd; row++) if (passes(values[row] as number)) return row;
    }
    row = blockEnd;
  }
  return end;
}

interface RowRange {
  readonly from: number;
  readonly end: number;
}

/**
 * A value to be crossed, with the readings that a crossing compares: the remembered one before a row, and the row's
 * own.
 */
interface Crossed {
  readonly before: Column;
  readonly now: Column;
  readonly value: number;
}

/** The first row from `from` on, below `end`, that crosses the value upwards; `end` if there is none. */
export function firstCrossedUp({ before, now, value }: Crossed, from: number, end: number): number {
  for (let row = from; row < end; ) {
    const block = row >> BLOCK_BITS;
    const blockEnd = Math.min(end, (block + 1) << BLOCK_BITS);
    if ((now.max[block] as number) > value && (before.min[block] as number) <= value) {
      for (; row < blockEnd; row++) {
        if ((now.values[row] as number) > value && (before.values[row] as number) <= value) return row;
      }
    }
    row = blockEnd;
  }
  return end;
}

/** The same for crossing downwards. */
export function firstCrossedDown({ before, now, value }: Crossed, from: number, end: number): number {
  for (let row = from; row < end; ) {
    const block = row >> BLOCK_BITS;
    const blockEnd = Math.min(end, (block + 1) << BLOCK_BITS);
    if ((now.min[block] as number) < value && (before.max[block] as number) >= value) {
      for (; row < blockEnd; row++) {
        if ((now.values[row] as number) < value && (before.values[row] as number) >= value) return row;
      }
    }
    row = blockEnd;
  }
  return end;
}

interface CrossedColumns {
  /** At rows with a proven book. */
  readonly now: Column;
  /** The memory of a crossing before each row; made when the first crossing needs it. */
  before: Column | null;
}

export class ReadingColumns {
  /** Rows of the window: from `first` on, before `end`. */
  readonly first: number;
  readonly end: number;
  readonly #rows: Rows;
  readonly #window: Pick<TapeMarket, 'startTimeMs' | 'endTimeMs'>;
  readonly #gapRows: readonly number[];
  readonly #columns = new Map<string, CrossedColumns>();

  /** @param rows All rows of the market. */
  constructor(rows: Rows, { startTimeMs, endTimeMs }: Pick<TapeMarket, 'startTimeMs' | 'endTimeMs'>) {
    const { count, timeMs, kind } = rows;
    const gapRows: number[] = [];
    let [first, end] = [0, 0];
    for (let row = 0; row < count; row++) {
      if ((timeMs[row] as number) < startTimeMs) first = row + 1;
      if ((timeMs[row] as number) < endTimeMs) end = row + 1;
      if (kind[row] === ROW_GAP_KNOWN) gapRows.push(row);
    }
    this.#rows = rows;
    this.#window = { startTimeMs, endTimeMs };
    this.#gapRows = gapRows;
    this.first = first;
    this.end = end;
  }

  /** `row`, or an earlier row from `from` on at which a gap becomes known; the number of rows instead of the end. */
  untilGap(from: number, row: number): number {
    for (const gap of this.#gapRows) if (gap >= from) return row < this.end ? Math.min(gap, row) : gap;
    return row < this.end ? row : this.#rows.count;
  }

  /** The reading at each row with a proven book; NaN at the others. */
  now(reading: Reading, key: string): Column {
    return this.#of(reading, key).now;
  }

  /** The memory of a crossing of this reading before each row. */
  before(reading: Reading, key: string): Column {
    const columns = this.#of(reading, key);
    columns.before ??= new Column(this.#remembered(columns.now));
    return columns.before;
  }

  #of(reading: Reading, key: string): CrossedColumns {
    const known = this.#columns.get(key);
    if (known !== undefined) return known;
    const { count, trusted } = this.#rows;
    const from = { ...this.#window, rows: this.#rows };
    const series = seriesOf(reading, from);
    const values = new Float64Array(count);
    if (series !== null) for (let row = 0; row < count; row++) values[row] = series.see(row);
    else {
      const read = readerOf(reading, from);
      for (let row = 0; row < count; row++) values[row] = trusted[row] === 1 ? read(row) : Number.NaN;
    }
    const columns = { now: new Column(values), before: null };
    this.#columns.set(key, columns);
    return columns;
  }

  #remembered(now: Column): Float64Array {
    const { count, trusted } = this.#rows;
    const values = new Float64Array(count);
    let before = Number.NaN;
    for (let row = 0; row < count; row++) {
      values[row] = before;
      before = rememberedAfter(before, now.values[row] as number, trusted[row] === 1);
    }
    return values;
  }
}
