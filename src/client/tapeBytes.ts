/** Reads the binary answers of `GET /v1/tapes`: frames with hashes, and in them rows of fixed width or blocks of columns. */
import { NoAnswerError } from './errors.ts';

const LENGTH_BYTES = 4;
const HEAD_BYTES = 36;

/**
 * The bytes in the frames of an answer. A frame is its length, the SHA-256 of its bytes, and its bytes; the last one has
 * the length 0 and the SHA-256 of all bytes.
 * @throws {NoAnswerError} If a hash does not match, or the last frame is missing.
 */
export async function unframed(answer: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const all = new Uint8Array(answer.length);
  let length = 0;
  for (let at = 0; at + HEAD_BYTES <= answer.length; ) {
    const size = viewOf(answer).getUint32(at, true);
    const bytes = answer.subarray(at + HEAD_BYTES, at + HEAD_BYTES + size);
    const expected = answer.subarray(at + LENGTH_BYTES, at + HEAD_BYTES);
    const whole = size === 0 ? all.subarray(0, length) : bytes;
    const found = new Uint8Array(await crypto.subtle.digest('SHA-256', whole));
    if (found.some((byte, index) => byte !== expected[index]))
      throw new NoAnswerError('the tape is damaged: a hash does not match');
    if (size === 0) return all.subarray(0, length);
    all.set(bytes, length);
    length += size;
    at += HEAD_BYTES + size;
  }
  throw new NoAnswerError('the tape ended early');
}

/** Rows of one flag and a fixed number of doubles, as columns. */
export function fixedColumns(
  bytes: Uint8Array,
  doubles: number,
): { flags: Uint8Array; columns: Float64Array[] } {
  const width = 1 + 8 * doubles;
  const rows = bytes.length / width;
  if (!Number.isInteger(rows)) throw new NoAnswerError('the tape ended within a row');
  const view = viewOf(bytes);
  return {
    flags: Uint8Array.from({ length: rows }, (_, row) => view.getUint8(row * width)),
    columns: Array.from({ length: doubles }, (_, column) =>
      Float64Array.from({ length: rows }, (_value, row) =>
        view.getFloat64(row * width + 1 + 8 * column, true),
      ),
    ),
  };
}

/** A column of a block. */
export interface BlockColumn {
  /** Numbers, of all arrays one after another. */
  readonly values: ArrayLike<number>;
  /** Where the array of each row ends; null for a column of single values. */
  readonly ends: ArrayLike<number> | null;
}

interface Block {
  readonly rows: number;
  readonly columns: readonly BlockColumn[];
}

/** The types of ClickHouse that books have. */
const READERS: Readonly<Record<string, (buffer: ArrayBuffer) => ArrayLike<number>>> = {
  Bool: (buffer) => new Uint8Array(buffer),
  UInt8: (buffer) => new Uint8Array(buffer),
  UInt16: (buffer) => new Uint16Array(buffer),
  UInt32: (buffer) => new Uint32Array(buffer),
  Int64: (buffer) => Float64Array.from(new BigInt64Array(buffer), Number),
  UInt64: (buffer) => Float64Array.from(new BigUint64Array(buffer), Number),
  Float64: (buffer) => new Float64Array(buffer),
};
const WIDTHS: Readonly<Record<string, number>> = { Bool: 1, UInt8: 1, UInt16: 2, UInt32: 4 };
const WIDTH_OF_OTHERS = 8;

/**
 * The blocks of an answer in ClickHouse's format Native.
 * @see https://clickhouse.com/docs/interfaces/formats/Native
 */
export function* blocksOf(bytes: Uint8Array): Generator<Block, void> {
  let at = 0;
  const take = (count: number): ArrayBuffer => {
    if (at + count > bytes.length) throw new NoAnswerError('the tape ended within a block');
    at += count;
    // A copy, because its place in the answer may be unaligned.
    return bytes.slice(at - count, at).buffer as ArrayBuffer;
  };
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const [byte = 0] = new Uint8Array(take(1));
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const text = () => new TextDecoder().decode(take(varint()));
  const column = (rows: number): BlockColumn => {
    text();
    const type = text();
    const [, outer, inner = type] = /^(Array|Nullable)\((.*)\)$/.exec(type) ?? [];
    const read = READERS[inner];
    if (!read)
      throw new NoAnswerError(
        `a column of type ${type} is not known: use the client of the service's release`,
      );
    if (outer === 'Nullable') take(rows);
    const ends = outer === 'Array' ? Float64Array.from(new BigUint64Array(take(8 * rows)), Number) : null;
    const values = ends === null ? rows : (ends[rows - 1] ?? 0);
    return { values: read(take(values * (WIDTHS[inner] ?? WIDTH_OF_OTHERS))), ends };
  };
  while (at < bytes.length) {
    const columns = varint();
    const rows = varint();
    yield { rows, columns: Array.from({ length: columns }, () => column(rows)) };
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
