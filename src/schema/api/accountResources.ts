/** Shapes of the dashboard's own answers: users, sessions, keys. */
import { z } from 'zod';
import { TIERS } from '../tier.ts';

const time = z.iso.datetime({ offset: true });
const tier = z.enum(TIERS);

export const currentUserShape = z.strictObject({
  user: z.strictObject({ user_id: z.string(), email: z.string(), tier, operator: z.boolean() }),
});

export const sessionListShape = z.strictObject({
  sessions: z.array(
    z.strictObject({
      session_id: z.string(),
      created_at: time,
      last_seen_at: time,
      expires_at: time,
      user_agent: z.string(),
      address: z.string(),
      /** The one that asks. */
      current: z.boolean(),
    }),
  ),
});

export const ownKeyListShape = z.strictObject({
  keys: z.array(
    z.strictObject({
      key_id: z.string(),
      label: z.string(),
      prefix: z.string(),
      created_at: time,
      last_used_at: time.nullable(),
      revoked_at: time.nullable(),
      /** In the last 30 days, today included. */
      requests_30d: z.int(),
    }),
  ),
});

export const newKeyShape = z.strictObject({
  key_id: z.string(),
  label: z.string(),
  /** Shown this once. */
  key: z.string(),
  prefix: z.string(),
  created_at: time,
});

export const userShape = z.strictObject({
  user_id: z.string(),
  email: z.string(),
  tier,
  operator: z.boolean(),
  suspended: z.boolean(),
  created_at: time,
});

export const userListShape = z.strictObject({
  users: z.array(userShape),
  count: z.int(),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});

export const maintenanceShape = z.strictObject({
  on: z.boolean(),
  retry_after_seconds: z.int().nullable(),
  message: z.string().nullable(),
  since: time.nullable(),
});
