/** Tables of the signal audit: an append-only chain of entries, and tables derived from it for fast reads. */
import type { SignalTier } from '../core/signals/signal.ts';
import type { EventType, Ticker } from '../schema/market.ts';

declare module '../control/schema.ts' {
  interface Schema {
    audit_entries: AuditEntriesTable;
    audit_rows: AuditRowsTable;
    audit_days: AuditDaysTable;
    audit_outbox: AuditOutboxTable;
  }
}

/** A signal as it was first seen; what would have filled shortly after; what it paid. */
export type AuditKind = 'detected' | 'executable' | 'settled';

/** One link. Written once, never changed. */
export interface AuditEntriesTable {
  /** 1, 2, 3, ... without holes. */
  seq: number;
  audit_id: string;
  kind: AuditKind;
  at_ms: number;
  /** Canonical JSON. */
  body: string;
  /** SHA-256 in hex: of the previous entry, and of this one including it. */
  prev_hash: string;
  hash: string;
}

/** One market and kind, for filters and sums: everything here is derived from the entries. */
export interface AuditRowsTable {
  audit_id: string;
  /** Sequence number of its `detected` entry. */
  seq: number;
  market_id: string;
  tier: SignalTier;
  ticker: Ticker;
  event_type: EventType;
  detected_ms: number;
  /** End of the market's window. */
  end_ms: number;
  model_ev: number;
  /** When the available fills were recorded; null: not yet. */
  executable_ms: number | null;
  resolved_ms: number | null;
  /** USDC per share (pair); null until resolved. */
  realized: number | null;
}

/** Sums over the rows of a UTC day of detection, so that an aggregate over years reads a few rows per day. */
export interface AuditDaysTable {
  day_ms: number;
  ticker: Ticker;
  tier: SignalTier;
  event_type: EventType;
  total: number;
  resolved: number;
  /** Whole billionths of a USDC: integer sums do not depend on the order of adding. */
  model_ev_nano: number;
  realized_nano: number;
  first_ms: number;
  last_ms: number;
}

/** Written but not yet published: rows left here by a crash are published by the next start. */
interface AuditOutboxTable {
  audit_id: string;
}
