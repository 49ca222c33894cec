import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { TooMuchDataError } from '../runtime/errors.ts';
import type { Market } from '../schema/market.ts';
import { RecordingFeed } from './recordingFeed.ts';
import type { RunSegment } from './runTape.ts';
import type { TapeSource } from './tapeSource.ts';

const at = (hour: number, minute: number, second = 0) => Date.UTC(2026, 10, 20, hour, minute, second);
const window = (marketId: string, startTimeMs: number, endTimeMs: number) =>
  marketRecord({ marketId, startTimeMs, endTimeMs });

/** Reads markets whose recording is empty; that of `tooLarge` exceeds the limits of a replay. */
async function readAll(markets: readonly Market[], tooLarge: string | null = null) {
  const prices: unknown[] = [];
  const stream = async (_query: string, params: Record<string, unknown> = {}) => {
    if (params.market_id === tooLarge) throw new TooMuchDataError('too many rows');
    if (params.source !== undefined) prices.push([params.source, params.from_ms, params.to_ms]);
    return Readable.from([]);
  };
  const inputs = { tickers: ['BTC'], eventTypes: ['5m'], priceSources: ['binance_spot'] } as const;
  const feed = new RecordingFeed(
    { rows: { stream } } as unknown as TapeSource,
    { markets, gaps: new Map(), inputs },
    new AbortController().signal,
  );
  const segments: RunSegment[] = await Array.fromAsync(feed.segments());
  return {
    ids: segments.map((segment) => segment.markets.map(({ tape }) => tape.market.marketId)),
    ends: segments.map(({ beforeMs }) => beforeMs),
    ...{ prices, progress: feed.progress, dataHash: feed.dataHash() },
  };
}

test('spans are half hours from an hour before the first window to a minute after the last', async () => {
  // Records received in the last 10 s of a span are processed in the next span.
  const { ends } = await readAll([window('0x1', at(12, 25), at(12, 30))]);
  expect(ends).toEqual([at(11, 29, 50), at(11, 59, 50), at(12, 29, 50), at(12, 59, 50)]);
});

test('each market is read once, in the span in which its tape begins', async () => {
  const { ids } = await readAll([
    window('0x1', at(12, 0), at(12, 5)),
    window('0x2', at(12, 29, 59), at(12, 35)),
    window('0x3', at(12, 30), at(12, 59)),
  ]);
  expect(ids).toEqual([['0x1', '0x2'], ['0x3'], [], []]);
});

test('the prices of a span are those of the deciding and the asked feeds, also those up to 10 minutes late', async () => {
  const { prices } = await readAll([window('0x1', at(11, 0), at(11, 5))]);
  const spans = [at(10, 0), at(10, 30), at(11, 0)];
  expect(prices).toEqual(
    spans.flatMap((fromMs) =>
      ['binance_spot', 'chainlink'].map((source) => [source, fromMs - 600_000, fromMs + 1_800_000]),
    ),
  );
});

test('a market whose recording is too large is left out, named and part of the hash', async () => {
  const markets = ['0x1', '0x2'].map((marketId) => window(marketId, at(12, 0), at(12, 5)));
  const { ids, progress, dataHash } = await readAll(markets, '0x2');
  expect([ids[0], progress]).toEqual([['0x1'], { marketsRead: 2, tooLarge: ['0x2'] }]);
  expect(dataHash).not.toBe((await readAll(markets.slice(0, 1))).dataHash);
});
