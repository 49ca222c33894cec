import type { PerpDepthEvent, PerpVenueName } from '../../src/schema/events.ts';
import type { Ticker } from '../../src/schema/market.ts';

/** The time of the update id 0 in every sample. */
export const SAMPLE_TIME_MS = 1_773_386_409_389;

/** Status, body and headers of an HTTP answer. */
type HttpAnswer = readonly [status: number, body: string, headers?: Readonly<Record<string, string>>];

/** What the conformance tests need to know of one perpetual venue. */
export interface PerpSample {
  /** The request for the book of BTC. */
  readonly request: { readonly method: string; readonly url: string; readonly body: string };
  /** Time between two polls of one of three symbols. */
  readonly periodMs: number;
  /** Whether the venue numbers its books; otherwise their time is their number. */
  readonly isNumbered: boolean;
  /**
   * An answer with a book of 2 coins bid at 1.0 and 3 coins asked at 1.1.
   * @param timeMs Its time after `SAMPLE_TIME_MS`; the update id where the venue numbers no books.
   */
  book(ticker: Ticker, updateId: number, timeMs?: number): unknown;
  /** An answer with these bids, one coin each. */
  bids(prices: readonly string[]): unknown;
  /** The ticker that a request asks for. */
  asked(request: { readonly url: string; readonly body: string }): string | null;
  /** Refusals in the venue's own words, with the outcome and the pause that follow. */
  readonly refusals: readonly (readonly [
    shows: string,
    answer: HttpAnswer,
    outcome: string,
    pauseMs: number,
  ])[];
}

const parameter = (url: string, name: string) => new URL(url, 'http://venue').searchParams.get(name);
const time = (timeMs: number) => SAMPLE_TIME_MS + timeMs;

/** Contracts of OKX that are one coin. */
const OKX_CONTRACTS: Readonly<Record<string, number>> = { BTC: 100, ETH: 10, SOL: 1 };

const bybit = (result: object) => ({ retCode: 0, retMsg: 'OK', result });
const okx = (data: object) => ({ code: '0', msg: '', data: [data] });

export const PERP_SAMPLES: Readonly<Record<PerpVenueName, PerpSample>> = {
  bybit: {
    request: { method: 'GET', url: '/v5/market/orderbook?category=linear&symbol=BTCUSDT&limit=50', body: '' },
    periodMs: 200,
    isNumbered: true,
    book: (ticker, u, timeMs = u) =>
      bybit({ s: `${ticker}USDT`, b: [['1.0', '2']], a: [['1.1', '3']], ts: time(timeMs), u }),
    bids: (prices) =>
      bybit({ s: 'BTCUSDT', b: prices.map((price) => [price, '1']), a: [], ts: time(1), u: 1 }),
    asked: ({ url }) => parameter(url, 'symbol')?.replace('USDT', '') ?? null,
    refusals: [
      ['a ban by address', [403, 'access too frequent'], 'banned', 600_000],
      [
        'the limit by code',
        [200, '{"retCode":10006,"retMsg":"Too many visits!","result":{}}'],
        'rate_limited',
        1_000,
      ],
      [
        'the limit by status and code',
        [403, '{"retCode":10006,"retMsg":"Too many visits"}'],
        'rate_limited',
        1_000,
      ],
      [
        'an unknown symbol',
        [200, '{"retCode":10001,"retMsg":"symbol invalid","result":{}}'],
        'refused',
        15_000,
      ],
    ],
  },
  binance: {
    request: { method: 'GET', url: '/fapi/v1/depth?symbol=BTCUSDT&limit=50', body: '' },
    periodMs: 200,
    isNumbered: true,
    book: (_ticker, lastUpdateId, timeMs = lastUpdateId) => ({
      ...{ lastUpdateId, E: time(timeMs), T: time(timeMs) - 5 },
      ...{ bids: [['1.0', '2']], asks: [['1.1', '3']] },
    }),
    bids: (prices) => ({
      ...{ lastUpdateId: 1, E: time(1), T: time(1) - 5 },
      ...{ bids: prices.map((price) => [price, '1']), asks: [] },
    }),
    asked: ({ url }) => parameter(url, 'symbol')?.replace('USDT', '') ?? null,
    refusals: [
      ['a ban', [418, '{"code":-1003,"msg":"banned"}', { 'retry-after': '120' }], 'banned', 600_000],
      ['a long ban', [418, 'banned', { 'retry-after': '7200' }], 'banned', 7_200_000],
      ['a blocked country', [451, '{"code":0,"msg":"restricted location"}'], 'refused', 15_000],
      ['an unknown symbol', [400, '{"code":-1121,"msg":"Invalid symbol."}'], 'refused', 15_000],
    ],
  },
  okx: {
    request: { method: 'GET', url: '/api/v5/market/books?instId=BTC-USDT-SWAP&sz=50', body: '' },
    periodMs: 200,
    isNumbered: true,
    book: (ticker, seqId, timeMs = seqId) => {
      const contracts = OKX_CONTRACTS[ticker] ?? Number.NaN;
      return okx({
        asks: [['1.1', String(3 * contracts), '0', '1']],
        bids: [['1.0', String(2 * contracts), '0', '4']],
        ...{ ts: String(time(timeMs)), seqId },
      });
    },
    bids: (prices) =>
      okx({ asks: [], bids: prices.map((price) => [price, '100', '0', '1']), ts: String(time(1)), seqId: 1 }),
    asked: ({ url }) => parameter(url, 'instId')?.replace('-USDT-SWAP', '') ?? null,
    refusals: [
      [
        'the limit by code',
        [200, '{"code":"50011","msg":"Rate limit reached.","data":[]}'],
        'rate_limited',
        1_000,
      ],
      [
        'the limit by status',
        [429, '{"code":"50011","msg":"Too Many Requests","data":[]}'],
        'rate_limited',
        1_000,
      ],
      [
        'an unknown instrument',
        [200, `{"code":"51001","msg":"Instrument ID doesn't exist.","data":[]}`],
        ...(['refused', 15_000] as const),
      ],
    ],
  },
  hyperliquid: {
    request: { method: 'POST', url: '/info', body: '{"type":"l2Book","coin":"BTC"}' },
    periodMs: 375,
    isNumbered: false,
    book: (coin, updateId, timeMs = updateId) => ({
      ...{ coin, time: time(timeMs) },
      levels: [[{ px: '1.0', sz: '2', n: 1 }], [{ px: '1.1', sz: '3', n: 2 }]],
    }),
    bids: (prices) => ({
      ...{ coin: 'BTC', time: time(1) },
      levels: [prices.map((px) => ({ px, sz: '1', n: 1 })), []],
    }),
    asked: ({ body }) => (JSON.parse(body) as { coin: string }).coin,
    refusals: [
      ['an unknown coin', [200, 'null'], 'refused', 15_000],
      ['a body that it cannot read', [422, 'Failed to deserialize the JSON body'], 'refused', 15_000],
    ],
  },
};

/** A book's number after `SAMPLE_TIME_MS`, whether the venue numbers books or not. */
export function sampleNumber({ venue, updateId }: PerpDepthEvent): number {
  return PERP_SAMPLES[venue].isNumbered ? updateId : updateId - SAMPLE_TIME_MS;
}
