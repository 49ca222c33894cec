/** Shape of the status page's data. */
import { z } from 'zod';
import { GAP_CAUSES } from '../gap.ts';
import { EVENT_TYPES, TICKERS } from '../market.ts';

const time = z.iso.datetime({ offset: true });
const share = z.number().min(0).max(1);
const count = z.int().nonnegative();

const statusDayShape = z.strictObject({
  /** UTC, as yyyy-mm-dd. A window belongs to the day on which it ends. */
  day: z.iso.date(),
  /** Recorded windows, and how many of this length the day (today: so far) has. */
  windows: count,
  windows_expected: count,
  /** Recorded share of the time of all expected windows; null if none is expected. */
  coverage: share.nullable(),
  /** Share of the recorded time outside gaps; null if nothing was recorded. */
  proven_share: share.nullable(),
  gaps: count,
  longest_gap_seconds: z.number().nonnegative(),
  /** Delay from the venue's time of a change to its receipt, in a sample; null without one. */
  lag_median_ms: z.number().nullable(),
  lag_p99_ms: z.number().nullable(),
});

export const statusShape = z.strictObject({
  as_of: time,
  /** `ok`: everything works; `degraded`: a venue's fault or an old store; `down`: the service does not work. */
  state: z.enum(['ok', 'degraded', 'down']),
  /** Age of the oldest received row that is not stored yet. */
  store_lag_seconds: z.number().nonnegative(),
  /** When the days and incidents were read from the store; null: not yet. */
  history_as_of: time.nullable(),
  /** Whether the store did not answer when they were last read, or they are more than two minutes old. */
  history_is_old: z.boolean(),
  feeds: z.array(
    z.strictObject({
      feed: z.string(),
      /** For example BTC-5m; null if the feed has one kind of connection. */
      group: z.string().nullable(),
      /** `idle`: requested on demand, and not needed yet. */
      state: z.enum(['up', 'partly', 'down', 'idle']),
      connections: count,
      up: count,
      last_message_at: time.nullable(),
      gaps_open: count,
    }),
  ),
  series: z.array(
    z.strictObject({
      ticker: z.enum(TICKERS),
      event_type: z.enum(EVENT_TYPES),
      /** The last 30 days, oldest first. */
      days: z.array(statusDayShape),
    }),
  ),
  /** Gaps of one feed and cause that began in the same minute, newest first, at most 50. */
  incidents: z.array(
    z.strictObject({
      feed: z.string(),
      cause: z.enum(GAP_CAUSES),
      start: time,
      /** Null while one is open. */
      end: time.nullable(),
      markets: count,
    }),
  ),
});
export type StatusBody = z.output<typeof statusShape>;
export type StatusDay = z.output<typeof statusDayShape>;
