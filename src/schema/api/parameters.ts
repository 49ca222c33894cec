/** Parameters that mean the same on every endpoint that has them. */
import { EVENT_TYPES, TICKERS } from '../market.ts';
import { datetime } from './datetime.ts';
import { optional, required, withDefault } from './fields.ts';
import { enumeration, integer, literal, text } from './types.ts';

export const tickerType = literal(TICKERS);
export const eventTypeType = enumeration('event_type', EVENT_TYPES);

export const marketId = required(text(), 'The venue’s condition id, 0x and hex digits');
export const requiredTicker = required(tickerType, 'The underlying asset');
export const optionalTicker = optional(tickerType, 'Only markets on this asset');
export const optionalEventType = optional(eventTypeType, 'Only markets of this window');
export const start = optional(
  datetime,
  'First moment, included; when absent the oldest record the tier may read',
);
export const end = optional(datetime, 'Last moment, not included; the newest record when absent');
export const order = withDefault(literal(['asc', 'desc']), 'asc', 'Oldest or newest first');
export const cursor = optional(text(), '`next_cursor` of the page before; `offset` then does not count');
/** Skipped rows are read: without a bound one small request reads as much as a whole recording. */
const OFFSET_MAX = 10_000_000;
export const offset = withDefault(
  integer({ ge: 0, le: OFFSET_MAX }),
  0,
  'Rows to skip; a cursor goes further',
);

export function limit(defaultLimit: number, max: number) {
  return withDefault(integer({ ge: 0, le: max }), defaultLimit, 'Most rows to answer; 0 only counts');
}
