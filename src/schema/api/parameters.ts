/** Parameters with the same meaning on every endpoint. */
import { PERP_VENUES } from '../events.ts';
import { EVENT_TYPES, type Ticker } from '../market.ts';
import { normalMarketId } from '../protocol.ts';
import { datetime } from './datetime.ts';
import { optional, required, withDefault } from './fields.ts';
import { enumeration, integer, literal, number, type Type, text } from './types.ts';

/** A request may name only the assets that the service follows; they are in the order of `TICKERS`. */
export const tickerType = (tickers: readonly Ticker[]) => literal(tickers);
export const eventTypeType = enumeration('event_type', EVENT_TYPES);

/** Users have V2 ids in Gamma's form too, with 62 hex digits. */
export const marketIdType: Type<string> = { schema: text().schema, parse: normalMarketId };
export const marketId = required(
  marketIdType,
  'The venue’s condition id: 0x and 64 hex digits, or 62 as Gamma lists V2 markets',
);
export const requiredTicker = (tickers: readonly Ticker[]) =>
  required(tickerType(tickers), 'The underlying asset');
export const optionalTicker = (tickers: readonly Ticker[]) =>
  optional(tickerType(tickers), 'Only markets on this asset');
export const optionalEventType = optional(eventTypeType, 'Only markets of this window');
export const perpVenue = withDefault(
  literal(PERP_VENUES),
  PERP_VENUES[0],
  'The venue of the perpetual future; a venue that is not recorded has no rows',
);
export const start = optional(
  datetime,
  'Start of the range, inclusive; if absent, the oldest record the tier may read',
);
export const end = optional(datetime, 'End of the range, exclusive; if absent, the newest record');
export const order = withDefault(literal(['asc', 'desc']), 'asc', 'Oldest or newest first');
export const interval = optional(
  integer({ ge: 1, le: 86_400_000 }),
  'Milliseconds; returns the last state of each such interval instead of every change',
);
export const replaySpeed = withDefault(
  number({ ge: 0, le: 1_000_000 }),
  1,
  'Recorded seconds per second; 0: as fast as the client reads',
);
export const cursor = optional(text(), '`next_cursor` of the previous page');
/** The largest offset that a response can repeat exactly; a recording of a month has more rows than 10 million. */
export const offset = withDefault(
  integer({ ge: 0, le: Number.MAX_SAFE_INTEGER }),
  0,
  'Rows to skip; ignored with a cursor, which reaches the same rows faster',
);

export function limit(defaultLimit: number, max: number) {
  return withDefault(
    integer({ ge: 0, le: max }),
    defaultLimit,
    'Maximum rows in the answer; 0 only counts them',
  );
}
