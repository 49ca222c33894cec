import { expect, test } from 'vitest';
import { PriceHistory } from './priceHistory.ts';

const FEED = { ticker: 'BTC', source: 'chainlink' } as const;
const pointAt = (seq: number) => ({ seq, receivedMs: seq, eventMs: seq, price: 97_000 });

test('recorded prices come before the first one that was published, each once', () => {
  const history = new PriceHistory();
  for (const seq of [5, 6]) history.push(FEED, pointAt(seq));
  history.prepend(FEED, [3, 4, 5, 6, 7].map(pointAt));
  expect(history.points(FEED).map(({ seq }) => seq)).toEqual([3, 4, 5, 6]);
  expect(history.points({ ...FEED, ticker: 'ETH' })).toEqual([]);
});
