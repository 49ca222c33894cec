/** Arguments with the same meaning in every tool. */
import { z } from 'zod';
import { EVENT_TYPES, TICKERS } from '../schema/market.ts';

export const marketId = z
  .string()
  .regex(
    /^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i,
    'must be 0x and 64 hex digits; list_markets and get_market give it',
  )
  .describe('Id of a market: 0x and 64 hex digits, as list_markets and get_market give it');
const FOLLOWED =
  'A service follows some of these, by default BTC, ETH and SOL; the error for another one lists them';
export const ticker = z.enum(TICKERS).describe(`The asset whose price decides the market. ${FOLLOWED}`);
export const tickers = z
  .array(z.enum(TICKERS))
  .max(TICKERS.length)
  .describe(`Only these assets. ${FOLLOWED}`);
export const eventType = z
  .enum(EVENT_TYPES)
  .describe('Length of the market’s window, e.g. 5m: decided by the price after five minutes');
const TIME_CHARACTERS_MAX = 40;
export const time = (what: string) =>
  z.string().max(TIME_CHARACTERS_MAX).describe(`${what}; ISO 8601 in UTC, e.g. 2026-11-20T12:00:00Z`);
const CURSOR_CHARACTERS_MAX = 2_000;
export const cursor = z
  .string()
  .max(CURSOR_CHARACTERS_MAX)
  .describe('next_cursor of the previous answer, with otherwise the same arguments')
  .optional();
export const limit = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe(`Most rows of one answer, 1 to ${most}`);
export const order = z.enum(['asc', 'desc']).default('asc').describe('asc: oldest first; desc: newest first');
export const window = z
  .enum(['1h', '24h', '7d', '30d', 'all'])
  .default('24h')
  .describe('Period that ends now');
