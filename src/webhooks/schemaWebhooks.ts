/** Tables of webhooks, their events and their deliveries. */
import type { Generated } from 'kysely';
import type { Ticker } from '../schema/market.ts';
import type { SystemEventName, WebhookEventName, WebhookFormat } from '../schema/notification.ts';
import type { PushedTier } from '../schema/opportunity.ts';

declare module '../control/schema.ts' {
  interface Schema {
    webhooks: WebhooksTable;
    webhook_events: WebhookEventsTable;
    webhook_deliveries: WebhookDeliveriesTable;
    system_incidents: SystemIncidentsTable;
  }
}

export type WebhookState = 'active' | 'paused';
/** Why it is paused: by its owner, or after ten consecutive failed attempts. */
export type PauseReason = 'owner' | 'failures';

/** A secret that a rotation replaced, encrypted for its row, and until when it still signs. */
export interface PreviousSecretBox {
  readonly box: string;
  readonly until_ms: number;
}

export interface WebhooksTable {
  webhook_id: string;
  user_id: string;
  /** Of a chat: without its secret. */
  url: string;
  format: Generated<WebhookFormat>;
  /** The whole URL of a chat, encrypted for this row; null: `url` is whole. */
  url_box: Generated<string | null>;
  /** JSON list of `WebhookEventName`, never empty. */
  events: Generated<string>;
  label: string;
  /** JSON list of signal kinds, never empty. */
  tiers: string;
  /** JSON list of tickers; null: all. */
  tickers: string | null;
  /** JSON, milliseconds by name: since when a later added kind or ticker is wanted. */
  filters_since: string;
  /** The signing secret, encrypted for this row. */
  secret_box: string;
  /** JSON list of `PreviousSecretBox`: the secrets before the last rotations, oldest first. */
  previous_secrets: string;
  state: WebhookState;
  /** Null while active. */
  pause_reason: PauseReason | null;
  paused_ms: number | null;
  /** Failed attempts since the last success. */
  consecutive_failures: number;
  created_ms: number;
  /** Registered or last resumed: earlier detections are not sent. */
  active_since_ms: number;
}

/** One event sent to at least one webhook. */
export interface WebhookEventsTable {
  event_id: string;
  event: Generated<WebhookEventName>;
  /** Empty, like `ticker` and `market_id`, unless it is an opportunity. */
  tier: PushedTier | '';
  ticker: Ticker | '';
  market_id: string;
  detected_at: string;
  /** The exact bytes that every attempt sends and signs. */
  body: string;
  created_ms: number;
}

/**
 * `failed`: the receiver rejects it for good (410). `skipped`: the webhook was paused first. `expired`: the market
 * ended first.
 */
const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'skipped', 'expired'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
/** States of deliveries that ended without a success. */
export const UNDELIVERED_STATES = [
  'failed',
  'skipped',
  'expired',
] as const satisfies readonly DeliveryState[];
/** A filter of the log: one state, or `undelivered` for all of `UNDELIVERED_STATES`. */
export const DELIVERY_FILTERS = [...DELIVERY_STATES, 'undelivered'] as const;
export type DeliveryFilter = (typeof DELIVERY_FILTERS)[number];

/** One event for one webhook. The row is written before the first attempt. */
export interface WebhookDeliveriesTable {
  /** Derived from webhook and event, and the `webhook-id` of every attempt. */
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  state: DeliveryState;
  /** Finished attempts. */
  attempts: number;
  /** Failed attempts since the last (re)start; determines the next pause. */
  step: number;
  /** Not tried before this. */
  due_ms: number;
  /** Not tried after this. */
  expires_ms: number;
  created_ms: number;
  /** JSON list of the last attempts, oldest first. */
  attempt_log: string;
  /** 1: of a test event; 0: of a detected opportunity. */
  is_test: Generated<number>;
}

/** A fault of the service, from its beginning to its end. One subject has at most one open incident of a kind. */
export interface SystemIncidentsTable {
  incident_id: string;
  event: SystemEventName;
  subject: string;
  summary: string;
  began_ms: number;
  /** Null while it is open. */
  ended_ms: number | null;
}
