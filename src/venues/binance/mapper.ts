import { VenueMessageError } from '../../runtime/errors.ts';
import type { UnderlyingEvent } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import type { MessageWatch } from '../drift/messageWatch.ts';
import { parseJson, parseShape } from '../json.ts';
import { namesBy, tickerNamed } from '../symbols.ts';
import { binanceTrade } from './messages.ts';

/** Of the spot market since 2026-09-24 for HYPE, and of the USD-M futures market. */
const SYMBOLS = namesBy((ticker) => `${ticker}USDT`);

export function binanceSymbol(ticker: Ticker): string {
  return SYMBOLS[ticker];
}

/** The message in a frame, wrapped or bare. */
export function binanceMessageOf(frame: string): unknown {
  const raw = parseJson(frame);
  return (raw as { data?: unknown } | null)?.data ?? raw;
}

/**
 * Maps one text frame of the spot streams: trades and aggregated trades become prices; other messages are ignored.
 * @throws {VenueMessageError} When a trade does not match the protocol, or the frame reports an error.
 */
export function mapBinanceFrame(
  frame: string,
  receivedTimeMs: number,
  watch: MessageWatch | null = null,
): readonly UnderlyingEvent[] {
  const message = binanceMessageOf(frame) as { e?: unknown; error?: unknown } | null;
  if (message?.error !== undefined) throw new VenueMessageError(`binance error: ${frame.slice(0, 200)}`);
  watch?.message(message?.e, message, frame, receivedTimeMs);
  if (message?.e !== 'trade' && message?.e !== 'aggTrade') return [];
  const trade = parseShape(binanceTrade, message, 'binance trade');
  watch?.heard(trade.s, receivedTimeMs);
  const ticker = tickerNamed(SYMBOLS, trade.s);
  const price = Number(trade.p);
  if (!ticker || price === 0) return [];
  return [
    { kind: 'underlying', ticker, source: 'binance_spot', price, eventTimeMs: trade.T, receivedTimeMs },
  ];
}
