import { describe, expect, test } from 'vitest';
import { bookHash } from './bookHash.ts';

/** An empty book of a V2 test market, from `GET /book` on 2026-10-05. */
const V2_BOOK = {
  marketId: '0x017791f201d5a788e0039e511fc1900e5f000000000000000000000000000000',
  tokenId: '663574927012476832975694178961957910328055987427402067619466963999000625152',
  timestampMs: 1791238858575,
  bidsJson: '[]',
  asksJson: '[]',
  tickSize: '0.01',
  lastTradePrice: '',
  minOrderSize: '5',
  negRisk: false,
} as const;

describe('bookHash', () => {
  test('reproduces the recorded hash of an empty V2 book with the V2 recipe alone', () => {
    expect(bookHash({ ...V2_BOOK, version: 'v2' })).toBe('fc3846cab0c35a0977b6e5f605a4e5ff0d0b2277');
    expect(bookHash({ ...V2_BOOK, version: 'v1' })).not.toBe('fc3846cab0c35a0977b6e5f605a4e5ff0d0b2277');
  });
});
