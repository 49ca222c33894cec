import { expect, test } from 'vitest';
import { TAPE_MARKET } from '../../../test/support/tapes.ts';
import { MarketRegistry } from './marketRegistry.ts';
import type { MarketTracker } from './marketTracker.ts';

const trackerOf = (marketId: string, ticker: 'BTC' | 'ETH' = 'BTC') =>
  ({ market: { ...TAPE_MARKET, marketId, ticker } }) as unknown as MarketTracker;

test('a market that has left play gets no more prices, and the others of its ticker still do', () => {
  const registry = new MarketRegistry({ nowMs: 0, seq: 0 });
  const [one, other, ether] = [trackerOf('0x1'), trackerOf('0x2'), trackerOf('0x3', 'ETH')];
  for (const tracker of [one, other, ether]) registry.add(tracker);
  expect([registry.ofTicker('BTC'), registry.ofTicker('ETH')]).toEqual([[one, other], [ether]]);
  registry.leave('0x1');
  expect([registry.ofTicker('BTC'), registry.ofTicker('ETH'), registry.ofTicker('SOL')]).toEqual([
    ...[[other], [ether], []],
  ]);
  expect([...registry.trackers()]).toEqual([other, ether]);
});

test('a market that has left play is still known as one that was, a market that never came is an error', () => {
  const registry = new MarketRegistry({ nowMs: 0, seq: 0 });
  registry.add(trackerOf('0x1'));
  registry.leave('0x1');
  registry.leave('0xunwanted');
  for (const marketId of ['0x1', '0xunwanted']) {
    expect([registry.has(marketId), registry.inPlay(marketId)]).toEqual([true, null]);
    expect(() => registry.known(marketId)).toThrow(
      new RangeError(`market "${marketId}" is resolved and no longer known`),
    );
  }
  expect(registry.has('0x2')).toBe(false);
  expect(() => registry.known('0x2')).toThrow(new RangeError('market "0x2" has not been received'));
  expect(() => registry.inPlay('0x2')).toThrow(
    new RangeError('an item of market 0x2 before the market itself'),
  );
});

test('a strategy cannot change the list of open markets', () => {
  const registry = new MarketRegistry({ nowMs: 0, seq: 0 });
  registry.add(trackerOf('0x1'));
  const open = registry.open(0);
  expect([open.length, Object.isFrozen(open)]).toEqual([1, true]);
  expect(registry.open(0)).toBe(open);
});
