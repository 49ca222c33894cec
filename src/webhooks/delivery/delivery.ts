import { hash } from 'node:crypto';
import type { Ticker } from '../../schema/market.ts';
import type { WebhookEventName } from '../../schema/notification.ts';
import type { Opportunity, PushedTier } from '../../schema/opportunity.ts';
import type { DeliveryState } from '../schemaWebhooks.ts';

/** Attempts kept in a delivery's log; one that is retried for a day has more. */
export const MAX_LOGGED_ATTEMPTS = 20;
/** Hexadecimal digits of a time in milliseconds, until the year 2527, and of the digest after it. */
const TIME_DIGITS = 11;
const DIGEST_DIGITS = 20;

/** The outcome of one attempt in the log. */
export interface LoggedAttempt {
  readonly at_ms: number;
  /** Null without a complete reply. */
  readonly status: number | null;
  readonly latency_ms: number;
  /** Null on success. */
  readonly error: string | null;
  /** The first part of the reply's body, escaped. */
  readonly response_head: string;
}

/** One event on its way to one webhook, while it is in memory. */
export interface Delivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly event: WebhookEventName;
  /** Null, like `ticker`, unless it is an opportunity. */
  readonly tier: PushedTier | null;
  readonly ticker: Ticker | null;
  /** The signed form, sent byte for byte; a chat gets a text made from it. */
  readonly body: Buffer;
  readonly expiresMs: number;
  readonly attempts: number;
  readonly step: number;
  readonly dueMs: number;
  readonly log: readonly LoggedAttempt[];
}

/** A delivery after an attempt, and its new state. */
export interface DeliveryOutcome {
  readonly delivery: Delivery;
  readonly state: DeliveryState;
}

/** The new state of a delivery's row. */
export interface DeliveryChange extends DeliveryOutcome {
  /** The row's due time before the change. If the row has another one, it was redelivered by hand meanwhile. */
  readonly rowDueMs: number;
}

/**
 * The same opportunity always has the same id, however often it is published. Ids begin with the detection time: new
 * rows go to the end of their index, so a commit rewrites few pages of it, whatever the size of the log.
 */
export function eventIdOf({
  market_id,
  detected_at,
}: Pick<Opportunity, 'market_id' | 'detected_at'>): string {
  return eventIdAt(Date.parse(detected_at), `${market_id}|${detected_at}`);
}

/** @param text Identifies the event, whichever process creates it. */
export function eventIdAt(timeMs: number, text: string): string {
  return `ev_${timeMs.toString(16).padStart(TIME_DIGITS, '0')}${digestOf(text)}`;
}

/** The id of an event's delivery to one webhook, equally stable. @param eventId From `eventIdOf`. */
export function deliveryIdOf(webhookId: string, eventId: string): string {
  const time = eventId.slice('ev_'.length).slice(0, TIME_DIGITS);
  return `dl_${time}${digestOf(`${webhookId}|${eventId}`)}`;
}

function digestOf(text: string): string {
  return hash('sha256', text).slice(0, DIGEST_DIGITS);
}
