import { expect, test } from 'vitest';
import { PriceHistory } from './priceHistory.ts';

const FEED = { ticker: 'BTC', source: 'chainlink' } as const;
/** Received 40 ms after its own time: a price is as old as its receive time says. */
const pointAt = (seq: number) => ({ seq, receivedMs: seq, eventMs: seq - 40, price: 97_000 });

test('recorded prices come before the first one that was published, each once', () => {
  const history = new PriceHistory();
  for (const seq of [5, 6]) history.push(FEED, pointAt(seq));
  history.prepend(FEED, [3, 4, 5, 6, 7].map(pointAt));
  expect(history.points(FEED).map(({ seq }) => seq)).toEqual([3, 4, 5, 6]);
  expect(history.points({ ...FEED, ticker: 'ETH' })).toEqual([]);
});

const HOUR_MS = 3_600_000;
const seqsOf = (history: PriceHistory) => history.points(FEED).map(({ seq }) => seq);

test('the two feeds of a ticker are apart', () => {
  const history = new PriceHistory();
  history.push(FEED, pointAt(1));
  history.push({ ...FEED, source: 'binance_spot' }, pointAt(2));
  expect(seqsOf(history)).toEqual([1]);
});

test('prices of the last hour are kept, those from before it are dropped', () => {
  const history = new PriceHistory();
  const recent = Array.from({ length: 5_000 }, (_, at) => HOUR_MS + at);
  history.push(FEED, pointAt(1));
  for (const seq of recent) history.push(FEED, pointAt(seq));
  // One price is old: too few for a cut.
  expect(seqsOf(history)).toEqual([1, ...recent]);
  const last = 2 * HOUR_MS + 4_095;
  history.push(FEED, pointAt(last));
  expect(seqsOf(history), 'the 4,097th is exactly an hour old').toEqual([1, ...recent, last]);
  history.push(FEED, pointAt(last + 1));
  expect(seqsOf(history)).toEqual([...recent.slice(4_095), last, last + 1]);
});

test('of more prices than are kept, the newest are', () => {
  const history = new PriceHistory();
  history.push(FEED, pointAt(300_000));
  history.prepend(
    FEED,
    Array.from({ length: 200_000 }, (_, at) => pointAt(at + 1)),
  );
  const points = history.points(FEED);
  expect([points.length, points[0]?.seq, points.at(-1)?.seq]).toEqual([200_000, 2, 300_000]);
  history.push(FEED, pointAt(300_001));
  expect(history.points(FEED)[0]?.seq).toBe(4_098);
});

test('a feed with as many prices as are kept takes none from before them', () => {
  const history = new PriceHistory();
  for (let at = 0; at < 200_000; at++) history.push(FEED, { ...pointAt(HOUR_MS), seq: 100 + at });
  history.prepend(FEED, [1, 2].map(pointAt));
  const points = history.points(FEED);
  expect([points.length, points[0]?.seq]).toEqual([200_000, 100]);
});
