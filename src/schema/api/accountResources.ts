/** Shapes of the dashboard's own answers: users, sessions, keys. */
import { z } from 'zod';
import { ACCOUNT_ACTIONS } from '../accountAction.ts';
import { GAP_CAUSES } from '../gap.ts';
import { EVENT_TYPES, TICKERS } from '../market.ts';
import { TIERS, tierLimitsShape } from '../tier.ts';

const time = z.iso.datetime({ offset: true });
const tier = z.enum(TIERS);

export const currentUserShape = z.strictObject({
  user: z.strictObject({ user_id: z.string(), email: z.string(), tier, operator: z.boolean() }),
});

export const signUpStateShape = z.strictObject({
  /** Where there is none, the next to sign up becomes it, and needs the setup link that the service printed. */
  has_operator: z.boolean(),
  /** Whether anybody else may make themselves an account. */
  open: z.boolean(),
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

export const secondFactorShape = z.strictObject({
  enabled: z.boolean(),
  recovery_codes_left: z.int(),
});

/** Shown this once. */
export const newSecondFactorShape = z.strictObject({
  /** In base32, as typed into an app. */
  secret: z.string(),
  /** `otpauth://...`, as a link or a QR code gives it to an app. */
  uri: z.string(),
});

/** Shown this once. */
export const recoveryCodesShape = z.strictObject({ recovery_codes: z.array(z.string()) });

export const accountEventListShape = z.strictObject({
  events: z.array(
    z.strictObject({
      event_id: z.string(),
      at: time,
      action: z.enum(ACCOUNT_ACTIONS),
      /** Why it was refused; null: it was done. */
      reason: z.string().nullable(),
      /** Of the account; null: the whole service. */
      email: z.string().nullable(),
      /** Who did it, an e-mail address or `command line`; null: the account itself, or a stranger. */
      actor: z.string().nullable(),
      /** Null on the command line. */
      address: z.string().nullable(),
      /** The new value, e.g. the tier that was set; null for actions without one. */
      detail: z.string().nullable(),
    }),
  ),
  count: z.int(),
  next_cursor: z.string().nullable(),
});

export const maintenanceShape = z.strictObject({
  on: z.boolean(),
  retry_after_seconds: z.int().nullable(),
  message: z.string().nullable(),
  since: time.nullable(),
});

export const tierTableShape = z.strictObject({
  tiers: z
    .strictObject({
      free: tierLimitsShape,
      pro: tierLimitsShape,
      plus: tierLimitsShape,
      premium: tierLimitsShape,
    })
    .describe('What each tier of this service may do; a number of 0: not at all'),
});

export const feedStatusShape = z.strictObject({
  as_of: time,
  feeds: z.array(
    z.strictObject({
      feed: z.string(),
      group: z.string().nullable().describe('E.g. `BTC-5m`; null where a feed is one connection'),
      kind: z.enum(['socket', 'requests']),
      connections: z.int(),
      up: z.int().describe('Open sockets; of requests 1 where the last one was answered'),
      last_message_at: time.nullable(),
      failures: z.int().describe('Of these connections, since each began'),
      last_failure: z.string().nullable(),
      last_failure_at: time.nullable(),
      gaps_open: z.int(),
    }),
  ),
  gaps: z
    .array(
      z.strictObject({
        gap_id: z.string(),
        market_id: z.string(),
        ticker: z.enum(TICKERS).nullable(),
        event_type: z.enum(EVENT_TYPES).nullable(),
        start: time,
        cause: z.enum(GAP_CAUSES),
        feed: z.string(),
      }),
    )
    .describe('Those that are open, oldest first'),
});
