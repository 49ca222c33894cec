/**
 * Candles of the spot and the USD-M futures market over REST. They decide hourly and daily windows.
 * ```json
 * [[1795176000000,"97000.10000000","97010.00000000","96990.00000000","97001.55000000","12.5",1795179599999,
 *   "1212500.1",1840,"6.1","591000.2","0"]]
 * ```
 * Open time, open, high, low, close, volume, close time, then unused fields. The newest candle is still open. Before its
 * first trade a candle may exist: it has volume 0 and repeats the last close.
 * @see https://github.com/binance/binance-spot-api-docs (rest-api.md, read 2026-07)
 */
import { z } from 'zod';
import type { Ticker } from '../../schema/market.ts';
import { knownKeys, type MessageKinds } from '../drift/knownKeys.ts';
import type { MessageWatch } from '../drift/messageWatch.ts';
import type { HttpClient } from '../http.ts';
import { parseShape } from '../json.ts';
import type { CandleExchange } from './candleSource.ts';
import { binanceSymbol } from './mapper.ts';

const decimal = z.string().regex(/^\d{1,20}(\.\d{1,12})?$/);
const candle = z
  .tuple([z.number().int().positive(), decimal, decimal, decimal, decimal, decimal])
  .rest(z.unknown());
const candles = z.array(candle);
const PATHS: Readonly<Record<CandleExchange, string>> = {
  spot: '/api/v3/klines',
  futures: '/fapi/v1/klines',
};

/** Candles are lists without names, so only their shape can differ. */
export const KLINE_KINDS = { klines: knownKeys('') } satisfies MessageKinds;

type CandleInterval = '1h' | '1m';

export interface CandleQuery {
  readonly exchange: CandleExchange;
  readonly ticker: Ticker;
  readonly interval: CandleInterval;
  /** When the candle opens, Unix milliseconds. */
  readonly startTimeMs: number;
}

/** Open and close in USDT; while `closed` is false, `close` is the last price so far. */
export interface Kline {
  readonly open: number;
  readonly close: number;
  readonly closed: boolean;
}

/** Requests single candles from Binance. Fails as `HttpClient.get` does. */
export class KlinesClient {
  readonly #urls: Readonly<Record<CandleExchange, string | null>>;
  readonly #http: HttpClient;
  readonly #watch: MessageWatch;

  /** @param options.urls Bases of the REST interfaces; null for an exchange that is turned off. */
  constructor(options: { urls: Readonly<Record<CandleExchange, string | null>>; http: HttpClient }) {
    this.#urls = options.urls;
    this.#http = options.http;
    this.#watch = options.http.watch(KLINE_KINDS);
  }

  /**
   * The candle that opens at `startTimeMs`; null before its first trade, and if its exchange is turned off. It counts as
   * closed only when the next candle exists: the local clock may run ahead of the exchange's, and a close read too early
   * is a different price.
   */
  async candle({ exchange, ticker, interval, startTimeMs }: CandleQuery): Promise<Kline | null> {
    const url = this.#urls[exchange];
    if (url === null) return null;
    const query = new URLSearchParams({
      symbol: binanceSymbol(ticker),
      interval,
      startTime: String(startTimeMs),
      limit: '2',
    });
    const { body, receivedTimeMs } = await this.#http.get(`${url}${PATHS[exchange]}?${query}`);
    const read = (raw: unknown) => parseShape(candles, raw, 'binance klines');
    const [first, next] = this.#watch.read('klines', body ?? [], receivedTimeMs, read);
    if (first === undefined || first[0] !== startTimeMs) return null;
    const [, open, , , close, volume] = first;
    // The open is the first traded price, not the repeated close that stands there before the first trade.
    if (Number(volume) === 0 && next === undefined) return null;
    return { open: Number(open), close: Number(close), closed: next !== undefined };
  }
}
