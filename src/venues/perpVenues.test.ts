import { describe, expect, test } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../test/support/fixtures.ts';
import { PERP_SAMPLES, SAMPLE_TIME_MS } from '../../test/support/perpSamples.ts';
import { VenueMessageError } from '../runtime/errors.ts';
import { PERP_VENUES } from '../schema/events.ts';
import { TICKERS } from '../schema/market.ts';
import { binancePerp } from './binance/perp.ts';
import { bybitPerp } from './bybit/perp.ts';
import { HttpRefusedError } from './http.ts';
import { hyperliquidPerp } from './hyperliquid/perp.ts';
import { okxPerp } from './okx/perp.ts';
import { PERP_FEEDS, PerpRefusedError } from './perpVenue.ts';
import { PERP_VENUE_BY_NAME } from './perpVenues.ts';

const TIMES = { receivedTimeMs: 1_773_386_409_420, roundTripMs: 12 };
const BTC = { ticker: 'BTC', ...TIMES } as const;
/** Where a venue sends the matching engine's time. */
const ENGINE_TIMES: Readonly<Record<string, number | null>> = { binance: SAMPLE_TIME_MS + 2 };

describe.each(PERP_VENUES)('%s', (name) => {
  const venue = PERP_VENUE_BY_NAME[name];
  const sample = PERP_SAMPLES[name];

  test('is registered under its name, with a feed of its own and symbols of its own', () => {
    expect(venue.name).toBe(name);
    expect(Object.values(PERP_FEEDS).filter((feed) => feed === PERP_FEEDS[name])).toHaveLength(1);
    const symbols = TICKERS.map((ticker) => venue.symbols[ticker]).filter((symbol) => symbol !== null);
    expect(new Set(symbols).size).toBe(symbols.length);
  });

  test('asks for the book of a symbol', () => {
    const { path, body } = venue.request(venue.symbols.BTC!);
    expect({ method: body ? 'POST' : 'GET', url: path, body: body ? JSON.stringify(body) : '' }).toEqual(
      sample.request,
    );
  });

  test.each(TICKERS.filter((ticker) => venue.symbols[ticker] !== null))(
    'maps a book of %s in coins',
    (ticker) => {
      expect(venue.map(sample.book(ticker, 7), { ticker, ...TIMES })).toEqual({
        kind: 'perp_depth',
        venue: name,
        ticker,
        updateId: sample.isNumbered ? 7 : SAMPLE_TIME_MS + 7,
        eventTimeMs: SAMPLE_TIME_MS + 7,
        engineTimeMs: ENGINE_TIMES[name] ?? null,
        ...TIMES,
        bids: [['1.0', '2']],
        asks: [['1.1', '3']],
      });
    },
  );

  test('shows at most 50 levels, best first, in whatever order they came', () => {
    const prices = Array.from({ length: 60 }, (_, i) => String(1 + ((i * 7) % 60)));
    const { bids, asks } = venue.map(sample.bids(prices), BTC);
    expect(bids.map(([price]) => Number(price))).toEqual(Array.from({ length: 50 }, (_, i) => 60 - i));
    expect(bids.every(([, size]) => size === '1')).toBe(true);
    expect(asks).toEqual([]);
  });

  test.each([
    ['a list', []],
    ['a text', 'OK'],
    ['an object without a book', {}],
    ['an invalid price', sample.bids(['abc'])],
    ['a negative price', sample.bids(['-1'])],
    ...[
      ['no time', '0'],
      ['a time in seconds', String(SAMPLE_TIME_MS).slice(0, 10)],
      ['a time in microseconds', `${SAMPLE_TIME_MS}000`],
      ['a time of 2100', '4102444800000'],
    ].map(([shows, time]) => [
      shows,
      JSON.parse(JSON.stringify(sample.book('BTC', 1)).replace(String(SAMPLE_TIME_MS + 1), time!)),
    ]),
  ])('rejects %s', (_shows, answer) => {
    expect(() => venue.map(answer, BTC)).toThrow(VenueMessageError);
    expect(() => venue.map(answer, BTC)).toThrow(new RegExp(`^(?:${name} |not a level: )`));
  });
});

describe('a book of another symbol', () => {
  test.each(['bybit', 'hyperliquid'] as const)('is rejected where %s names the symbol', (name) => {
    const answer = PERP_SAMPLES[name].book('ETH', 1);
    expect(() => PERP_VENUE_BY_NAME[name].map(answer, BTC)).toThrow(
      new VenueMessageError(`${name}: asked for BTC, got a book of ETH`),
    );
  });
});

test.each([
  ['bybit', 120],
  ['binance', 2_400 / 2 / 60],
  ['okx', 40 / 2],
  ['hyperliquid', 1_200 / 2 / 60],
] as const)('%s is asked for at most four fifths of its %i books a second', (name, booksMax) => {
  expect(1_000 / PERP_VENUE_BY_NAME[name].spacingMs).toBeCloseTo(0.8 * booksMax);
});

test.each([
  [403, 'access too frequent', 'banned'],
  [403, 'Access too frequent. Try again later.', 'banned'],
  [403, '{"retCode":10006,"retMsg":"Too many visits!"}', 'rate_limited'],
  [403, '{"retCode": 10018,"retMsg":"Exceeded the IP Rate Limit."}', 'rate_limited'],
  [403, '{"retCode":100061}', 'refused'],
  [403, 'not from your country', 'refused'],
  [429, '', 'rate_limited'],
])('Bybit: status %i with %j is %s', (status, excerpt, refusal) => {
  const error = new HttpRefusedError('no', { status, excerpt, retryAfterMs: null });
  expect(bybitPerp.refusalOf(error)).toBe(refusal);
});

describe('OKX', () => {
  test('converts contracts exactly', () => {
    const answer = (sizes: [string, string]) => ({
      code: '0',
      msg: '',
      data: [
        {
          asks: [['41006.8', sizes[0], '0', '1']],
          bids: [['41006.3', sizes[1], '0', '2']],
          ...{ ts: '1629966436396', seqId: 3235851742 },
        },
      ],
    });
    const sizesOf = (ticker: 'BTC' | 'ETH' | 'SOL', sizes: [string, string]) => {
      const { bids, asks } = okxPerp.map(answer(sizes), { ticker, ...TIMES });
      return [asks[0]![1], bids[0]![1]];
    };
    expect(sizesOf('BTC', ['60.5', '0.01'])).toEqual(['0.605', '0.0001']);
    expect(sizesOf('ETH', ['0.29', '12'])).toEqual(['0.029', '1.2']);
    expect(sizesOf('SOL', ['0.01', '3127'])).toEqual(['0.01', '3127']);
  });

  test('shows asks lowest first, in whatever order they came', () => {
    const asks = ['3', '1', '2'].map((price) => [price, '100', '0', '1']);
    const data = [{ asks, bids: [], ts: '1629966436396', seqId: 1 }];
    expect(okxPerp.map({ code: '0', msg: '', data }, BTC).asks).toEqual([
      ['1', '1'],
      ['2', '1'],
      ['3', '1'],
    ]);
  });

  test('refuses an answer without any book', () => {
    for (const data of [[], undefined])
      expect(() => okxPerp.map({ code: '0', msg: '', data }, BTC)).toThrow(/^okx order book: /);
    expect(() => okxPerp.map({ code: 0 }, BTC)).toThrow(/^okx answer: code /);
  });

  test('refuses a negative number of a book', () => {
    const data = [{ asks: [], bids: [], ts: '1629966436396', seqId: -1 }];
    expect(() => okxPerp.map({ code: '0', msg: '', data }, BTC)).toThrow(/^okx order book: seqId /);
  });

  test.each([
    ['50011', 'rate_limited'],
    ['50013', 'rate_limited'],
    ['50040', 'rate_limited'],
    ['51001', 'refused'],
  ] as const)('refuses with code %s as %s', (code, refusal) => {
    for (const answer of [{}, PERP_SAMPLES.okx.book('BTC', 1) as object])
      expect(() => okxPerp.map({ ...answer, code, msg: 'no' }, BTC)).toThrow(
        expect.objectContaining({ message: `okx: code ${code}: no`, refusal }),
      );
  });

  test.each(['1629966436396x', 'x1629966436396', '16299664363961', '0629966436396'])(
    'refuses the time %s',
    (ts) => {
      expect(() =>
        okxPerp.map({ code: '0', msg: '', data: [{ asks: [], bids: [], ts, seqId: 1 }] }, BTC),
      ).toThrow(/^okx order book: ts /);
    },
  );

  test('has no book of an asset whose contract is not known', () => {
    const book = { asks: [], bids: [], ts: '1629966436396', seqId: 1 };
    expect(() => okxPerp.map({ code: '0', msg: '', data: [book] }, { ...BTC, ticker: 'XRP' })).toThrow(
      new VenueMessageError('okx: a book of XRP'),
    );
  });
});

describe('Hyperliquid', () => {
  /** A real answer of 2025-10-30, cut to two levels a side. */
  const REAL = {
    coin: 'BTC',
    levels: [
      [
        { px: '110427.0', sz: '4.11882' },
        { px: '110426.0', sz: '0.31694' },
      ],
      [
        { px: '110428.0', sz: '3.72573' },
        { px: '110430.0', sz: '0.03586' },
      ],
    ],
    time: 1_761_786_491_067,
  };

  test('reads the first side as bids and the time as the update id', () => {
    expect(hyperliquidPerp.map(REAL, BTC)).toEqual({
      kind: 'perp_depth',
      venue: 'hyperliquid',
      ticker: 'BTC',
      updateId: 1_761_786_491_067,
      eventTimeMs: 1_761_786_491_067,
      engineTimeMs: null,
      ...TIMES,
      bids: [
        ['110427.0', '4.11882'],
        ['110426.0', '0.31694'],
      ],
      asks: [
        ['110428.0', '3.72573'],
        ['110430.0', '0.03586'],
      ],
    });
  });

  test('rejects sides in the other order', () => {
    expect(() => hyperliquidPerp.map({ ...REAL, levels: REAL.levels.toReversed() }, BTC)).toThrow(
      new VenueMessageError('hyperliquid: BTC is crossed, bid 110430.0 above ask 110426.0'),
    );
  });

  test.each([
    ['a third side', [[], [], []]],
    ['a size that is a number', [[{ px: '99.5', sz: 1 }], []]],
  ])('rejects %s', (_shows, levels) => {
    expect(() => hyperliquidPerp.map({ ...REAL, levels }, BTC)).toThrow(/^hyperliquid l2Book: levels/);
  });

  test('compares a bid of 99.5 with an ask of 100.5 as numbers', () => {
    const levels = [[{ px: '99.5', sz: '1' }], [{ px: '100.5', sz: '2' }]];
    const { bids, asks } = hyperliquidPerp.map({ ...REAL, levels }, BTC);
    expect([bids, asks]).toEqual([[['99.5', '1']], [['100.5', '2']]]);
  });

  test('repeats at most 40 characters of an unknown coin', () => {
    expect(() => hyperliquidPerp.map({ ...REAL, coin: 'x'.repeat(50) }, BTC)).toThrow(
      new VenueMessageError(`hyperliquid: a book of ${'x'.repeat(40)}`),
    );
  });

  test('reports null as a refusal', () => {
    const level = { px: '110426.0', sz: '1', n: 1 };
    const locked = hyperliquidPerp.map({ ...REAL, levels: [[level], [level]] }, BTC);
    expect([locked.bids, locked.asks], 'locked is not crossed').toEqual(Array(2).fill([['110426.0', '1']]));
    expect(() => hyperliquidPerp.map(null, BTC)).toThrow(
      new PerpRefusedError('hyperliquid: null instead of a book', 'refused'),
    );
  });
});

describe.skipIf(recordingsAbsent)('recordings (skipped where they are absent)', () => {
  test('the recorded REST book of Binance futures is the first 50 of its levels', () => {
    const line = recordingLines('binance/hftbacktest-usdm-btcusdt-2024-08-08/btcusdt_20240808.gz').find(
      (text) => text.includes('"lastUpdateId"'),
    )!;
    const answer = JSON.parse(line.slice(line.indexOf(' ') + 1));
    expect(answer.bids.length).toBeGreaterThan(50);
    const event = binancePerp.map(answer, BTC);
    expect(event).toMatchObject({
      updateId: 5_123_107_852_948,
      eventTimeMs: 1_723_161_256_501,
      engineTimeMs: 1_723_161_256_493,
    });
    expect(event.bids).toEqual(answer.bids.slice(0, 50));
    expect(event.asks).toEqual(answer.asks.slice(0, 50));
  });

  test('a spot book of Binance is not one of the futures', () => {
    const answer = JSON.parse(
      recording('binance/nautilus_trader-samples/spot_http_json_depth_response.json'),
    );
    expect(() => binancePerp.map(answer, BTC)).toThrow(new VenueMessageError('binance depth: no time E'));
  });

  test('an OKX book of before `seqId` is refused', () => {
    const answer = JSON.parse(recording('okx/nautilus_trader-samples/http_get_order_book.json'));
    expect(() => okxPerp.map(answer, BTC)).toThrow(/^okx order book: seqId /);
    const numbered = { ...answer, data: [{ ...answer.data[0], seqId: 1 }] };
    const { bids, eventTimeMs } = okxPerp.map(numbered, BTC);
    expect([bids[0], eventTimeMs]).toEqual([['41006.7', '0.00487921'], 1_704_067_200_000]);
  });
});
