/** The REST interfaces of the two exchanges: Bybit's perpetual depth, and Binance's candles of spot and futures. */
import type { Ticker } from '../schema/market.ts';
import type { Candle } from './candles.ts';
import type { FaultState } from './faultState.ts';
import { json, type Reply, text } from './httpReply.ts';
import type { VenueModel } from './model.ts';
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

/** @returns Null when the venue has no such route. */
export function perpReply(
  model: VenueModel,
  faults: FaultState,
  { path, query, nowMs }: ExchangeRequest,
): Reply | null {
  if (path === '/v5/market/time') {
    const seconds = String(Math.floor(nowMs / 1000));
    return json({
      retCode: 0,
      retMsg: 'OK',
      result: { timeSecond: seconds, timeNano: `${Math.floor(nowMs)}000000` },
      time: nowMs,
    });
  }
  if (path !== '/v5/market/orderbook') return null;
  const refusal = faults.consumePerpRefusal();
  const envelope = { result: {}, retExtInfo: {}, time: Math.floor(nowMs) };
  if (refusal === 'too_many') return json({ retCode: 10006, retMsg: 'Too many visits!', ...envelope });
  if (refusal) return { status: 403, body: 'access too frequent', contentType: 'text/plain' };
  const ticker = tickerOf(model, query);
  if (!ticker || query.get('category') !== 'linear') {
    return json({ retCode: 10001, retMsg: 'params error: symbol invalid', ...envelope });
  }
  return text(model.perp.answer(ticker, nowMs));
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
