/** Reads rows of ClickHouse's RowBinary from the journal; the counterpart of `RowBuffer`'s writing. */
import type { JournalChunk } from '../journal/journalFormat.ts';
import { TABLES, type TableName } from './schema.ts';

const TWO_32 = 4_294_967_296;

/** Reads values one after the other. */
class RowDecoder {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  u16(): number {
    this.#at += 2;
    return this.#bytes.readUInt16LE(this.#at - 2);
  }

  u32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  /** Reads an integer below 2^53, also a negative one. */
  i64(): number {
    this.#at += 8;
    return this.#bytes.readInt32LE(this.#at - 4) * TWO_32 + this.#bytes.readUInt32LE(this.#at - 8);
  }

  f64(): number {
    this.#at += 8;
    return this.#bytes.readDoubleLE(this.#at - 8);
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  string(): string {
    const length = this.varint();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }
}

type ReadValue = (row: RowDecoder) => unknown;

const SCALARS: Readonly<Record<string, ReadValue>> = {
  String: (row) => row.string(),
  Bool: (row) => row.u8() !== 0,
  UInt16: (row) => row.u16(),
  UInt32: (row) => row.u32(),
  UInt64: (row) => row.i64(),
  Float64: (row) => row.f64(),
  "DateTime64(3, 'UTC')": (row) => row.i64(),
};

/** @throws {RangeError} For a type that no row here has. */
function valueReader(type: string): ReadValue {
  const inner = (wrapper: string) =>
    type.startsWith(`${wrapper}(`) ? type.slice(wrapper.length + 1, -1) : null;
  const plain = inner('LowCardinality');
  if (plain !== null) return valueReader(plain);
  const known = inner('Nullable');
  if (known !== null) {
    const read = valueReader(known);
    return (row) => (row.u8() === 1 ? null : read(row));
  }
  const element = inner('Array');
  if (element !== null) {
    const read = valueReader(element);
    return (row) => Array.from({ length: row.varint() }, () => read(row));
  }
  const read = SCALARS[type];
  if (read === undefined) throw new RangeError(`no reader for values of type ${type}`);
  return read;
}

/** Reads the row at an offset as an object by column. */
export type ReadRow = (bytes: Buffer, at: number) => Record<string, unknown>;

/**
 * Returns a reader for rows written for an insert target, `underround.books (market_id, ...)`. The target names the
 * columns that the writing release had; others are absent.
 * @param through The last column to read; all columns if omitted.
 */
export function rowReader(table: TableName, target: string, through?: string): ReadRow {
  const types = new Map<string, string>(TABLES[table].columns.map(({ name, type }) => [name, type]));
  const known = target.slice(target.indexOf('(') + 1, -1).split(', ');
  const names = through === undefined ? known : known.slice(0, known.indexOf(through) + 1);
  const columns = names.map((name) => ({ name, read: valueReader(types.get(name) ?? '') }));
  return (bytes, at) => {
    const decoder = new RowDecoder(bytes, at);
    const row: Record<string, unknown> = {};
    for (const { name, read } of columns) row[name] = read(decoder);
    return row;
  };
}

/** Reads the leading string columns of the row at an offset. */
export function leadingStrings(bytes: Buffer, at: number, count: number): string[] {
  const decoder = new RowDecoder(bytes, at);
  return Array.from({ length: count }, () => decoder.string());
}

/**
 * The rows of a chunk, grouped by their leading strings, in arrival order. A key is the strings' bytes as text, only
 * fit for comparison: scans read it for every row.
 */
export function rowsByKey(chunk: JournalChunk, strings: number): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  const { file } = chunk;
  for (let row = 0; row < chunk.rows; row++) {
    const start = chunk.start(row);
    let end = start;
    for (let i = 0; i < strings; i++) {
      const decoder = new RowDecoder(file, end);
      const length = decoder.varint();
      end = decoder.at + length;
    }
    const key = file.toString('latin1', start, end);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/** The time after a row's leading strings. */
export function timeAfterKey(chunk: JournalChunk, row: number, key: string): number {
  return new RowDecoder(chunk.file, chunk.start(row) + key.length).i64();
}
