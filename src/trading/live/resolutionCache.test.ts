import { expect, test } from 'vitest';
import { MARKET } from '../../../test/support/wire.ts';
import type { Market } from '../../schema/market.ts';
import { ResolutionCache } from './resolutionCache.ts';

const settled: Market = {
  ...{ ...MARKET, status: 'resolved', outcome: 'Up', payoutYes: 1 },
  resolvedTimeMs: MARKET.endTimeMs + 60_000,
};

test.each<[string, Partial<Market>, 'none' | 'time' | 'payout']>([
  ['the same resolution', {}, 'none'],
  ['another time', { resolvedTimeMs: settled.endTimeMs + 61_000 }, 'time'],
  ['another outcome with the same payout', { outcome: null }, 'time'],
  ['another payout', { outcome: 'Down', payoutYes: 0 }, 'payout'],
  ['no resolution', { status: 'closed', outcome: null, payoutYes: null, resolvedTimeMs: null }, 'none'],
])('%s corrects a settled market’s: %j', (_, record, correction) => {
  const cache = new ResolutionCache();
  cache.note(settled);
  expect(cache.correction({ ...settled, ...record })).toBe(correction);
});

test('a record without a resolution does not take back the one before it', () => {
  const cache = new ResolutionCache();
  cache.note(settled);
  cache.note({ ...settled, status: 'closed', outcome: null, payoutYes: null, resolvedTimeMs: null });
  expect(cache.correction({ ...settled, outcome: 'Down', payoutYes: 0 })).toBe('payout');
});

test('nothing corrects a market that was not settled', () => {
  expect(new ResolutionCache().correction(settled)).toBe('none');
});

test('the resolutions of the last 5,000 markets are known', () => {
  const cache = new ResolutionCache();
  for (let at = 0; at <= 5_000; at++) cache.note({ ...settled, marketId: `0x${at}` });
  const correctionOf = (at: number) => cache.correction({ ...settled, marketId: `0x${at}`, payoutYes: 0 });
  expect([0, 1, 5_000].map(correctionOf)).toEqual(['none', 'payout', 'payout']);
});

test('a payout of a market that was annulled is a correction of the payout', () => {
  const cache = new ResolutionCache();
  cache.note({ ...settled, outcome: null, payoutYes: null });
  expect(cache.correction(settled)).toBe('payout');
});
