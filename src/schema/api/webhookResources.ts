/** Shapes of the dashboard's answers about webhooks and their deliveries. */
import { z } from 'zod';
import { TICKERS } from '../market.ts';
import { PUSHED_TIERS } from '../opportunity.ts';

const time = z.iso.datetime({ offset: true });

const webhookMembers = {
  webhook_id: z.string(),
  url: z.string(),
  label: z.string(),
  tiers: z.array(z.enum(PUSHED_TIERS)),
  /** Null: all. */
  tickers: z.array(z.enum(TICKERS)).nullable(),
  state: z.enum(['active', 'paused']),
  /** Paused because ten attempts in a row failed. */
  failing: z.boolean(),
  /** Attempts that failed since the last that did not. */
  consecutive_failures: z.int(),
  created_at: time,
  paused_at: time.nullable(),
  /** Until when the secret before the last rotation is signed with as well. */
  previous_secret_until: time.nullable(),
};

export const webhookShape = z.strictObject(webhookMembers);
export const webhookListShape = z.strictObject({ webhooks: z.array(webhookShape), count: z.int() });

export const webhookWithSecretShape = z.strictObject({
  ...webhookMembers,
  /** Shown this once. */
  secret: z.string(),
});

export const webhookDeliveryShape = z.strictObject({
  delivery_id: z.string(),
  state: z.enum(['pending', 'delivered', 'failed', 'skipped', 'expired']),
  tier: z.enum(PUSHED_TIERS),
  ticker: z.enum(TICKERS),
  market_id: z.string(),
  detected_at: z.string(),
  created_at: time,
  /** After it nothing more is tried. */
  expires_at: time,
  /** Attempts that are over. */
  attempts: z.int(),
  /** Null unless pending. */
  next_attempt_at: time.nullable(),
  /** The last twenty, oldest first. */
  attempt_log: z.array(
    z.strictObject({
      at: time,
      /** Null where no whole reply came. */
      status: z.int().nullable(),
      latency_ms: z.int(),
      /** Null on success. */
      error: z.string().nullable(),
      /** The first part of the reply's body, escaped for HTML. */
      response_head: z.string(),
    }),
  ),
});

export const webhookDeliveryListShape = z.strictObject({
  count: z.int(),
  deliveries: z.array(webhookDeliveryShape),
  next_cursor: z.string().nullable(),
});

export const webhookQueuedShape = z.strictObject({ delivery_id: z.string() });
export const webhookQueuedRangeShape = z.strictObject({ count: z.int() });
