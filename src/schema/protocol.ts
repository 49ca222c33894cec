/**
 * Polymarket's two protocol versions and the ids of their markets. V2 runs on other contracts, with other token ids
 * and shorter condition ids. Announced for about 2026-11-02; the evidence is of 2026-10-05 (documentation, and bodies
 * of test markets on the exchange).
 */

export const PROTOCOL_VERSIONS = ['v1', 'v2'] as const;
export type ProtocolVersion = (typeof PROTOCOL_VERSIONS)[number];

/**
 * Where a version is read: Gamma's listing, a frame of the market channel, a book from the exchange's REST interface,
 * or the exchange's record of a market.
 */
export const VERSION_PLACES = ['gamma', 'frame', 'book', 'clob_market'] as const;
export type VersionPlace = (typeof VERSION_PLACES)[number];

/** Most characters of an unknown version that are stored and logged. */
const VERSION_SHOWN_MAX = 40;
/** V1 ids have 32 bytes. V2 ids have 31; most of the venue's interfaces append a zero byte. */
const CONDITION_ID = /^0x[0-9a-f]{62}(?:[0-9a-f]{2})?$/i;
const SHORT_ID_LENGTH = 64;

/** Whether a venue's field names a version that this service knows. */
export function isProtocolVersion(value: unknown): value is ProtocolVersion {
  return value === 'v1' || value === 'v2';
}

/** The version that a venue's field names, if this service does not know it; else null. An absent version is null or "". */
export function unknownVersion(value: unknown): string | null {
  if (value === undefined || value === null || value === '' || isProtocolVersion(value)) return null;
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, VERSION_SHOWN_MAX);
}

/**
 * The internal form of a condition id: `0x` and 64 lower-case hex digits. The exchange's REST interface, the market
 * channel and the Data API use this form too. Texts that are no condition id are returned unchanged: no market has them.
 */
export function normalMarketId(text: string): string {
  if (!CONDITION_ID.test(text)) return text;
  const id = text.toLowerCase();
  return id.length === SHORT_ID_LENGTH ? `${id}00` : id;
}

/** The form in which Gamma lists a V2 market: 62 hex digits. Null for an id that no V2 market can have. */
export function shortMarketId(marketId: string): string | null {
  const isPadded =
    CONDITION_ID.test(marketId) && marketId.length > SHORT_ID_LENGTH && marketId.endsWith('00');
  return isPadded ? marketId.slice(0, SHORT_ID_LENGTH) : null;
}
