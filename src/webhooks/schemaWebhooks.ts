/** Webhooks: who wants to be told, what there is to tell, and how each telling went. */
import type { Generated } from 'kysely';
import type { Ticker } from '../schema/market.ts';
import type { PushedTier } from '../schema/opportunity.ts';

declare module '../control/schema.ts' {
  interface Schema {
    webhooks: WebhooksTable;
    webhook_events: WebhookEventsTable;
    webhook_deliveries: WebhookDeliveriesTable;
  }
}

export type WebhookState = 'active' | 'paused';
/** Why it is paused: its owner did it, or ten attempts in a row failed. */
export type PauseReason = 'owner' | 'failures';

/** A secret that a rotation replaced, encrypted for its row, and until when it is still signed with. */
export interface PreviousSecretBox {
  readonly box: string;
  readonly until_ms: number;
}

export interface WebhooksTable {
  webhook_id: string;
  user_id: string;
  url: string;
  label: string;
  /** JSON list of tiers, never empty. */
  tiers: string;
  /** JSON list of tickers; null: all. */
  tickers: string | null;
  /** JSON, milliseconds by name: since when a tier or ticker is wanted that was not from the first. */
  filters_since: string;
  /** The signing secret, encrypted for this row. */
  secret_box: string;
  /** JSON list of `PreviousSecretBox`: the secrets before the last rotations, oldest first. */
  previous_secrets: string;
  state: WebhookState;
  /** Null while active. */
  pause_reason: PauseReason | null;
  paused_ms: number | null;
  /** Attempts that failed since the last that did not. */
  consecutive_failures: number;
  created_ms: number;
  /** Registered or last resumed: what was detected before is not sent. */
  active_since_ms: number;
}

/** One opportunity that somebody is told of. */
export interface WebhookEventsTable {
  event_id: string;
  tier: PushedTier;
  ticker: Ticker;
  market_id: string;
  detected_at: string;
  /** The bytes that are sent, and signed, each time. */
  body: string;
  created_ms: number;
}

/** `failed`: the receiver wants no more of it (410). `skipped`: the webhook was paused first. `expired`: the market ended first. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'skipped', 'expired'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One event for one webhook. The row is there before the first attempt. */
export interface WebhookDeliveriesTable {
  /** Follows from webhook and event, and is the `webhook-id` of every attempt. */
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  state: DeliveryState;
  /** Attempts that are over. */
  attempts: number;
  /** Those that failed since it was last begun: what the next pause follows from. */
  step: number;
  /** Not before this. */
  due_ms: number;
  /** Not after this. */
  expires_ms: number;
  created_ms: number;
  /** JSON list of the last attempts, oldest first. */
  attempt_log: string;
  /** 1: of a test event; 0: of a detected opportunity. */
  is_test: Generated<number>;
}
