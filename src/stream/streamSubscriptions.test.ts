import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { StreamSubscriptions } from './streamSubscriptions.ts';

const MARKET = marketRecord({ marketId: '0xaa' });
const SERIES = { tickers: [MARKET.ticker], eventTypes: [MARKET.eventType], marketIds: [] };
const marketOf = (marketId: string) => (marketId === MARKET.marketId ? MARKET : null);
const named = (...marketIds: string[]) => ({ tickers: [], eventTypes: [], marketIds });

test('a market that was unsubscribed singly stays out of its series until the series is named again', () => {
  const subscriptions = new StreamSubscriptions();
  subscriptions.add(SERIES, marketOf);
  subscriptions.remove(named(MARKET.marketId), marketOf);
  expect(subscriptions.matches(MARKET, false)).toBe(false);
  subscriptions.add(SERIES, marketOf);
  expect(subscriptions.matches(MARKET, false)).toBe(true);
});

test('names of markets that do not exist are not remembered', () => {
  const subscriptions = new StreamSubscriptions();
  const invented = Array.from({ length: 500 }, (_, at) => `none-${at}`);
  subscriptions.remove(named(...invented), marketOf);
  const asked: string[] = [];
  subscriptions.add(SERIES, (marketId) => {
    asked.push(marketId);
    return null;
  });
  expect(asked).toEqual([]);
});
