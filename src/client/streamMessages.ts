import type { LiveOpportunity, Snapshot } from './schema.ts';

/** The markets of a stream: those that match both lists, a missing list matching all, and single markets. */
export interface Subscription {
  readonly tickers?: readonly string[];
  readonly event_types?: readonly string[];
  readonly market_ids?: readonly string[];
}

/** One state of a book. */
export type SnapshotMessage = {
  readonly type: 'snapshot';
  readonly market_id: string;
  readonly event_type: string;
  /** Pass it to continue after this message. */
  readonly cursor: string;
} & Snapshot;

/** A book cannot be trusted between the two states. */
export interface GapMessage {
  readonly type: 'gap';
  readonly market_id: string;
  readonly gap_id: string;
  readonly state: 'open' | 'closed';
  readonly cause: string;
  readonly at: string;
}

export type StreamMessage =
  | SnapshotMessage
  | GapMessage
  | {
      readonly type: 'market';
      readonly market_id: string;
      readonly status: string;
      readonly outcome: 'Up' | 'Down' | null;
    }
  /** The service left out changes for a slow client; the newest follows. */
  | { readonly type: 'skipped'; readonly market_id: string; readonly count: number }
  /** First after every connection. `resumed: false`: changes may be missing before the next snapshots. */
  | { readonly type: 'ack'; readonly subscribed: object; readonly resumed?: boolean }
  /** The last message of a replay. */
  | { readonly type: 'end' };

export type OpportunityMessage = { readonly type: 'opportunity' } & Pick<
  LiveOpportunity,
  | 'tier'
  | 'ticker'
  | 'event_type'
  | 'market_id'
  | 'polymarket_slug'
  | 'direction'
  | 'fill_price'
  | 'detected_at'
> &
  Readonly<Record<string, unknown>>;
