import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { recording, recordingPath, recordingsAbsent } from '../../../test/support/fixtures.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../../test/support/wire.ts';
import { formatPrice, formatSize } from '../../core/money.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Market } from '../../schema/market.ts';
import { Recorder } from '../recorder.ts';
import { FrameRouter } from './frameRouter.ts';
import { importRecording } from './importRecording.ts';
import { recordingsUnder } from './recordedFiles.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

async function importAll(target: string, listed: readonly Market[] = [], log = silentLogger) {
  const sink = new MemorySink();
  const common = { clock: new FakeClock(T0), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'receipt' });
  const router = new FrameRouter({ recorder, log: silentLogger });
  for (const market of listed) recorder.track(market);
  let frames = 0;
  for (const file of await recordingsUnder(target)) {
    frames += await importRecording(file, { router, log, fallbackTimeMs: T0 });
  }
  router.finish();
  recorder.close();
  return { sink, router, frames };
}

/** The newest version of each gap. */
const gapsOf = (sink: MemorySink) => [...new Map(sink.gaps.map((gap) => [gap.gapId, gap])).values()];

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
    expect(sink.gaps).toEqual([]);
    const market = sink.markets.at(-1);
    // The tennis market's hashes verify only with a tick size of 0.001.
    expect(market?.tickSize).toBe(frames.startsWith('ww-shan') ? 10 : 100);
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

  it.each(['bid-cancel-batch', 'crossed-fill'])(
    '%s with any one of its changes missing or garbled opens the same gap as the live feed',
    async (name) => {
      const lines = recording(`polymarket/ww-shan-polyFIFA2026/${name}.jsonl`).trim().split('\n');
      const changes = lines.flatMap((line, at) => (line.includes('price_change') ? [at] : []));
      const dir = mkdtempSync(path.join(tmpdir(), 'underround-damaged-'));
      const file = path.join(dir, 'damaged.jsonl');
      for (const at of changes) {
        // Stops before the frames that would prove the book again.
        const until = lines.slice(0, (changes.at(-1) ?? 0) + 1);
        const garbled = (line: string) => line.replaceAll('BUY', 'PURCHASE').replaceAll('SELL', 'SALE');
        for (const [cause, damaged] of [
          ['book_mismatch', until.toSpliced(at, 1)],
          ['frame_rejected', until.with(at, garbled(until[at] ?? ''))],
          // The line itself is not valid JSON any more, so the frame appears in it as escaped text.
          ['frame_rejected', until.with(at, (until[at] ?? '').replace('}"', ''))],
        ] as const) {
          writeFileSync(file, damaged.join('\n'));
          const { sink } = await importAll(file);
          const [first] = sink.books;
          const gaps = gapsOf(sink);
          expect(gaps, `${cause} at line ${at}`).toMatchObject([
            { startTimeMs: first?.eventTimeMs, startReceivedMs: first?.receivedTimeMs, endTimeMs: null },
          ]);
          expect(['crossed_book', cause]).toContain(gaps[0]?.cause);
          expect(sink.quotes.at(-1)?.trusted).toBe(false);
        }
      }
      rmSync(dir, { recursive: true });
    },
  );

  it('rebuilds Binance futures depth to its final best levels', async () => {
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
    // Trades of futures are not spot prices.
    expect(sink.underlyings).toEqual([]);
  });

  it('maps Binance spot trades to prices of the underlying and ignores spot depth', async () => {
    const { sink } = await importAll(
      recordingPath('binance/hftbacktest-spot-btcusdt-2024-08-08/btcusdt_20240808.gz'),
    );
    expect(sink.underlyings).toHaveLength(9757);
    expect(sink.depths).toEqual([]);
  });

  it('rebuilds Bybit order books to their expected best levels', async () => {
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

  it('maps Gamma objects to markets with their outcomes', async () => {
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

  it('adopts a market without a listing: the first token is YES, other fields are unknown', async () => {
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
        startTimeMs: T0,
        endTimeMs: T0 + 1,
      },
    ]);
    expect(
      sink.books.map(({ eventTimeMs, receivedTimeMs, trusted }) => [eventTimeMs, receivedTimeMs, trusted]),
    ).toEqual([
      [T0, T0, true],
      [T0 + 1, T0 + 1, true],
    ]);
  });

  it('recognises a V2 listing by its positionIds, and refuses one of an unknown version', async () => {
    const conditionId = `0x01${'ab'.repeat(16)}${'0'.repeat(28)}`;
    const market = {
      ...{ conditionId, slug: MARKET.slug, question: 'q', outcomes: '["Up","Down"]', closed: false },
      ...{ version: 'v2', positionIds: ['11', '22'], orderPriceMinTickSize: 0.01 },
      endDate: new Date(MARKET.endTimeMs).toISOString(),
    };
    const events = [market, { ...market, version: 'v3' }].map((one) => ({
      ...{ id: '1', slug: MARKET.slug, markets: [one] },
    }));
    writeFileSync(path.join(dir, 'gamma.jsonl'), events.map((event) => JSON.stringify(event)).join('\n'));
    const { sink, router } = await importAll(dir);
    expect(sink.markets).toMatchObject([{ marketId: `${conditionId}00`, yesTokenId: '11', noTokenId: '22' }]);
    expect(router.counts).toEqual(new Map([['polymarket.gamma', 2]]));
    expect(router.rejected).toBe(1);
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
    // The snapshot was printed after the action: replace it by a fresh market's.
    lines[0]!.frame = wire().snapshot(T0);
    writeFileSync(path.join(dir, 'a.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
    const { sink } = await importAll(dir);
    expect(sink.books.map(({ trusted, receivedTimeMs }) => [trusted, receivedTimeMs])).toEqual([
      [true, T0],
      [false, T0 + 5],
    ]);
  });

  const CHANGES = Array.from({ length: 10 }, (_, at) => ({
    side: 'BUY' as const,
    price: 4800 - at * 100,
    size: SHARE,
  }));

  /** A snapshot and a change each second, then a whole book. */
  function frames(): [atMs: number, frame: string][] {
    const market = wire();
    const changes = CHANGES.map((change, at): [number, string] => {
      const atMs = T0 + (at + 1) * 1000;
      return [atMs, market.action(atMs, [change])[0] ?? ''];
    });
    const end = T0 + (CHANGES.length + 1) * 1000;
    const books = market.books(end).map((frame): [number, string] => [end, frame]);
    return [[T0, wire().snapshot(T0)], ...changes, ...books];
  }
  const write = (lines: readonly (readonly [number, string])[]) =>
    writeFileSync(
      path.join(dir, 'a.jsonl'),
      lines.map(([atMs, frame]) => JSON.stringify({ received_ms: atMs + 30, frame })).join('\n'),
    );

  it('opens no gap for a complete recording, whose span is the window', async () => {
    write(frames());
    const { sink } = await importAll(dir);
    expect(sink.gaps).toEqual([]);
    expect(sink.books.every(({ trusted }) => trusted)).toBe(true);
    expect(sink.markets.at(-1)).toMatchObject({
      startTimeMs: T0 + 30,
      endTimeMs: T0 + 11_030,
      tickSize: 100,
    });
  });

  it('opens a gap for a missing frame, from the last proven row to the next', async () => {
    write(frames().toSpliced(5, 1));
    const { sink } = await importAll(dir);
    const start = { startTimeMs: T0 + 4_000, startReceivedMs: T0 + 4_030 };
    const end = { endTimeMs: T0 + 11_000, endReceivedMs: T0 + 11_030, repairedBy: 'snapshot' };
    expect(gapsOf(sink)).toMatchObject([{ cause: 'book_mismatch', ...start, ...end }]);
  });

  it('opens a gap for an unreadable frame', async () => {
    const lines = frames();
    write(lines.with(5, [T0 + 5_000, lines[5]?.[1].slice(0, -20) ?? '']));
    const { sink, router } = await importAll(dir);
    expect(router.rejected).toBe(1);
    const start = { startTimeMs: T0 + 4_000, knownTimeMs: T0 + 5_030 };
    expect(gapsOf(sink)).toMatchObject([{ cause: 'frame_rejected', ...start, endTimeMs: T0 + 11_000 }]);
  });

  it('opens a gap when a recording continues with one token alone', async () => {
    const cut = frames().map(([atMs, frame], at): [number, string] => {
      const parsed = JSON.parse(frame);
      if (at < 5 || parsed.price_changes === undefined) return [atMs, frame];
      const [own] = parsed.price_changes;
      return [atMs, JSON.stringify({ ...parsed, price_changes: [own] })];
    });
    write(cut);
    const { sink } = await importAll(dir);
    const bounds = { startTimeMs: T0 + 4_000, endTimeMs: T0 + 11_000 };
    expect(gapsOf(sink)).toMatchObject([{ cause: 'silent_market', ...bounds }]);
    // Until the other token has been missing for half a second, nothing shows that it is.
    expect(sink.books.map(({ trusted }) => trusted)).toEqual([
      ...[true, true, true, true, true, true],
      ...[false, false, false, false, false, true],
    ]);
  });

  it.each([
    ['listed', true],
    ['without a listing', false],
  ])('publishes a market %s untrusted when only one token was recorded', async (_, isListed) => {
    const one = frames().flatMap(([atMs, frame]): [number, string][] => {
      const parsed = JSON.parse(frame);
      const isOwn = ({ asset_id }: { asset_id: string }) => asset_id === MARKET.yesTokenId;
      if (Array.isArray(parsed)) return [[atMs, JSON.stringify(parsed.filter(isOwn))]];
      if (parsed.price_changes === undefined) return isOwn(parsed) ? [[atMs, frame]] : [];
      const price_changes = parsed.price_changes.filter(isOwn);
      return [[atMs, JSON.stringify({ ...parsed, price_changes })]];
    });
    write(one);
    const { sink } = await importAll(dir, isListed ? [MARKET] : []);
    expect(sink.markets.at(-1)).toMatchObject({
      ...{ marketId: MARKET.marketId, yesTokenId: MARKET.yesTokenId },
      noTokenId: isListed ? MARKET.noTokenId : 'unknown',
    });
    expect(sink.books).toHaveLength(11);
    for (const { trusted, no } of sink.books) expect([trusted, no]).toEqual([false, { bids: [], asks: [] }]);
    expect(sink.books.at(-1)?.yes.bids).toHaveLength(11);
    expect(gapsOf(sink)).toMatchObject([{ cause: 'silent_market', startTimeMs: T0, endTimeMs: null }]);
  });

  it('names a market’s other token when it appears after a thousand frames of the first', async () => {
    const market = wire();
    const [yes, no] = JSON.parse(market.snapshot(T0));
    const alone = Array.from({ length: 1_200 }, (_, at) => {
      const [frame = ''] = market.action(T0 + at + 1, [{ side: 'BUY', price: 4800, size: (at + 1) * SHARE }]);
      const parsed = JSON.parse(frame);
      return JSON.stringify({ ...parsed, price_changes: parsed.price_changes.slice(0, 1) });
    });
    const lines = [JSON.stringify([yes]), ...alone, ...market.books(T0 + 5_000)];
    expect(no.asset_id).toBe(MARKET.noTokenId);
    writeFileSync(path.join(dir, 'a.jsonl'), lines.join('\n'));
    const { sink } = await importAll(dir);
    expect(sink.markets.at(-1)).toMatchObject({ noTokenId: MARKET.noTokenId });
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 5_000 });
    expect(sink.books).toHaveLength(1_202);
  });

  it('sets aside frames that no venue sends, and continues', async () => {
    writeFileSync(path.join(dir, 'a.jsonl'), ['<html>', '{"what":"ever"}', wire().snapshot(T0)].join('\n'));
    const { sink, router, frames } = await importAll(dir);
    expect([frames, router.rejected, sink.books.length]).toEqual([3, 2, 1]);
  });
});

it('records the books of Hyperliquid at their own time, and sets a book of another coin aside', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'underround-hyperliquid-'));
  const frame = (coin: string, time: number) =>
    JSON.stringify({ coin, time, levels: [[{ px: '110427.0', sz: '4.11882', n: 9 }], []] });
  const frames = [frame('BTC', T0), frame('BTC', T0), frame('PURR', T0), frame('BTC', T0 + 400)];
  writeFileSync(path.join(folder, 'books.jsonl'), frames.join('\n'));
  const { sink, router } = await importAll(folder);
  rmSync(folder, { recursive: true });
  expect(
    sink.depths.map(({ venue, eventTimeMs, receivedTimeMs }) => [venue, eventTimeMs, receivedTimeMs]),
  ).toEqual([
    ['hyperliquid', T0, T0],
    ['hyperliquid', T0 + 400, T0 + 400],
  ]);
  expect(router.rejected).toBe(1);
});
