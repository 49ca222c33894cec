/** The simulated perpetual book in the REST format of each venue, and each venue's refusals. */
import { multiplyDecimals } from '../core/money.ts';
import type { PerpVenueName } from '../schema/events.ts';
import { TICKERS, type Ticker } from '../schema/market.ts';
import type { RefusedAnswer } from './faultState.ts';
import { json, type Reply, text } from './httpReply.ts';
import type { PerpLevel, PerpState } from './perpExchange.ts';
import { USDT_SYMBOLS } from './spotFrames.ts';

type Symbols = Readonly<Record<Ticker, string | null>>;

/** OKX quotes contracts of 0.01 BTC, 0.1 ETH and 1 SOL; it lists no other asset here. */
const OKX_CONTRACTS_PER_COIN: Readonly<Partial<Record<Ticker, string>>> = { BTC: '100', ETH: '10', SOL: '1' };
const OKX_SWAPS = symbolsOf((ticker) => (ticker in OKX_CONTRACTS_PER_COIN ? `${ticker}-USDT-SWAP` : null));
const HYPERLIQUID_COINS = symbolsOf((ticker) => ticker);
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
    symbols: USDT_SYMBOLS,
    book: ({ ticker, updateId, nowMs, bids, asks }) =>
      `{"retCode":0,"retMsg":"OK","result":{"s":"${USDT_SYMBOLS[ticker]}","b":${pairs(bids)},"a":${pairs(asks)},` +
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
    symbols: USDT_SYMBOLS,
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
  const contractsPerCoin = OKX_CONTRACTS_PER_COIN[ticker];
  if (contractsPerCoin === undefined) throw new RangeError(`${ticker} has no simulated OKX swap`);
  return [price, multiplyDecimals(coins, contractsPerCoin), '0', String(ORDERS)];
}

function hyperliquidLevel([px, sz]: PerpLevel): object {
  return { px, sz, n: ORDERS };
}

function symbolsOf(symbolOf: (ticker: Ticker) => string | null): Symbols {
  return Object.fromEntries(TICKERS.map((ticker) => [ticker, symbolOf(ticker)])) as Record<
    Ticker,
    string | null
  >;
}
