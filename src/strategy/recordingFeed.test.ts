import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import type { Inputs } from '../core/run/definition.ts';
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
  const prices: [string, number, number][] = [];
  const depths: [number, number][] = [];
  const stream = async (_query: string, params: Record<string, unknown> = {}) => {
    if (params.market_id === tooLarge) throw new TooMuchDataError('too many rows');
    const [fromMs, toMs] = [Number(params.from_ms), Number(params.to_ms)];
    if (params.source !== undefined) prices.push([String(params.source), fromMs, toMs]);
    if (params.venue !== undefined) depths.push([fromMs, toMs]);
    return Readable.from([]);
  };
  const inputs: Inputs = {
    ...{ tickers: ['BTC'], eventTypes: ['5m'], priceSources: ['binance_spot'], perpDepth: ['bybit'] },
  };
  const feed = new RecordingFeed(
    { rows: { stream } } as unknown as TapeSource,
    { markets, gaps: new Map(), inputs },
    new AbortController().signal,
  );
  const segments: RunSegment[] = await Array.fromAsync(feed.segments());
  return {
    ids: segments.map((segment) => segment.markets.map(({ tape }) => tape.market.marketId)),
    ends: segments.map(({ beforeMs }) => beforeMs),
    ...{ prices, depths, progress: feed.progress, dataHash: feed.dataHash() },
  };
}

test('spans are half hours from an hour before the first window; the last ends a minute after the last window', async () => {
  // Records received in the last 10 s of a span are processed in the next span.
  const { ends } = await readAll([window('0x1', at(12, 25), at(12, 30))]);
  expect(ends).toEqual([at(11, 29, 50), at(11, 59, 50), at(12, 29, 50), at(12, 30, 50)]);
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
  const spans = [
    [at(9, 50), at(10, 30)],
    [at(10, 20), at(11, 0)],
    [at(10, 50), at(11, 6)],
  ] as const;
  expect(prices).toEqual(
    spans.flatMap((span) => ['binance_spot', 'chainlink'].map((source) => [source, ...span])),
  );
});

test('nothing is read that was received more than a minute after the last window', async () => {
  const windows = [window('0x1', at(12, 25), at(12, 30)), window('0x2', at(12, 0), at(13, 7))];
  const { prices, depths } = await readAll(windows);
  expect(Math.max(...prices.map(([, , toMs]) => toMs))).toBe(at(13, 8));
  expect(Math.max(...depths.map(([, toMs]) => toMs))).toBe(at(13, 8));
});

test('a market whose recording is too large is left out, named and part of the hash', async () => {
  const markets = ['0x1', '0x2'].map((marketId) => window(marketId, at(12, 0), at(12, 5)));
  const { ids, progress, dataHash } = await readAll(markets, '0x2');
  expect([ids[0], progress]).toEqual([['0x1'], { share: 1, tooLarge: ['0x2'] }]);
  expect(dataHash).not.toBe((await readAll(markets.slice(0, 1))).dataHash);
});
