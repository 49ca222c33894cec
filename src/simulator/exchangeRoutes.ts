/** The REST interfaces of the exchanges: perpetual depth of every venue, and Binance's candles of spot and futures. */
import { z } from 'zod';
import type { PerpVenueName } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';
import type { Candle } from './candles.ts';
import type { FaultState } from './faultState.ts';
import { json, parsedBody, type Reply, text } from './httpReply.ts';
import type { VenueModel } from './model.ts';
import { PERP_FORMATS } from './perpAnswers.ts';
import { roundPrice } from './prices.ts';
import { USDT_SYMBOLS } from './spotFrames.ts';

const INTERVALS_MS: Readonly<Record<string, number>> = {
  '1m': 60_000,
  '5m': 300_000,
  '15m': 900_000,
  '1h': 3_600_000,
  '4h': 14_400_000,
};
const DEFAULT_CANDLES = 500;
const MAX_CANDLES = 1000;

interface ExchangeRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly nowMs: number;
}

interface PerpRequest extends ExchangeRequest {
  readonly body: string;
}

/** The symbol whose book is asked for, and the levels per side; null when the venue has no such route. */
type ReadAsked = (request: PerpRequest) => { symbol: string | null; levels: number } | null;

const LEVELS_MAX = 50;
const bookRequest = z.object({ type: z.literal('l2Book'), coin: z.string() });
const ASKED_AT: Readonly<Record<PerpVenueName, ReadAsked>> = {
  bybit: ({ path, query }) => {
    if (path !== '/v5/market/orderbook') return null;
    return { symbol: query.get('category') === 'linear' ? query.get('symbol') : null, levels: LEVELS_MAX };
  },
  binance: ({ path, query }) =>
    path === '/fapi/v1/depth'
      ? { symbol: query.get('symbol'), levels: Number(query.get('limit') ?? LEVELS_MAX) }
      : null,
  okx: ({ path, query }) =>
    path === '/api/v5/market/books'
      ? { symbol: query.get('instId'), levels: Number(query.get('sz') ?? 1) }
      : null,
  hyperliquid: ({ path, body }) => {
    if (path !== '/info') return null;
    const asked = bookRequest.safeParse(parsedBody(body));
    return asked.success ? { symbol: asked.data.coin, levels: LEVELS_MAX } : null;
  },
};

/** @returns Null when the venue has no such route. */
export function perpReply(
  venue: PerpVenueName,
  { model, faults }: { model: VenueModel; faults: FaultState },
  request: PerpRequest,
): Reply | null {
  const { nowMs } = request;
  if (venue === 'bybit' && request.path === '/v5/market/time') return bybitTime(nowMs);
  const asked = ASKED_AT[venue](request);
  if (asked === null) return null;
  const format = PERP_FORMATS[venue];
  const refusal = faults.consumePerpRefusal(venue);
  if (refusal !== null) return format.refusal(refusal, nowMs);
  const ticker = model.prices.tickers.find((name) => format.symbols[name] === asked.symbol);
  if (!ticker) return format.unknownSymbol(nowMs);
  const { bids, asks, ...state } = model.perp.poll(ticker, nowMs);
  const shown = { bids: bids.slice(0, asked.levels), asks: asks.slice(0, asked.levels) };
  return text(format.book({ ...state, ...shown }));
}

function bybitTime(nowMs: number): Reply {
  const timeSecond = String(Math.floor(nowMs / 1000));
  const result = { timeSecond, timeNano: `${Math.floor(nowMs)}000000` };
  return json({ retCode: 0, retMsg: 'OK', result, time: nowMs });
}

/** @returns Null when the venue has no such route. */
export function spotReply(model: VenueModel, request: ExchangeRequest): Reply | null {
  if (request.path === '/api/v3/time') return json({ serverTime: Math.floor(request.nowMs) });
  return request.path === '/api/v3/klines' ? klinesReply(model, 'spot', request) : null;
}

/** @returns Null when the venue has no such route. */
export function futuresReply(model: VenueModel, request: ExchangeRequest): Reply | null {
  return request.path === '/fapi/v1/klines' ? klinesReply(model, 'futures', request) : null;
}

function klinesReply(
  model: VenueModel,
  market: 'spot' | 'futures',
  { query }: Pick<ExchangeRequest, 'query'>,
): Reply {
  const ticker = tickerOf(model, query);
  if (!ticker) return json({ code: -1121, msg: 'Invalid symbol.' }, 400);
  const lengthMs = INTERVALS_MS[query.get('interval') ?? ''];
  if (lengthMs === undefined) return json({ code: -1120, msg: 'Invalid interval.' }, 400);
  const candles = candlesOf(model, ticker, { query, lengthMs });
  return json(candles.map((candle) => klineRow(candle, { ticker, market, lengthMs })));
}

/** The symbols are the same on all three markets. */
function tickerOf(model: VenueModel, query: URLSearchParams): Ticker | undefined {
  return model.prices.tickers.find((ticker) => USDT_SYMBOLS[ticker] === query.get('symbol'));
}

/** With a start time: the earliest candles from it on; without one: the newest. */
function candlesOf(
  model: VenueModel,
  ticker: Ticker,
  { query, lengthMs }: { query: URLSearchParams; lengthMs: number },
): Candle[] {
  const limit = Math.min(MAX_CANDLES, Number(query.get('limit') ?? DEFAULT_CANDLES));
  const start = query.get('startTime');
  const endMs = Number(query.get('endTime') ?? Number.MAX_SAFE_INTEGER);
  const candles = model.prices.candles(ticker).range(lengthMs, Number(start ?? 0), endMs);
  return start === null ? candles.slice(-limit) : candles.slice(0, limit);
}

export function klineRow(
  candle: Candle,
  { ticker, market, lengthMs }: { ticker: Ticker; market: 'spot' | 'futures'; lengthMs: number },
): unknown[] {
  const { startMs, open, high, low, close, volume, trades } = candle;
  // The exchange rounds a price to its symbol's step, and prints eight decimals.
  const price = (value: number) => roundPrice(ticker, value, market).toFixed(8);
  const amount = (value: number) => (Math.round(value * 100) / 100).toFixed(8);
  const half = volume / 2;
  return [
    startMs,
    price(open),
    price(high),
    price(low),
    price(close),
    amount(volume),
    startMs + lengthMs - 1,
    amount(volume * close),
    trades,
    amount(half),
    amount(half * close),
    '0',
  ];
}
