import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { recording, recordingPath, recordingsAbsent } from '../../test/support/fixtures.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { formatPrice, formatSize } from '../core/money.ts';
import { silentLogger } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import { FrameRouter } from './frameRouter.ts';
import { importRecording } from './importRecording.ts';
import { recordingsUnder } from './recordedFiles.ts';
import { Recorder } from './recorder.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

async function importAll(target: string) {
  const sink = new MemorySink();
  const common = { clock: new FakeClock(T0), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'receipt' });
  const router = new FrameRouter({ recorder, log: silentLogger });
  let frames = 0;
  for (const file of await recordingsUnder(target)) {
    frames += await importRecording(file, { router, fallbackTimeMs: T0 });
  }
  recorder.close();
  return { sink, router, frames };
}

describe.skipIf(recordingsAbsent)('real recordings (skipped where they are absent)', () => {
  it.each([
    ['alimohammad1995-PolybotV2/frames.jsonl', 'alimohammad1995-PolybotV2/expected.json'],
    ['ww-shan-polyFIFA2026/bid-cancel-batch.jsonl', 'ww-shan-polyFIFA2026/expected-bid-cancel-batch.json'],
    ['ww-shan-polyFIFA2026/crossed-fill.jsonl', 'ww-shan-polyFIFA2026/expected-crossed-fill.json'],
  ])('%s ends in its expected best prices', async (frames, expectedFile) => {
    const { sink, router } = await importAll(recordingPath(`polymarket/${frames}`));
    const expected: { steps: { asset_id: string; best_bid: string[]; best_ask: string[] }[] } = JSON.parse(
      recording(`polymarket/${expectedFile}`),
    );
    const [market] = sink.markets;
    const last = sink.books.at(-1)!;
    for (const [token, book] of [
      [market!.yesTokenId, last.yes],
      [market!.noTokenId, last.no],
    ] as const) {
      const step = expected.steps.findLast(({ asset_id }) => asset_id === token)!;
      const top = ([price, size]: [number, number]) => [formatPrice(price), formatSize(size)];
      expect([top(book.bids[0]!), top(book.asks[0]!)]).toEqual([step.best_bid, step.best_ask]);
    }
    expect(last.trusted).toBe(true);
    expect(router.rejected).toBe(0);
  });

  it('Binance futures depth rebuilds to its final top', async () => {
    const { sink, router } = await importAll(
      recordingPath('binance/hftbacktest-usdm-btcusdt-2024-08-08/btcusdt_20240808.gz'),
    );
    const last = sink.depths.at(-1)!;
    expect([last.ticker, last.bids[0]!.map(Number), last.asks[0]!.map(Number)]).toEqual([
      'BTC',
      [61659.7, 1.486],
      [61659.8, 0.981],
    ]);
    expect(sink.depths.length).toBeGreaterThan(6500);
    expect(router.rejected).toBe(0);
    // Trades of futures are no spot prices.
    expect(sink.underlyings).toEqual([]);
  });

  it('Binance spot trades are prices of the underlying, its depth no perpetual depth', async () => {
    const { sink } = await importAll(
      recordingPath('binance/hftbacktest-spot-btcusdt-2024-08-08/btcusdt_20240808.gz'),
    );
    expect(sink.underlyings).toHaveLength(9757);
    expect(sink.depths).toEqual([]);
  });

  it('Bybit order books rebuild to their expected top', async () => {
    const { sink } = await importAll(recordingPath('bybit/linear-orderbook50-2026-03-13/frames.jsonl'));
    const expected = JSON.parse(recording('bybit/linear-orderbook50-2026-03-13/expected.json'));
    const last = sink.depths.at(-1)!;
    expect([last.updateId, last.bids[0], last.asks[0], last.bids.length, last.asks.length]).toEqual([
      expected.u,
      expected.best_bid,
      expected.best_ask,
      expected.n_bids,
      expected.n_asks,
    ]);
  });

  it('Gamma objects become markets with their outcomes', async () => {
    const lines = recording('polymarket/ligengxin96-2026-07-24/BTC-5m-markets-2026-07-24.jsonl.gz')
      .trim()
      .split('\n');
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'underround-gamma-')), 'gamma.jsonl');
    writeFileSync(
      file,
      lines.map((line) => JSON.stringify({ id: '1', slug: 'x', markets: [JSON.parse(line).raw] })).join('\n'),
    );
    const { sink } = await importAll(file);
    rmSync(path.dirname(file), { recursive: true });
    expect(sink.markets.filter(({ outcome }) => outcome === 'Up')).toHaveLength(140);
    expect(sink.markets).toHaveLength(292);
  });
});

describe('importRecording', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'underround-import-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  function wire(): WireMarket {
    const market = new WireMarket();
    market.set({ side: 'BUY', price: 4900, size: 5 * SHARE });
    market.set({ side: 'SELL', price: 5000, size: 7 * SHARE });
    return market;
  }

  it('adopts a market without a listing: first token YES, everything else unknown', async () => {
    const market = wire();
    const frames = [
      market.snapshot(T0),
      ...market.action(T0 + 1, [{ side: 'BUY', price: 4800, size: SHARE }]),
    ];
    writeFileSync(path.join(dir, 'a.jsonl'), frames.join('\n'));
    const { sink } = await importAll(dir);
    expect(sink.markets).toMatchObject([
      {
        marketId: MARKET.marketId,
        yesTokenId: MARKET.yesTokenId,
        ticker: 'unknown',
        eventType: 'unknown',
        slug: 'unknown',
      },
    ]);
    expect(
      sink.books.map(({ eventTimeMs, receivedTimeMs, trusted }) => [eventTimeMs, receivedTimeMs, trusted]),
    ).toEqual([
      [T0, T0, true],
      [T0 + 1, T0 + 1, true],
    ]);
  });

  it('ends a quiet action by the recorded receipt times', async () => {
    const market = wire();
    const [half] = market.action(T0 + 1, [
      { side: 'BUY', price: 4900, size: 0 },
      { side: 'BUY', price: 4800, size: SHARE },
    ]);
    const lines = [
      { received_ms: T0, frame: market.snapshot(T0) },
      { received_ms: T0 + 5, frame: half },
      { received_ms: T0 + 30, frame: 'PONG' },
    ];
    // The snapshot was printed after the action: rewind it by printing a fresh market's.
    lines[0]!.frame = wire().snapshot(T0);
    writeFileSync(path.join(dir, 'a.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
    const { sink } = await importAll(dir);
    expect(sink.books.map(({ trusted, receivedTimeMs }) => [trusted, receivedTimeMs])).toEqual([
      [true, T0],
      [false, T0 + 5],
    ]);
  });

  it('sets aside what no venue sends, and goes on', async () => {
    writeFileSync(path.join(dir, 'a.jsonl'), ['<html>', '{"what":"ever"}', wire().snapshot(T0)].join('\n'));
    const { sink, router, frames } = await importAll(dir);
    expect([frames, router.rejected, sink.books.length]).toEqual([3, 2, 1]);
  });
});
