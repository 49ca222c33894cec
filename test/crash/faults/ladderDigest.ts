/**
 * A text that identifies a state of both books, independent of number formats. It compares the venue's frames with the
 * API's answers.
 */
import { createHash } from 'node:crypto';

const PRICE_UNITS = 10_000;
const SIZE_UNITS = 1_000_000;
const DIGEST_LENGTH = 22;

/** Price and size as numbers in any format. */
export interface DigestLevel {
  readonly price: number | string;
  readonly size: number | string;
}

export interface BothBooks {
  readonly yes_bids: Iterable<DigestLevel>;
  readonly yes_asks: Iterable<DigestLevel>;
  readonly no_bids: Iterable<DigestLevel>;
  readonly no_asks: Iterable<DigestLevel>;
}

export function digestOf({ yes_bids, yes_asks, no_bids, no_asks }: BothBooks): string {
  const text = [yes_bids, yes_asks, no_bids, no_asks].map(sideText).join('|');
  return createHash('sha256').update(text).digest('base64').slice(0, DIGEST_LENGTH);
}

function sideText(levels: Iterable<DigestLevel>): string {
  return [...levels]
    .map(({ price, size }) => [
      Math.round(Number(price) * PRICE_UNITS),
      Math.round(Number(size) * SIZE_UNITS),
    ])
    .sort(([a = 0], [b = 0]) => a - b)
    .map(([price, size]) => `${price}:${size}`)
    .join(',');
}
