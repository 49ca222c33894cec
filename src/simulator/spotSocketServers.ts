/** The spot exchanges' streams: Binance raw and combined, Coinbase tickers with heartbeats. */
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock, Timer } from '../runtime/clock.ts';
import { TICKERS, type Ticker } from '../schema/market.ts';
import { klineRow } from './exchangeRoutes.ts';
import type { VenueModel } from './model.ts';
import { priceStep, printPrice } from './prices.ts';
import { coinbaseTicker, rawTradeFrame, USDT_SYMBOLS } from './spotFrames.ts';
import type { SpotTrade } from './spotTape.ts';

const KLINES_MS = { kline_1m: 60_000, kline_1h: 3_600_000 } as const;
const KLINE_PERIOD_MS = 1000;
/** Coinbase drops connections that do not subscribe within this time. */
const SUBSCRIBE_WITHIN_MS = 5000;

const binanceCommand = z.object({
  method: z.enum(['SUBSCRIBE', 'UNSUBSCRIBE']),
  params: z.array(z.string()),
  id: z.union([z.int(), z.string()]).nullable().default(null),
});
const coinbaseCommand = z.object({
  type: z.enum(['subscribe', 'unsubscribe']),
  product_ids: z.array(z.string()),
  channels: z.array(z.string()),
});

interface BinanceSession {
  readonly socket: WebSocket;
  readonly streams: Set<string>;
  readonly isCombined: boolean;
}

export class BinanceSocketServer {
  readonly #model: VenueModel;
  readonly #sessions = new Set<BinanceSession>();
  readonly #lastKlineMs = new Map<Ticker, number>();

  constructor(model: VenueModel) {
    this.#model = model;
  }

  /** @param url Path and query below `/spot`: `/stream?streams=a/b`, `/ws/a/b` or `/ws`. */
  accept(socket: WebSocket, url: URL): void {
    const isCombined = url.pathname.endsWith('/stream');
    const named = isCombined
      ? (url.searchParams.get('streams') ?? '')
      : (url.pathname.split('/ws/')[1] ?? '');
    const session = { socket, isCombined, streams: new Set(named.split('/').filter((name) => name !== '')) };
    this.#sessions.add(session);
    socket.on('message', (data) => onBinanceMessage(session, String(data)));
    socket.on('ping', () => socket.pong());
    socket.on('close', () => this.#sessions.delete(session));
    socket.on('error', () => socket.terminate());
  }

  deliver(atMs: number, trade: SpotTrade): void {
    if (this.#sessions.size === 0) return;
    const symbol = USDT_SYMBOLS[trade.ticker].toLowerCase();
    this.#send(`${symbol}@trade`, () => rawTradeFrame(trade, 'trade'));
    this.#send(`${symbol}@aggTrade`, () => rawTradeFrame(trade, 'aggTrade'));
    this.#send(`${symbol}@bookTicker`, () => bookTickerFrame(trade));
    if (atMs - (this.#lastKlineMs.get(trade.ticker) ?? 0) < KLINE_PERIOD_MS) return;
    this.#lastKlineMs.set(trade.ticker, atMs);
    for (const [name, lengthMs] of Object.entries(KLINES_MS)) {
      this.#send(`${symbol}@${name}`, () =>
        this.#klineFrame(trade.ticker, { atMs, lengthMs, interval: name.slice(6) }),
      );
    }
  }

  #send(stream: string, render: () => string): void {
    let raw: string | null = null;
    for (const { socket, streams, isCombined } of this.#sessions) {
      if (!streams.has(stream) || socket.readyState !== socket.OPEN) continue;
      raw ??= render();
      socket.send(isCombined ? `{"stream":"${stream}","data":${raw}}` : raw);
    }
  }

  #klineFrame(ticker: Ticker, span: { atMs: number; lengthMs: number; interval: string }): string {
    const { atMs, lengthMs, interval } = span;
    const startMs = Math.floor(atMs / lengthMs) * lengthMs;
    const candle = this.#model.prices.candles(ticker).range(lengthMs, startMs, startMs)[0];
    const [t, o, h, l, c, v, T, q, n, V, Q] = candle
      ? klineRow(candle, { ticker, market: 'spot', lengthMs })
      : [];
    const symbol = USDT_SYMBOLS[ticker];
    const k = { t, T, s: symbol, i: interval, f: -1, L: -1, o, c, h, l, v, n, x: false, q, V, Q, B: '0' };
    return JSON.stringify({ e: 'kline', E: atMs, s: symbol, k });
  }
}

function onBinanceMessage({ socket, streams }: BinanceSession, message: string): void {
  const parsed = binanceCommand.safeParse(parseJson(message));
  if (!parsed.success) {
    socket.send('{"error":{"code":2,"msg":"Invalid request"}}');
    return;
  }
  const { method, params, id } = parsed.data;
  for (const stream of params) {
    if (method === 'SUBSCRIBE') streams.add(stream);
    else streams.delete(stream);
  }
  socket.send(JSON.stringify({ result: null, id }));
}

function bookTickerFrame({ ticker, tradeId, price }: SpotTrade): string {
  const ask = printPrice(ticker, Number(price) + priceStep(ticker));
  return JSON.stringify({
    u: tradeId,
    s: USDT_SYMBOLS[ticker],
    b: price,
    B: '1.20000',
    a: ask,
    A: '0.90000',
  });
}

interface CoinbaseSession {
  readonly socket: WebSocket;
  readonly products: Set<string>;
  readonly channels: Set<string>;
}

export class CoinbaseSocketServer {
  readonly #clock: Clock;
  readonly #sessions = new Set<CoinbaseSession>();
  readonly #sequences = new Map<Ticker, number>();
  readonly #lastTradeIds = new Map<Ticker, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  accept(socket: WebSocket): void {
    const session: CoinbaseSession = { socket, products: new Set(), channels: new Set() };
    this.#sessions.add(session);
    const deadline: Timer = this.#clock.after(SUBSCRIBE_WITHIN_MS, () => {
      if (session.channels.size === 0) socket.close(1008, 'Subscribe timeout');
    });
    socket.on('message', (data) => this.#onMessage(session, String(data)));
    socket.on('ping', () => socket.pong());
    socket.on('close', () => {
      deadline.cancel();
      this.#sessions.delete(session);
    });
    socket.on('error', () => socket.terminate());
  }

  deliver(trade: SpotTrade): void {
    const { ticker } = trade;
    this.#lastTradeIds.set(ticker, trade.tradeId);
    const sequence = this.#sequenceOf(ticker) + 1;
    this.#sequences.set(ticker, sequence);
    this.#send(ticker, 'ticker', () => coinbaseTicker(trade, sequence));
  }

  /** Sends heartbeats; call it once a second. */
  heartbeat(nowMs: number): void {
    for (const ticker of TICKERS) {
      this.#send(ticker, 'heartbeat', () =>
        JSON.stringify({
          type: 'heartbeat',
          sequence: this.#sequenceOf(ticker),
          last_trade_id: this.#lastTradeIds.get(ticker) ?? 0,
          product_id: `${ticker}-USD`,
          time: new Date(nowMs).toISOString(),
        }),
      );
    }
  }

  /** Each product counts from its own first number. */
  #sequenceOf(ticker: Ticker): number {
    return this.#sequences.get(ticker) ?? (TICKERS.indexOf(ticker) + 1) * 1_000_000;
  }

  #send(ticker: Ticker, channel: string, render: () => string): void {
    let frame: string | null = null;
    for (const { socket, products, channels } of this.#sessions) {
      if (!channels.has(channel) || !products.has(`${ticker}-USD`) || socket.readyState !== socket.OPEN)
        continue;
      frame ??= render();
      socket.send(frame);
    }
  }

  #onMessage({ socket, products, channels }: CoinbaseSession, message: string): void {
    const parsed = coinbaseCommand.safeParse(parseJson(message));
    if (!parsed.success) {
      socket.send('{"type":"error","message":"Failed to subscribe"}');
      return;
    }
    const { type, product_ids, channels: names } = parsed.data;
    for (const product of product_ids) {
      if (type === 'subscribe') products.add(product);
      else products.delete(product);
    }
    if (type === 'subscribe') for (const name of names) channels.add(name);
    const listed = [...channels].map((name) => ({ name, product_ids: [...products] }));
    socket.send(JSON.stringify({ type: 'subscriptions', channels: listed }));
  }
}

function parseJson(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    // Not JSON: the schema rejects it like any other wrong command.
    return null;
  }
}
