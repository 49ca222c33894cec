/** Spot trades in the formats of Binance and Coinbase. */

import { namesBy } from '../venues/symbols.ts';
import { priceStep, printPrice } from './prices.ts';
import type { SpotTrade } from './spotTape.ts';

/** The same on the spot and on the futures market, and at Bybit. */
export const USDT_SYMBOLS = namesBy((ticker) => `${ticker}USDT`);
type TradeStream = 'trade' | 'aggTrade';
/** Coinbase quotes in dollars, not tethers: a basis of a few basis points. */
const COINBASE_BASIS = -0.0002;

/** The format of combined streams; `rawTradeFrame` is the same message in the format of `/ws/` streams. */
export function spotTradeFrame(trade: SpotTrade, stream: TradeStream): string {
  return `{"stream":"${USDT_SYMBOLS[trade.ticker].toLowerCase()}@${stream}","data":${rawTradeFrame(trade, stream)}}`;
}

export function rawTradeFrame(trade: SpotTrade, stream: TradeStream): string {
  const { tradeId, price, size, tradeMs, buyerIsMaker } = trade;
  const ids = stream === 'trade' ? `"t":${tradeId}` : `"a":${tradeId}`;
  const span = stream === 'trade' ? '' : `,"f":${tradeId},"l":${tradeId}`;
  return (
    `{"e":"${stream}","E":${tradeMs},"s":"${USDT_SYMBOLS[trade.ticker]}",${ids},"p":"${price}","q":"${size}"${span},` +
    `"T":${tradeMs},"m":${buyerIsMaker},"M":true}`
  );
}

export function coinbaseTicker(trade: SpotTrade, sequence: number): string {
  const { ticker } = trade;
  const ask = Number(trade.price) * (1 + COINBASE_BASIS);
  const price = printPrice(ticker, ask);
  return JSON.stringify({
    type: 'ticker',
    sequence,
    product_id: `${ticker}-USD`,
    price,
    best_bid: printPrice(ticker, Number(price) - priceStep(ticker)),
    best_ask: price,
    side: trade.buyerIsMaker ? 'sell' : 'buy',
    time: new Date(trade.tradeMs).toISOString().replace('Z', '000Z'),
    trade_id: trade.tradeId,
    last_size: trade.size,
  });
}
