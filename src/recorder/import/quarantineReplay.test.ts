import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { MARKET, WireMarket } from '../../../test/support/wire.ts';
import { VenueMessageError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Market } from '../../schema/market.ts';
import { DriftKeeper } from '../../venues/drift/driftKeeper.ts';
import { MessageWatch } from '../../venues/drift/messageWatch.ts';
import { Quarantine } from '../../venues/drift/quarantine.ts';
import { mapHyperliquidBook } from '../../venues/hyperliquid/mapper.ts';
import { HYPERLIQUID_KINDS } from '../../venues/hyperliquid/messages.ts';
import { PERP_FEEDS } from '../../venues/perpVenue.ts';
import { Recorder } from '../recorder.ts';
import { QuarantineReplay } from './quarantineReplay.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;
const PER_MILLISECOND = 4096;

/** The decoder of a later version, while `isLaterVersion`: it reads the kind `book_v9` as a `book`. */
let isLaterVersion = false;
vi.mock('../../venues/polymarket/clob/mapper.ts', async (original) => {
  const mapper = await original<typeof import('../../venues/polymarket/clob/mapper.ts')>();
  const mapClobFrame: typeof mapper.mapClobFrame = (text, ...rest) =>
    mapper.mapClobFrame(isLaterVersion ? text.replaceAll('"book_v9"', '"book"') : text, ...rest);
  return { ...mapper, mapClobFrame };
});

let dataDir: string;
let quarantine: Quarantine;
let wire: WireMarket;

beforeEach(() => {
  isLaterVersion = false;
  dataDir = temporaryDirectory();
  quarantine = new Quarantine(dataDir);
  wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4900, size: 5 * SHARE });
  wire.set({ side: 'SELL', price: 5000, size: 7 * SHARE });
});

/** Records live frames, and keeps those that are set aside. */
async function record(frames: readonly (readonly [text: string, atMs: number])[]): Promise<MemorySink> {
  const sink = new MemorySink();
  const clock = new FakeClock(T0);
  const common = { clock, log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'clock' });
  const keeper = new DriftKeeper({ ...common, dataDir });
  recorder.track(MARKET);
  for (const [text, atMs] of frames) recorder.clobFrame(text, atMs);
  recorder.close();
  await keeper.close();
  return sink;
}

/** `underround import --quarantine` without its store. */
async function importQuarantine(stored: readonly Market[] = [MARKET], priceTimesMs: readonly number[] = []) {
  const sink = new MemorySink();
  const loadMarket = async (id: string) => stored.find(({ marketId }) => marketId === id) ?? null;
  const loaders = { loadMarket, loadPriceTimes: async () => priceTimesMs };
  const replay = new QuarantineReplay({ sink, log: silentLogger, metrics: new Metrics(), ...loaders });
  const accepted = await replay.run(await quarantine.frames());
  for (const frame of accepted) await quarantine.remove(frame);
  const kept = await quarantine.frames();
  return { sink, accepted: accepted.length, kept: kept.map(({ kind }) => kind) };
}

describe('a kind of message that becomes known', () => {
  const asV9 = (text: string) => text.replaceAll('"book"', '"book_v9"');

  it('is kept while unknown, then stored once, and leaves the quarantine', async () => {
    const live = await record([[asV9(wire.snapshot(T0)), T0 + 40]]);
    expect(live.books).toEqual([]);
    expect((await quarantine.frames()).map(({ kind, reason }) => [kind, reason])).toEqual([
      ['book_v9', 'unknown kind of message'],
      ['book_v9', 'unknown kind of message'],
    ]);
    expect(await importQuarantine()).toMatchObject({ accepted: 0, kept: ['book_v9', 'book_v9'] });
    isLaterVersion = true;
    const { sink, accepted, kept } = await importQuarantine();
    expect([accepted, kept]).toEqual([2, []]);
    expect(sink.books).toMatchObject([{ eventTimeMs: T0, receivedTimeMs: T0 + 40, trusted: true }]);
    expect(sink.books[0]?.yes).toEqual({ bids: [[4900, 5 * SHARE]], asks: [[5000, 7 * SHARE]] });
    const again = await importQuarantine();
    expect([again.accepted, again.sink.books]).toEqual([0, []]);
  });

  it('gets arrival numbers of its receive time, after the live rows of the same millisecond', async () => {
    await record([[asV9(wire.snapshot(T0)), T0 + 40]]);
    isLaterVersion = true;
    const { sink } = await importQuarantine();
    const numbers = [...sink.quotes, ...sink.books].map(({ seq }) => seq - (T0 + 40) * PER_MILLISECOND);
    expect(numbers).toEqual([2048, 2049]);
  });

  it('is untrusted while its hash does not verify, and opens no gap of its own', async () => {
    const wrong = wire.snapshot(T0).replaceAll('"size":"5"', '"size":"6"');
    await record([[asV9(wrong), T0]]);
    isLaterVersion = true;
    const { sink, accepted } = await importQuarantine();
    expect(accepted).toBe(2);
    expect(sink.books.map(({ trusted }) => trusted)).toEqual([false]);
    expect(sink.gaps).toEqual([]);
  });

  it('stays where its market has no listing, because the record of a market is never guessed', async () => {
    await record([[asV9(wire.snapshot(T0)), T0]]);
    isLaterVersion = true;
    const { sink, accepted, kept } = await importQuarantine([]);
    expect([accepted, kept]).toEqual([0, ['book_v9', 'book_v9']]);
    expect([sink.markets, sink.books]).toEqual([[], []]);
  });
});

it('a refused frame is kept with its reason and opens a gap, in which its rows stay', async () => {
  const [change = ''] = wire.action(T0 + 5_000, [{ side: 'BUY', price: 4800, size: SHARE }]);
  const cut = change.slice(0, -20);
  const fresh = new WireMarket();
  fresh.set({ side: 'BUY', price: 4900, size: 5 * SHARE });
  fresh.set({ side: 'SELL', price: 5000, size: 7 * SHARE });
  const live = await record([
    [fresh.snapshot(T0), T0],
    [cut, T0 + 5_000],
  ]);
  expect(live.gaps).toMatchObject([{ cause: 'frame_rejected', startTimeMs: T0 }]);
  const [kept] = await quarantine.frames();
  expect(kept).toMatchObject({
    ...{ feed: 'polymarket.clob', kind: 'none', text: cut, receivedTimeMs: T0 + 5_000 },
    reason: 'frame is neither JSON nor a known text',
  });
  expect(await importQuarantine()).toMatchObject({ accepted: 0, kept: ['none'] });
});

it('a cut body and an answer that nothing decodes are left', async () => {
  const frame = { kind: 'book', reason: 'r', receivedTimeMs: T0, order: 0, text: '[]', wasCut: false };
  await quarantine.add([
    { ...frame, feed: 'polymarket.clob', wasCut: true, text: '{"a":' },
    { ...frame, feed: 'polymarket.clob.rest', kind: 'market', order: 1 },
  ]);
  expect(await importQuarantine()).toMatchObject({ accepted: 0, kept: ['book', 'market'] });
});

it('a refused depth answer of Hyperliquid is set aside by the live poller, and stored once a version reads it', async () => {
  const metrics = new Metrics();
  const common = { clock: new FakeClock(T0), log: silentLogger, metrics };
  const book = (levels: unknown) => JSON.stringify({ coin: 'BTC', time: T0, levels });
  const sides = [[{ px: '110427.0', sz: '4.1', n: 9 }], [{ px: '110428.0', sz: '3.7', n: 7 }]];
  const read = (raw: unknown) => mapHyperliquidBook(raw, { receivedTimeMs: T0, roundTripMs: 1 });
  const feed = PERP_FEEDS.hyperliquid;
  const watch = new MessageWatch({ feed, kinds: HYPERLIQUID_KINDS, drift: metrics.venueDrift });
  expect(() => watch.read('orderbook', JSON.parse(book('none')), T0, read)).toThrow(VenueMessageError);
  await new DriftKeeper({ ...common, dataDir }).close();
  const [refused] = await quarantine.frames();
  expect(refused).toMatchObject({ feed, text: book('none') });
  expect(await importQuarantine()).toMatchObject({ accepted: 0, kept: ['orderbook'] });
  // The same answer as a later version would read it.
  for (const frame of await quarantine.frames()) {
    await quarantine.remove(frame);
    await quarantine.add([{ ...frame, text: book(sides) }]);
  }
  const { sink, accepted, kept } = await importQuarantine();
  expect([accepted, kept]).toEqual([1, []]);
  expect(sink.depths).toMatchObject([{ venue: 'hyperliquid', ticker: 'BTC', receivedTimeMs: T0 }]);
});

it('an answer that is a refusal stays', async () => {
  const aside = { kind: 'orderbook', reason: 'r', receivedTimeMs: T0, order: 0, wasCut: false };
  await quarantine.add([{ ...aside, feed: PERP_FEEDS.hyperliquid, text: 'null' }]);
  expect(await importQuarantine()).toMatchObject({ accepted: 0, kept: ['orderbook'] });
});

it('a change of levels stays without the book before it, and gives a row with it', async () => {
  const book = wire.snapshot(T0);
  const [change = ''] = wire.action(T0 + 1, [{ side: 'BUY', price: 4800, size: SHARE }]);
  const aside = { feed: 'polymarket.clob', reason: 'r', order: 0, wasCut: false };
  await quarantine.add([{ ...aside, kind: 'price_change', receivedTimeMs: T0 + 1, text: change }]);
  expect(await importQuarantine()).toMatchObject({ accepted: 0, kept: ['price_change'] });
  await quarantine.add([{ ...aside, kind: 'book', receivedTimeMs: T0, text: book }]);
  const { sink, accepted, kept } = await importQuarantine();
  expect([accepted, kept]).toEqual([2, []]);
  expect(sink.books.map(({ eventTimeMs, trusted }) => [eventTimeMs, trusted])).toEqual([
    [T0, true],
    [T0 + 1, true],
  ]);
});

it('late prices of every feed are stored in order of receipt', async () => {
  const point = (atMs: number, value: number) => ({
    ...{
      feed: 'polymarket.rtds',
      kind: 'update',
      reason: 'r',
      receivedTimeMs: atMs,
      order: 0,
      wasCut: false,
    },
    text: JSON.stringify({
      ...{ topic: 'crypto_prices_chainlink', type: 'update', timestamp: atMs },
      payload: { symbol: 'btc/usd', timestamp: atMs, value },
    }),
  });
  await quarantine.add([point(T0 + 2_000, 2), point(T0, 1)]);
  const { sink, accepted } = await importQuarantine();
  expect(accepted).toBe(2);
  expect(sink.underlyings.map(({ price, receivedTimeMs }) => [price, receivedTimeMs])).toEqual([
    [1, T0],
    [2, T0 + 2_000],
  ]);
});

it('a price that the store has already, from another feed, is not stored again, and its frame is gone', async () => {
  const bolt = {
    ...{ feed: 'polymarket.polybolt', kind: 'price.crypto.twap update', reason: 'r' },
    ...{ receivedTimeMs: T0 + 1_000, order: 0, wasCut: false },
    text: JSON.stringify({
      ...{ v: 1, channel: 'price.crypto.twap', seq: 3, ts: T0 },
      payload: { symbol: 'btcusd', timestamp: T0, value: 97_000, window_seconds: 60 },
    }),
  };
  await quarantine.add([bolt]);
  const { sink, accepted, kept } = await importQuarantine([MARKET], [T0]);
  expect([accepted, kept, sink.underlyings]).toEqual([1, [], []]);
});

it.each([
  ['an unknown kind', '{"e":"markPrice","s":"BTCUSDT","T":1}'],
  ['no object', 'null'],
  ['an object without a kind', '{"result":null,"id":1}'],
])('a Binance frame of %s that no decoder reads stays', async (_shows, text) => {
  const aside = { feed: 'binance', kind: 'none', reason: 'r', receivedTimeMs: T0, order: 0, wasCut: false };
  await quarantine.add([{ ...aside, text }]);
  expect(await importQuarantine()).toMatchObject({ accepted: 0, kept: ['none'] });
});
