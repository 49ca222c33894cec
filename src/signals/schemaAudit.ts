/** The signal audit: a chain of entries that is only ever added to, and what is read from it quickly. */
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
  /** SHA-256 in hex: of the entry before, and of this one with it. */
  prev_hash: string;
  hash: string;
}

/** One market and tier, for filters and sums: everything here follows from the entries. */
export interface AuditRowsTable {
  audit_id: string;
  /** Of its `detected` entry. */
  seq: number;
  market_id: string;
  tier: SignalTier;
  ticker: Ticker;
  event_type: EventType;
  detected_ms: number;
  /** End of the market's window. */
  end_ms: number;
  model_ev: number;
  /** When it was found out what would have filled; null: not yet. */
  executable_ms: number | null;
  resolved_ms: number | null;
  /** USDC per share (pair); null until resolved. */
  realized: number | null;
}

/** Sums over the rows of a UTC day of detection, so that an aggregate over years reads a few rows a day. */
export interface AuditDaysTable {
  day_ms: number;
  ticker: Ticker;
  tier: SignalTier;
  event_type: EventType;
  total: number;
  resolved: number;
  /** Whole billionths of a USDC: sums that come out the same in whatever order they are added. */
  model_ev_nano: number;
  realized_nano: number;
  first_ms: number;
  last_ms: number;
}

/** Written, not yet told: what a crash leaves here is told by the next start. */
export interface AuditOutboxTable {
  audit_id: string;
}
