/** Shapes of the dashboard's answers about webhooks and their deliveries. */
import { z } from 'zod';
import { TICKERS } from '../market.ts';
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from '../notification.ts';
import { PUSHED_TIERS } from '../opportunity.ts';

const time = z.iso.datetime({ offset: true });

const webhookMembers = {
  webhook_id: z.string(),
  /** Of a chat: without its secret. */
  url: z.string(),
  label: z.string(),
  tiers: z.array(z.enum(PUSHED_TIERS)),
  /** Null: all tickers. */
  tickers: z.array(z.enum(TICKERS)).nullable(),
  state: z.enum(['active', 'paused']),
  /** Whether it was paused after ten consecutive failures. */
  failing: z.boolean(),
  /** Failed attempts since the last success. */
  consecutive_failures: z.int(),
  created_at: time,
  paused_at: time.nullable(),
  /** Until when the previous secret also signs; null: it no longer does. */
  previous_secret_until: time.nullable(),
  /** `signed`: signed JSON for programs; else a text for people in that chat. */
  format: z.enum(WEBHOOK_FORMATS),
  /** The events that are sent. Only operators receive faults of the service (`system.*`). */
  events: z.array(z.enum(WEBHOOK_EVENTS)),
};

export const webhookShape = z.strictObject(webhookMembers);
export const webhookListShape = z.strictObject({ webhooks: z.array(webhookShape), count: z.int() });

export const webhookWithSecretShape = z.strictObject({
  ...webhookMembers,
  /** Shown only once. */
  secret: z.string(),
});

export const newWebhookShape = z.strictObject({
  ...webhookMembers,
  /** Shown only once. Null for a chat: its messages are not signed. */
  secret: z.string().nullable(),
});

const deliveryMembers = {
  delivery_id: z.string(),
  state: z.enum(['pending', 'delivered', 'failed', 'skipped', 'expired']),
  /** Null, like `ticker` and `market_id`, unless it is an opportunity. */
  tier: z.enum(PUSHED_TIERS).nullable(),
  ticker: z.enum(TICKERS).nullable(),
  market_id: z.string().nullable(),
  test: z.boolean().describe('Whether its owner sent it as a test'),
  detected_at: z.string(),
  created_at: time,
  /** No attempt is made after it. */
  expires_at: time,
  /** Finished attempts. */
  attempts: z.int(),
  /** Null unless pending. */
  next_attempt_at: time.nullable(),
  /** The last twenty, oldest first. */
  attempt_log: z.array(
    z.strictObject({
      at: time,
      /** Null without a complete reply. */
      status: z.int().nullable(),
      latency_ms: z.int(),
      /** Null on success. */
      error: z.string().nullable(),
      /** The start of the reply's body, escaped for HTML; shorter in a list. */
      response_head: z.string(),
    }),
  ),
  event: z.enum(WEBHOOK_EVENTS),
};

export const webhookDeliveryShape = z.strictObject(deliveryMembers);

export const webhookDeliveryDetailShape = z.strictObject({
  ...deliveryMembers,
  headers: z
    .array(z.strictObject({ name: z.string(), value: z.string().nullable() }))
    .describe(
      'Of its last attempt; null: signed with the secret and not stored. Empty before the first attempt',
    ),
  payload: z
    .string()
    .describe(
      'The event as JSON: the body of every signed attempt, byte for byte. A chat is sent a text made of it',
    ),
});

export const webhookSummaryShape = z.strictObject({
  since: time.describe('Tests are not counted, nor deliveries before this'),
  delivered: z.int(),
  undelivered: z.int().describe('Failed, skipped and expired deliveries'),
  success_rate: z.number().min(0).max(1).nullable().describe('Of deliveries that ended; null: none did'),
  latency_ms_median: z.number().nullable().describe('Of the newest successful attempts; null: there is none'),
  latency_ms_p95: z.number().nullable(),
  failing_since: time
    .nullable()
    .describe('When the first delivery of the newest run of undelivered ones was created; null: none'),
  undelivered_since_failing: z.int().describe('Undelivered ones since then, tests included'),
});

export const webhookDeliveryListShape = z.strictObject({
  count: z.int(),
  deliveries: z.array(webhookDeliveryShape),
  next_cursor: z.string().nullable(),
});

export const webhookQueuedShape = z.strictObject({ delivery_id: z.string() });
export const webhookQueuedRangeShape = z.strictObject({ count: z.int() });
