/**
 * The hash of an export's rows, equal in every format: SHA-256 over the SHA-256 of each row in order. A row's bytes are
 * its values in ClickHouse's RowBinary, in the order of the dataset's columns.
 */
import { createHash, hash } from 'node:crypto';
import type { ExportColumn } from '../../schema/export.ts';
import type { Level, RowValue, RowValues } from './rowValues.ts';

/** SHA-256 has this many bytes. */
export const HASH_BYTES = 32;

export class RowHasher {
  readonly #columns: readonly ExportColumn[];
  readonly #all = createHash('sha256');
  readonly #bytes = new RowBytes();
  #rows = 0;

  constructor(columns: readonly ExportColumn[]) {
    this.#columns = columns;
  }

  get rows(): number {
    return this.#rows;
  }

  add(row: RowValues): void {
    this.#all.update(rowHash(this.#columns, row, this.#bytes));
    this.#rows++;
  }

  digest(): string {
    return this.#all.digest('hex');
  }
}

/** The hash of one row. @param bytes Memory to use again. */
export function rowHash(columns: readonly ExportColumn[], row: RowValues, bytes = new RowBytes()): Buffer {
  bytes.clear();
  for (const [index, column] of columns.entries()) encode(bytes, column, row[index] as RowValue);
  return hash('sha256', bytes.written, 'buffer');
}

type Encode = (out: RowBytes, value: never) => void;
const whole: Encode = (out, value) => out.i64(BigInt(value));

const ENCODE: Readonly<Record<ExportColumn['kind'], Encode>> = {
  time: whole,
  uint: whole,
  float: (out, value) => out.f64(value),
  bool: (out, value) => out.u8(value ? 1 : 0),
  text: (out, value) => out.text(value),
  levels: (out, value) => levels(out, value, { hasLengths: false }),
  pairs: (out, value) => levels(out, value, { hasLengths: true }),
};

function encode(out: RowBytes, { kind, nullable }: ExportColumn, value: RowValue): void {
  if (nullable) out.u8(value === null ? 1 : 0);
  if (value !== null) ENCODE[kind](out, value as never);
}

/** @param hasLengths Each level is a list with a length of its own. */
function levels(out: RowBytes, all: readonly Level[], { hasLengths }: { hasLengths: boolean }): void {
  out.varint(all.length);
  for (const [price, size] of all) {
    if (hasLengths) out.varint(2);
    out.f64(price);
    out.f64(size);
  }
}

const FIRST_BYTES = 4096;
const VALUE_BYTES_MAX = 10;

class RowBytes {
  #bytes = Buffer.alloc(FIRST_BYTES);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  u8(value: number): void {
    this.#reserve(VALUE_BYTES_MAX);
    this.#length = this.#bytes.writeUInt8(value, this.#length);
  }

  i64(value: bigint): void {
    this.#reserve(VALUE_BYTES_MAX);
    this.#length = this.#bytes.writeBigInt64LE(value, this.#length);
  }

  f64(value: number): void {
    this.#reserve(VALUE_BYTES_MAX);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  varint(value: number): void {
    this.#reserve(VALUE_BYTES_MAX);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.varint(length);
    this.#reserve(length);
    this.#length += this.#bytes.write(value, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
