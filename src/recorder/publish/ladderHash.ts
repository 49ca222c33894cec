import { createHash } from 'node:crypto';
import type { BookView } from '../../schema/records.ts';

/** Digits of a hash in an id: 96 bits. */
const HASH_DIGITS = 16;

/** The hash of all levels of both tokens. Two collectors with the same levels compute the same hash. */
export function ladderHash(book: {
  readonly yes: BookView;
  readonly no: BookView;
  readonly mirrored: boolean;
}): string {
  const hash = createHash('sha256');
  // Of a mirrored book, YES decides NO.
  const tokens = book.mirrored ? [book.yes] : [book.yes, book.no];
  for (const { bids, asks } of tokens) {
    for (const { count, prices, sizes } of [bids, asks]) {
      hash.update(`${count};`);
      hash.update(bytesOf(prices, count));
      hash.update(bytesOf(sizes, count));
    }
  }
  return hash.digest('base64url').slice(0, HASH_DIGITS);
}

function bytesOf(values: Uint16Array | Float64Array, count: number): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, count * values.BYTES_PER_ELEMENT);
}
