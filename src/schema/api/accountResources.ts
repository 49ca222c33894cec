/** Shapes of the dashboard's account answers: users, sessions, keys. */
import { z } from 'zod';
import { ACCOUNT_ACTIONS } from '../accountAction.ts';
import { GAP_CAUSES } from '../gap.ts';
import { EVENT_TYPES, TICKERS } from '../market.ts';
import { PRICE_SOURCE_STATES, PRICE_SOURCES } from '../priceSource.ts';
import { VERSION_PLACES } from '../protocol.ts';
import { TIERS, tierLimitsShape } from '../tier.ts';

const time = z.iso.datetime({ offset: true });
const tier = z.enum(TIERS);

export const currentUserShape = z.strictObject({
  user: z.strictObject({ user_id: z.string(), email: z.string(), tier, operator: z.boolean() }),
});

export const signUpStateShape = z.strictObject({
  /** If false, the next user to sign up becomes the operator and needs the setup link that the service printed. */
  has_operator: z.boolean(),
  /** Whether other people may sign up. */
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
      /** Whether it is the session of this request. */
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
      /** In the last 30 days, including today. */
      requests_30d: z.int(),
    }),
  ),
});

export const newKeyShape = z.strictObject({
  key_id: z.string(),
  label: z.string(),
  /** Shown only once. */
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

export const operatorSummaryShape = z.strictObject({
  as_of: time,
  store_lag_seconds: z.number().min(0).describe('Delay of stored data behind received data'),
  rows_inserted: z.int().nullable().describe('Rows stored since the process started'),
  stored_bytes: z.number().nullable().describe('Size of the engine’s tables on disk'),
  disk_free_bytes: z.number().nullable().describe('Free space on the disk of the data directory'),
  growth_bytes_per_day: z.number().nullable().describe('Mean growth over the last complete days'),
  disk_full_at: time.nullable().describe('When the disk is full at this growth'),
});

export const userListShape = z.strictObject({
  users: z.array(userShape),
  count: z.int(),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
  next_cursor: z.string().nullable(),
});

export const secondFactorShape = z.strictObject({
  enabled: z.boolean(),
  recovery_codes_left: z.int(),
});

/** Shown only once. */
export const newSecondFactorShape = z.strictObject({
  /** In base32, for typing into an authenticator app. */
  secret: z.string(),
  /** `otpauth://...`, for a link or a QR code. */
  uri: z.string(),
});

/** Shown only once. */
export const recoveryCodesShape = z.strictObject({ recovery_codes: z.array(z.string()) });

export const accountEventListShape = z.strictObject({
  events: z.array(
    z.strictObject({
      event_id: z.string(),
      at: time,
      action: z.enum(ACCOUNT_ACTIONS),
      /** Why it was refused; null: it succeeded. */
      reason: z.string().nullable(),
      /** Email of the account; null: the whole service. */
      email: z.string().nullable(),
      /** The acting user's email address, or `command line`; null: the account itself or an unknown client. */
      actor: z.string().nullable(),
      /** Null on the command line. */
      address: z.string().nullable(),
      /** The new value, e.g. the new tier; null for actions without one. */
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
    .describe('The limits of each tier of this service; 0: not allowed'),
});

const collector = z
  .string()
  .optional()
  .describe('Name of the process that is connected; only where collectors are processes of their own');

export const feedStatusShape = z.strictObject({
  as_of: time,
  feeds: z.array(
    z.strictObject({
      collector,
      feed: z.string(),
      group: z.string().nullable().describe('E.g. `BTC-5m`; null where a feed has one connection'),
      kind: z.enum(['socket', 'requests']),
      connections: z.int(),
      up: z.int().describe('Open sockets; for request feeds 1 if the last request was answered'),
      last_message_at: time.nullable(),
      failures: z.int().describe('Failures of these connections since each was opened'),
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
    .describe('Open ones, oldest first'),
  unknown_versions: z
    .array(
      z.strictObject({
        collector,
        where: z.enum(VERSION_PLACES),
        version: z.string(),
        markets: z.int().describe('How many markets it was stated for'),
        newest_market: z.string(),
        last_at: time,
      }),
    )
    .describe('Protocol versions of venue data that this release does not know and refused since its start'),
  price_sources: z
    .array(
      z.strictObject({
        collector,
        source: z.enum(PRICE_SOURCES),
        state: z.enum(PRICE_SOURCE_STATES),
        last_at: time.nullable().describe('When its newest price or answer was received'),
        missing: z.string().nullable().describe('What would make it deliver; null: nothing is missing'),
      }),
    )
    .describe(
      'Sources of the prices that decide 5m, 15m and 4h windows, best first; of two live streams, the first to bring a point is used',
    ),
});

export const driftShape = z.strictObject({
  as_of: time,
  findings: z.array(
    z.strictObject({
      category: z
        .enum(['unknown_field', 'unknown_message', 'refused_message', 'hash_recipe', 'silent_topic'])
        .describe('How the venue differs from the known formats'),
      feed: z.string(),
      kind: z.string().describe('Kind of message, e.g. `price_change`'),
      key: z.string().describe('The field, kind of message, reason, market or topic'),
      first_seen: time,
      last_seen: time,
      count: z.int().describe('Checked messages; busy kinds are sampled. For a silent topic: silent minutes'),
      sample: z.string().nullable().describe('The start of the value that was seen first'),
    }),
  ),
});
