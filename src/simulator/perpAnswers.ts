/** The simulated perpetual book in the REST format of each venue, and each venue's refusals. */
import { multiplyDecimals } from '../core/money.ts';
import type { PerpVenueName } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';
import type { RefusedAnswer } from './faultState.ts';
import { json, type Reply, text } from './httpReply.ts';
import type { PerpLevel, PerpState } from './perpExchange.ts';

type Symbols = Readonly<Record<Ticker, string>>;

const USDT_PAIRS: Symbols = { BTC: 'BTCUSDT', ETH: 'ETHUSDT', SOL: 'SOLUSDT' };
const OKX_SWAPS: Symbols = { BTC: 'BTC-USDT-SWAP', ETH: 'ETH-USDT-SWAP', SOL: 'SOL-USDT-SWAP' };
const HYPERLIQUID_COINS: Symbols = { BTC: 'BTC', ETH: 'ETH', SOL: 'SOL' };
/** OKX quotes contracts of 0.01 BTC, 0.1 ETH and 1 SOL. */
const OKX_CONTRACTS_PER_COIN: Readonly<Record<Ticker, string>> = { BTC: '100', ETH: '10', SOL: '1' };
const HYPERLIQUID_LEVELS = 20;
/** Orders on a level; no reader uses the number. */
const ORDERS = 1;
/** How long before the poll a book was made, and the engine's time before that. */
const MADE_BEFORE_MS = 3;
const ENGINE_BEFORE_MS = 8;

/** How one simulated venue answers. */
interface PerpFormat {
  readonly symbols: Symbols;
  book(state: PerpState): string;
  unknownSymbol(nowMs: number): Reply;
  refusal(answer: RefusedAnswer, nowMs: number): Reply;
}

const forbidden: Reply = {
  status: 403,
  body: '<html>Request forbidden by administrative rules.</html>',
  contentType: 'text/html',
};

const bybitEnvelope = (nowMs: number) => ({ result: {}, retExtInfo: {}, time: Math.floor(nowMs) });

export const PERP_FORMATS: Readonly<Record<PerpVenueName, PerpFormat>> = {
  bybit: {
    symbols: USDT_PAIRS,
    book: ({ ticker, updateId, nowMs, bids, asks }) =>
      `{"retCode":0,"retMsg":"OK","result":{"s":"${USDT_PAIRS[ticker]}","b":${pairs(bids)},"a":${pairs(asks)},` +
      `"ts":${nowMs - MADE_BEFORE_MS},"u":${updateId},"seq":${updateId * 37 + 1},"cts":${nowMs - ENGINE_BEFORE_MS}},` +
      `"retExtInfo":{},"time":${nowMs}}`,
    unknownSymbol: (nowMs) =>
      json({ retCode: 10001, retMsg: 'params error: symbol invalid', ...bybitEnvelope(nowMs) }),
    refusal: (answer, nowMs) =>
      answer === 'too_many'
        ? json({ retCode: 10006, retMsg: 'Too many visits!', ...bybitEnvelope(nowMs) })
        : { status: 403, body: 'access too frequent', contentType: 'text/plain' },
  },
  binance: {
    symbols: USDT_PAIRS,
    book: ({ updateId, nowMs, bids, asks }) =>
      `{"lastUpdateId":${updateId},"E":${nowMs - MADE_BEFORE_MS},"T":${nowMs - ENGINE_BEFORE_MS},` +
      `"bids":${pairs(bids)},"asks":${pairs(asks)}}`,
    unknownSymbol: () => json({ code: -1121, msg: 'Invalid symbol.' }, 400),
    refusal: (answer) =>
      answer === 'too_many'
        ? { ...json({ code: -1003, msg: 'Too many requests.' }, 429), headers: { 'retry-after': '1' } }
        : forbidden,
  },
  okx: {
    symbols: OKX_SWAPS,
    book: ({ ticker, updateId, nowMs, bids, asks }) =>
      JSON.stringify({
        code: '0',
        msg: '',
        data: [
          {
            asks: asks.map((level) => okxLevel(ticker, level)),
            bids: bids.map((level) => okxLevel(ticker, level)),
            ts: String(nowMs - MADE_BEFORE_MS),
            seqId: updateId,
          },
        ],
      }),
    unknownSymbol: () => json({ code: '51001', msg: 'Instrument ID does not exist.', data: [] }),
    refusal: (answer) =>
      answer === 'too_many' ? json({ code: '50011', msg: 'Too Many Requests', data: [] }, 429) : forbidden,
  },
  hyperliquid: {
    symbols: HYPERLIQUID_COINS,
    book: ({ ticker, changedMs, bids, asks }) =>
      JSON.stringify({
        coin: HYPERLIQUID_COINS[ticker],
        time: changedMs,
        levels: [bids, asks].map((side) => side.slice(0, HYPERLIQUID_LEVELS).map(hyperliquidLevel)),
      }),
    unknownSymbol: () => text('null'),
    refusal: (answer) => (answer === 'too_many' ? json(null, 429) : forbidden),
  },
};

function pairs(levels: readonly PerpLevel[]): string {
  return `[${levels.map(([price, size]) => `["${price}","${size}"]`).join(',')}]`;
}

function okxLevel(ticker: Ticker, [price, coins]: PerpLevel): string[] {
  return [price, multiplyDecimals(coins, OKX_CONTRACTS_PER_COIN[ticker]), '0', String(ORDERS)];
}

function hyperliquidLevel([px, sz]: PerpLevel): object {
  return { px, sz, n: ORDERS };
}
