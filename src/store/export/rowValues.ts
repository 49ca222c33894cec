/** Values of exported rows, the same for every format of a file. */
import { InvalidInputError } from '../../runtime/errors.ts';
import type { ExportColumn } from '../../schema/export.ts';

export type Level = readonly [price: number, size: number];
/** Times are Unix milliseconds; whole numbers are below 2^53. */
export type RowValue = string | number | boolean | null | readonly Level[];
/** In the order of the dataset's columns. */
export type RowValues = readonly RowValue[];

/** Converts a parsed value of JSON or Parquet. @throws {InvalidInputError} If it is not of the column's kind. */
export function rowValue(column: ExportColumn, value: unknown): RowValue {
  if (value === null || value === undefined) {
    if (column.nullable) return null;
    throw wrong(column, value);
  }
  const read = READERS[column.kind](value);
  if (read === null) throw wrong(column, value);
  return read;
}

/** Converts a cell of a CSV file: null is an empty cell without quotes. */
export function cellValue(column: ExportColumn, { text, isQuoted }: CsvCell): RowValue {
  if (text === '' && !isQuoted) return rowValue(column, null);
  switch (column.kind) {
    case 'time':
      return rowValue(column, text);
    case 'text':
      return text.startsWith("'") ? text.slice(1) : text;
    case 'bool':
      return rowValue(column, text === 'true' ? true : text === 'false' ? false : text);
    default:
      return rowValue(column, parsed(column, text));
  }
}

export interface CsvCell {
  readonly text: string;
  readonly isQuoted: boolean;
}

const READERS: Readonly<Record<ExportColumn['kind'], (value: unknown) => RowValue>> = {
  time: timeOf,
  text: (value) => (typeof value === 'string' ? value : null),
  bool: (value) => (typeof value === 'boolean' ? value : null),
  float: (value) => (typeof value === 'number' ? value : null),
  uint: (value) => {
    const number = typeof value === 'bigint' ? Number(value) : value;
    return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
  },
  levels: levelsOf,
  pairs: levelsOf,
};

function timeOf(value: unknown): number | null {
  const timeMs =
    value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}

/** Levels are objects of price and size, or pairs. */
function levelsOf(value: unknown): readonly Level[] | null {
  if (!Array.isArray(value)) return null;
  const levels: Level[] = [];
  for (const level of value as unknown[]) {
    const [price, size] = Array.isArray(level)
      ? (level as unknown[])
      : [(level as { price?: unknown } | null)?.price, (level as { size?: unknown } | null)?.size];
    if (typeof price !== 'number' || typeof size !== 'number') return null;
    levels.push([price, size]);
  }
  return levels;
}

function parsed(column: ExportColumn, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(column, text);
  }
}

function wrong({ name, kind, nullable }: ExportColumn, value: unknown): InvalidInputError {
  const shown =
    JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)) ?? 'nothing';
  return new InvalidInputError(
    `${name}: ${shown.slice(0, 100)} is not ${nullable ? 'null or ' : ''}of kind ${kind}`,
  );
}
