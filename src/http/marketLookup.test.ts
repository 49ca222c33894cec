import { expect, test } from 'vitest';
import { idleLive } from '../../test/support/api.ts';
import { UNKNOWN } from '../schema/market.ts';
import type { StoreReader } from '../store/reader.ts';
import { knownMarket, REMEMBERED_MAX } from './marketLookup.ts';
import { notFound } from './refusal.ts';

const { signal } = new AbortController();

/** A store that knows every market whose id does not begin with `no`, and a log of the ids requested. */
function rig(ticker = 'BTC') {
  const asked: string[] = [];
  const store: StoreReader = {
    rows: async <T>(_query: string, params: Record<string, unknown> = {}) => {
      const marketId = String(params.market_id);
      asked.push(marketId);
      return (marketId.startsWith('no') ? [] : [{ marketId, eventType: '5m', ticker }]) as T[];
    },
    stream: () => Promise.reject(new Error('not asked for here')),
  };
  return { asked, find: (marketId: string) => knownMarket({ live: idleLive, store }, marketId, signal) };
}

test('the store is queried once for a known market, and every time for an unknown one', async () => {
  const { asked, find } = rig();
  expect(await find('a')).toEqual({ marketId: 'a', eventType: '5m', ticker: 'BTC' });
  expect(await find('a')).toEqual({ marketId: 'a', eventType: '5m', ticker: 'BTC' });
  await expect(find('none')).rejects.toThrow(notFound('Market not found'));
  await expect(find('none')).rejects.toThrow(notFound('Market not found'));
  await expect(find('no id\0')).rejects.toThrow(notFound('Market not found'));
  expect(asked).toEqual(['a', 'none', 'none']);
});

test('another store has its own cache', async () => {
  const [one, other] = [rig('BTC'), rig('ETH')];
  expect([(await one.find('a')).ticker, (await other.find('a')).ticker]).toEqual(['BTC', 'ETH']);
});

test('a market without a series is not cached', async () => {
  const { asked, find } = rig(UNKNOWN);
  await find('a');
  await find('a');
  expect(asked).toEqual(['a', 'a']);
});

test('the entry cached longest is evicted first', async () => {
  const { asked, find } = rig();
  for (let i = 0; i <= REMEMBERED_MAX; i++) await find(`m${i}`);
  asked.length = 0;
  await find('m1');
  await find(`m${REMEMBERED_MAX}`);
  await find('m0');
  expect(asked).toEqual(['m0']);
});
