import { hash } from 'node:crypto';
import type { ProtocolVersion } from '../../../schema/protocol.ts';

/** The hash's inputs for one token's book. Levels as wire JSON: bids ascending, asks descending. */
interface HashedBook {
  readonly marketId: string;
  readonly tokenId: string;
  /** Unix milliseconds. */
  readonly timestampMs: number;
  readonly bidsJson: string;
  readonly asksJson: string;
  /** As on the wire: "0.01". */
  readonly tickSize: string;
  /** The market's last trade price, three decimals as on the wire, "" before the first; one text for both tokens. */
  readonly lastTradePrice: string;
  /** The next two are constant in every crypto window seen: "5" and false. */
  readonly minOrderSize: string;
  readonly negRisk: boolean;
  readonly version: ProtocolVersion;
}

/**
 * The venue's fingerprint of one token's book: SHA-1 of compact JSON in the venue's key order. V2 appends the version;
 * V1 books have no such key.
 * The V1 recipe reproduces 21 recorded hashes of 2025-12, 2026-05 and 2026-09, the V2 recipe one of an empty book of
 * 2026-10-05. The venue promises neither, and a recording of 2024 does not verify, so callers stop using a recipe that
 * fails on whole snapshots.
 * @returns 40 lower-case hex digits.
 */
export function bookHash(book: HashedBook): string {
  return hash(
    'sha1',
    `{"market":"${book.marketId}","asset_id":"${book.tokenId}","timestamp":"${book.timestampMs}","hash":"",` +
      `"bids":${book.bidsJson},"asks":${book.asksJson},"min_order_size":"${book.minOrderSize}",` +
      `"tick_size":"${book.tickSize}","neg_risk":${book.negRisk},"last_trade_price":"${book.lastTradePrice}"` +
      (book.version === 'v2' ? ',"version":"v2"}' : '}'),
    'hex',
  );
}
