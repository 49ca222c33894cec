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

test('nothing corrects a market that was not settled', () => {
  expect(new ResolutionCache().correction(settled)).toBe('none');
});

test('the resolutions of several markets are known', () => {
  const cache = new ResolutionCache();
  for (const marketId of ['0x1', '0x2']) cache.note({ ...settled, marketId });
  expect(cache.correction({ ...settled, marketId: '0x1', payoutYes: 0 })).toBe('payout');
});
