import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { recording, recordingsAbsent } from '../../../../test/support/fixtures.ts';
import { LocalVenue } from '../../../../test/support/localVenue.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { HttpClient } from '../../http.ts';
import { ClobRest, mapClobMarket, mapClobMarketRules, mapRestBook } from './rest.ts';

const V2_MARKET = '0x017791f201d5a788e0039e511fc1900e5f000000000000000000000000000000';
const V2_TOKEN = '663574927012476832975694178961957910328055987427402067619466963999000625152';
/** `GET /book` of a V2 test market, recorded 2026-10-05. */
const V2_BOOK = {
  ...{ market: V2_MARKET, asset_id: V2_TOKEN, timestamp: '1791238858575' },
  ...{ hash: 'fc3846cab0c35a0977b6e5f605a4e5ff0d0b2277', bids: [], asks: [], min_order_size: '5' },
  ...{ tick_size: '0.01', neg_risk: false, last_trade_price: '', version: 'v2' },
};

const raw = {
  market: '0xab',
  asset_id: '111',
  timestamp: '1766481546487',
  hash: 'ab'.repeat(20),
  bids: [
    { price: '0.01', size: '3641.8' },
    { price: '0.49', size: '55' },
  ],
  asks: [{ price: '0.5', size: '0.000001' }],
  min_order_size: '5',
  tick_size: '0.01',
  neg_risk: false,
  last_trade_price: '0.500',
};

describe('mapClobMarketRules', () => {
  test.each([
    [
      'delayed by the table’s delay, with a fee',
      { c: '0x1', itode: true, fd: { r: 0.07, e: 1, to: true } },
      [0.07, 1, null],
    ],
    ['delayed by its own delay', { c: '0x1', itode: true, sd: 3 }, [null, null, 3000]],
    ['its own delay without the flag', { c: '0x1', sd: 3 }, [null, null, 3000]],
    ['0 s with the flag: the table’s delay', { c: '0x1', itode: true, sd: 0 }, [null, null, null]],
    ['not delayed, no fee stated', { c: '0x1', itode: false }, [null, null, 0]],
    ['its own delay against a flag that denies one', { c: '0x1', itode: false, sd: 3 }, [null, null, 3000]],
    ['nothing stated', { c: '0x1', itode: null, fd: null }, [null, null, null]],
    ['an absent flag proves nothing', { c: '0x1' }, [null, null, null]],
  ])('%s', (_, answer, [feeRate, feeExponent, takerDelayMs]) => {
    expect(mapClobMarketRules(answer)).toEqual({ feeRate, feeExponent, takerDelayMs, tokens: [] });
  });

  test('rejects a fee above the whole price', () => {
    expect(() => mapClobMarketRules({ c: '0x1', fd: { r: 7, e: 1 } })).toThrow(/^clob market rules: fd\.r /);
    expect(() => mapClobMarketRules({ c: '0x1', fd: { r: 1, e: 11 } })).toThrow(/^clob market rules: fd\.e /);
  });

  test.skipIf(recordingsAbsent)('the captured market of 2026-08 (skipped: recordings are absent)', () => {
    const captured = JSON.parse(recording('polymarket/pulsearb/clob_market_compact.json'));
    expect(mapClobMarketRules(captured)).toMatchObject({ feeRate: 0.07, feeExponent: 1, takerDelayMs: null });
    expect(mapClobMarketRules(captured).tokens.map(({ outcome }) => outcome)).toEqual(['Up', 'Down']);
  });

  test('labels of a recorded V2 market of 2026-10-05', () => {
    const [up, down] = [`${V2_TOKEN.slice(0, -1)}2`, `${V2_TOKEN.slice(0, -1)}3`];
    const answer = {
      ...{ r: { mi: 50, ma: 4.5, moas: 30 }, c: V2_MARKET, mos: 5, mts: 0.01, mbf: 1000, tbf: 1000 },
      t: [
        { t: up, o: 'Up' },
        { t: down, o: 'Down' },
      ],
      ...{ ao: true, cbos: true, aot: '2026-10-05T22:20:54Z', itode: true },
      ...{ fd: { r: 0.07, e: 1, to: true }, v: 'v2' },
    };
    expect(mapClobMarketRules(answer)).toEqual({
      ...{ feeRate: 0.07, feeExponent: 1, takerDelayMs: null },
      tokens: [
        { tokenId: up, outcome: 'Up' },
        { tokenId: down, outcome: 'Down' },
      ],
    });
  });
});

describe('mapRestBook', () => {
  test('returns the same event as a book from the socket', () => {
    expect(mapRestBook(raw, 9)).toEqual({
      kind: 'book_snapshot',
      marketId: '0xab',
      tokenId: '111',
      eventTimeMs: 1766481546487,
      receivedTimeMs: 9,
      hash: 'ab'.repeat(20),
      bids: { prices: [100, 4900], sizes: [3_641_800_000, 55_000_000] },
      asks: { prices: [5000], sizes: [1] },
      tickSize: '0.01',
      lastTradePrice: '0.500',
      version: null,
    });
    expect(mapRestBook({ ...raw, tick_size: undefined, last_trade_price: '' }, 9)).toMatchObject({
      tickSize: null,
      lastTradePrice: '',
    });
    expect(mapRestBook({ ...raw, tick_size: '', last_trade_price: undefined }, 9)).toMatchObject({
      tickSize: null,
      lastTradePrice: null,
    });
  });

  test('reads a recorded V2 book', () => {
    expect(mapRestBook(V2_BOOK, 9)).toMatchObject({
      ...{ marketId: V2_MARKET, tokenId: V2_TOKEN, lastTradePrice: '', version: 'v2' },
      ...{ bids: { prices: [] }, asks: { prices: [] } },
    });
    // The shorter form of the same id.
    expect(mapRestBook({ ...V2_BOOK, market: V2_MARKET.slice(0, 64) }, 9).marketId).toBe(V2_MARKET);
  });

  test.each([
    ['a price above 1', { bids: [{ price: '1.01', size: '1' }] }, /^clob book: level 1\.01 x 1$/],
    ['an invalid size', { asks: [{ price: '0.5', size: '-1' }] }, /^clob book: level 0\.5 x -1$/],
    ['a time in seconds', { timestamp: '1766481546' }, /^clob book: timestamp /],
    ['a time of 14 digits', { timestamp: '17664815464870' }, /^clob book: timestamp /],
    ['a time with a letter before it', { timestamp: 'x1766481546487' }, /^clob book: timestamp /],
    ['a time with a letter after it', { timestamp: '1766481546487x' }, /^clob book: timestamp /],
    ['a time before 2000', { timestamp: '0766481546487' }, /^clob book: timestamp /],
    ['no hash', { hash: undefined }, /^clob book: hash /],
    ['no market', { market: '' }, /^clob book: market /],
    ['no token', { asset_id: '' }, /^clob book: asset_id /],
  ])('rejects %s', (_shows, change, message) => {
    expect(() => mapRestBook({ ...raw, ...change }, 9)).toThrow(VenueMessageError);
    expect(() => mapRestBook({ ...raw, ...change }, 9)).toThrow(message);
  });

  test.skipIf(recordingsAbsent)('reads sample answers (skipped where the recordings are absent)', () => {
    const read = (name: string) =>
      mapRestBook(JSON.parse(recording(`polymarket/nautilus_trader/${name}.json`)), 9);
    expect(read('py_http_responses_book').asks.prices).toEqual([9800, 5000, 4700, 4600, 3800, 2000, 1400]);
    expect(read('rust_clob_book_response').bids.sizes).toEqual([100_000_000, 200_000_000, 150_000_000]);
  });
});

describe('mapClobMarket', () => {
  const tokens = (...winner: boolean[]) =>
    winner.map((won, i) => ({
      token_id: String(i),
      outcome: i === 0 ? 'Up' : 'Down',
      price: 0.5,
      winner: won,
    }));
  const map = (...winner: boolean[]) =>
    mapClobMarket({ condition_id: '0xab', closed: true, tokens: tokens(...winner) }).winner;

  test('names its market by the longer form of its id', () => {
    const market = { condition_id: V2_MARKET.slice(0, 64), closed: false, tokens: [] };
    expect(mapClobMarket(market).marketId).toBe(V2_MARKET);
  });

  test('returns a winner only when exactly one token won', () => {
    expect(map(false, true)).toEqual({ tokenId: '1', outcome: 'Down' });
    expect(map(false, false)).toBeNull();
    expect(map(true, true)).toBeNull();
  });

  test.skipIf(recordingsAbsent)(
    'reads a real closed market (skipped where the recordings are absent)',
    () => {
      const name = 'rust_clob_market_closed_binary_accepting_false';
      const market = JSON.parse(recording(`polymarket/nautilus_trader/${name}.json`));
      const won = market.tokens.find((token: { winner: boolean }) => token.winner);
      expect(mapClobMarket(market)).toEqual({
        marketId: market.condition_id,
        closed: true,
        winner: won ? { tokenId: won.token_id, outcome: won.outcome } : null,
        takerDelayMs: null,
      });
    },
  );
});

describe('ClobRest', () => {
  let venue: LocalVenue;
  let http: HttpClient;
  let clob: ClobRest;
  let clock: FakeClock;
  let metrics: Metrics;
  beforeEach(async () => {
    venue = await LocalVenue.start();
    clock = new FakeClock();
    metrics = new Metrics();
    const common = { log: silentLogger, metrics };
    http = new HttpClient({ ...common, feed: 'polymarket.clob', clock, random: () => 0 });
    clob = new ClobRest({ ...common, url: `${venue.httpUrl}/clob`, http });
  });
  afterEach(async () => {
    await http.close();
    await venue.stop();
  });

  test('requests many books in batches and leaves out tokens without a book', async () => {
    venue.answer = (_request, response) => {
      const asked = JSON.parse(venue.requests.at(-1)!.body) as { token_id: string }[];
      const known = asked.filter(({ token_id }) => token_id !== '7');
      response.end(JSON.stringify(known.map(({ token_id }) => ({ ...raw, asset_id: token_id }))));
    };
    const tokenIds = Array.from({ length: 130 }, (_, i) => String(i));
    const books = await clob.books(tokenIds);
    expect(books.map((book) => book.tokenId)).toEqual(tokenIds.filter((id) => id !== '7'));
    expect(venue.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(
      Array(2).fill('POST /clob/books'),
    );
    expect(JSON.parse(venue.requests[1]!.body)).toHaveLength(30);
  });

  test('returns no books for a 404 and rejects an answer of another shape', async () => {
    venue.answerJson({ error: 'No orderbook exists for the requested token id' }, 404);
    expect(await clob.books(['1'])).toEqual([]);
    venue.answerJson({ books: [] });
    await expect(clob.books(['1'])).rejects.toThrow(VenueMessageError);
  });

  test('leaves out a book of an unknown version, and counts it', async () => {
    venue.answerJson([{ ...raw, version: 'v3' }, V2_BOOK, raw]);
    expect((await clob.books(['111', V2_TOKEN])).map(({ version }) => version)).toEqual(['v2', null]);
    expect(metrics.unknownVersions.rows()).toMatchObject([
      { where: 'book', version: 'v3', markets: 1, newestMarket: '0xab' },
    ]);
    const text = await metrics.registry.metrics();
    expect(text).toContain('underround_unknown_versions_total{where="book"} 1');
  });

  test('a book that cannot be read is reported, and the other books of the answer are used', async () => {
    const unusable: string[] = [];
    const books = async (answer: readonly unknown[]) => {
      venue.answerJson(answer);
      const found = await clob.books(['111', '222', '333'], (tokenId) => unusable.push(tokenId));
      return found.map(({ tokenId }) => tokenId);
    };
    expect(await books([{ ...raw, asset_id: '222', timestamp: '' }, raw])).toEqual(['111']);
    expect(unusable.splice(0)).toEqual(['222']);
    expect(await books([raw, { ...raw, asset_id: '333', version: 'v3' }])).toEqual(['111']);
    expect(unusable.splice(0)).toEqual(['333']);
    // It may be the book of any token that has none.
    expect(await books([null, raw])).toEqual(['111']);
    expect(unusable.splice(0)).toEqual(['222', '333']);
    expect(await books([raw])).toEqual(['111']);
    expect(unusable).toEqual([]);
    expect(metrics.venueDrift.takeSetAside()).toHaveLength(3);
  });

  test('uses no rules of an unknown version', async () => {
    venue.answerJson({ c: '0xab', itode: true, v: 'v3' });
    expect(await clob.rules('0xab')).toBeNull();
    expect(metrics.unknownVersions.rows()).toMatchObject([{ where: 'clob_market', version: 'v3' }]);
    venue.answerJson({ c: '0xab', itode: true, v: 'v2' });
    expect(await clob.rules('0xab')).toMatchObject({ feeRate: null });
  });

  test('sets an answer aside that cannot be mapped, and reports the unknown fields of one that can', async () => {
    venue.answerJson([{ ...raw, hash: 7 }]);
    expect(await clob.books(['1'])).toEqual([]);
    venue.answerJson({ error: 'maintenance' });
    await expect(clob.rules('0xab')).rejects.toThrow(VenueMessageError);
    const frames = metrics.venueDrift.takeSetAside();
    expect(frames.map(({ kind, text }) => [kind, JSON.parse(text)])).toEqual([
      ['book', { ...raw, hash: 7 }],
      ['clob-market', { error: 'maintenance' }],
    ]);
    venue.answerJson({ c: '0xab', fd: { r: 0.07, e: 1, cap: 5 }, delayMs: 150 });
    await clock.advance(100);
    expect(await clob.rules('0xab')).toEqual({
      ...{ feeRate: 0.07, feeExponent: 1, takerDelayMs: null },
      tokens: [],
    });
    const unknown = metrics.venueDrift.findings().filter(({ category }) => category === 'unknown_field');
    expect(unknown.map(({ kind, key, sample }) => [kind, key, sample])).toEqual([
      ['clob-market', 'error', 'maintenance'],
      ['clob-market', 'fd.cap', '5'],
      ['clob-market', 'delayMs', '150'],
    ]);
  });

  test('returns the winner, and null for an unknown market', async () => {
    venue.answerJson({
      condition_id: '0xab',
      closed: true,
      tokens: [{ token_id: '1', outcome: 'Up', winner: true }],
      seconds_delay: '0.25',
    });
    expect(await clob.market('0xab')).toEqual({
      marketId: '0xab',
      closed: true,
      winner: { tokenId: '1', outcome: 'Up' },
      takerDelayMs: 250,
    });
    expect(venue.requests[0]!.url).toBe('/clob/markets/0xab');
    venue.answerJson({ error: 'market not found' }, 404);
    expect(await clob.market('0xcd')).toBeNull();
  });
});
