import type { CollectorConnections } from '../bus/recordStream.ts';
import type { ReadinessReport } from '../ops/readiness.ts';
import type { StatusBody, StatusDay } from '../schema/api/statusResources.ts';
import type { Gap, GapCause } from '../schema/gap.ts';
import { EVENT_TYPES, type EventType, type Ticker } from '../schema/market.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import type { SeriesDay, SeriesLag } from '../store/queries/quality.ts';
import { DAY_MS, DAYS_SHOWN, HISTORY_OLD_MS, type QualityReading } from './qualityHistory.ts';

const MINUTE_MS = 60_000;
const WINDOW_MS: Readonly<Record<EventType, number>> = {
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  daily_up_down: DAY_MS,
};
/** The service is not fully working beyond it, though it loses nothing. */
const LAG_DEGRADED_MS = 2_000;
const PARTS = 1_000_000;

/** What the recorder knows at this moment. */
interface StatusNow {
  readonly nowMs: number;
  readonly readiness: ReadinessReport;
  readonly storeLagMs: number;
  /** The connections of this process, or of each collector. */
  readonly connections: readonly Pick<CollectorConnections, 'feeds'>[];
  readonly openGaps: readonly Gap[];
}

export function statusBody(
  reading: QualityReading,
  { tickers, ...now }: StatusNow & { readonly tickers: readonly Ticker[] },
): StatusBody {
  const { nowMs, storeLagMs, readiness } = now;
  const isLate = storeLagMs > LAG_DEGRADED_MS || reading.failed || readiness.degraded.length > 0;
  return {
    as_of: formatTime(nowMs),
    state: readiness.ok ? (isLate ? 'degraded' : 'ok') : 'down',
    store_lag_seconds: Math.floor(storeLagMs / 1_000),
    history_as_of: formatTimeOrNull(reading.readMs),
    history_is_old: reading.failed || (reading.readMs !== null && nowMs - reading.readMs > HISTORY_OLD_MS),
    feeds: feedsOf(now),
    series: seriesOf(reading, tickers, nowMs),
    incidents: reading.incidents.map(({ feed, cause, startMs, endMs, markets }) => ({
      ...{
        feed,
        cause: cause as GapCause,
        start: formatTime(startMs),
        end: formatTimeOrNull(endMs),
        markets,
      },
    })),
  };
}

function feedsOf({ connections, openGaps }: StatusNow): StatusBody['feeds'] {
  const rows = new Map<string, StatusBody['feeds'][number]>();
  for (const row of connections.flatMap(({ feeds }) => feeds)) {
    const { feed, group, connections: all, up, lastMessageMs } = row;
    const key = `${feed} ${group ?? ''}`;
    const known = rows.get(key);
    const latest = formatTimeOrNull(lastMessageMs);
    const sums = { connections: all + (known?.connections ?? 0), up: up + (known?.up ?? 0) };
    const newest =
      (known?.last_message_at ?? '') > (latest ?? '') ? (known?.last_message_at ?? null) : latest;
    rows.set(key, {
      ...{ feed, group, ...sums },
      state: stateOf(sums, isIdle(row) && (known?.state ?? 'idle') === 'idle'),
      last_message_at: newest,
      gaps_open: openGaps.filter((gap) => gap.feed === feed).length,
    });
  }
  return [...rows.values()].sort((a, b) => (`${a.feed} ${a.group}` < `${b.feed} ${b.group}` ? -1 : 1));
}

/** A source that is requested on demand, and was not needed yet: neither up nor down. */
function isIdle({ kind, lastMessageMs, failures }: CollectorConnections['feeds'][number]): boolean {
  return kind === 'requests' && lastMessageMs === null && failures === 0;
}

function stateOf(
  { connections, up }: { connections: number; up: number },
  isNotNeeded: boolean,
): StatusBody['feeds'][number]['state'] {
  if (isNotNeeded) return 'idle';
  return up === 0 ? 'down' : up < connections ? 'partly' : 'up';
}

/** Only series with a window in these days: others are not listed at the venue. */
function seriesOf(
  { days, lags }: QualityReading,
  tickers: readonly Ticker[],
  nowMs: number,
): StatusBody['series'] {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return tickers.flatMap((ticker) =>
    EVENT_TYPES.flatMap((eventType) => {
      const isOurs = (one: { ticker: string; eventType: string }) =>
        one.ticker === ticker && one.eventType === eventType;
      const [ownDays, ownLags] = [days.filter(isOurs), lags.filter(isOurs)];
      if (ownDays.length === 0) return [];
      const shown = Array.from({ length: DAYS_SHOWN }, (_, index) => {
        const dayMs = todayMs - (DAYS_SHOWN - 1 - index) * DAY_MS;
        return dayOf(dayMs, nowMs, { eventType, days: ownDays, lags: ownLags });
      });
      return [{ ticker, event_type: eventType, days: shown }];
    }),
  );
}

function dayOf(
  dayMs: number,
  nowMs: number,
  series: { eventType: EventType; days: readonly SeriesDay[]; lags: readonly SeriesLag[] },
): StatusDay {
  const day = new Date(dayMs).toISOString().slice(0, 10);
  const found = series.days.find((one) => one.day === day);
  const lag = series.lags.find((one) => one.day === day);
  const lengthMs = WINDOW_MS[series.eventType];
  const elapsedMs = Math.min(DAY_MS, nowMs - dayMs);
  // The daily window ends at noon in New York, which is no fixed time of the UTC day.
  const isDaily = lengthMs === DAY_MS;
  const { windows = 0, windowMs = 0, recordedMs = 0, provenMs = 0 } = found ?? {};
  const expected = isDaily && elapsedMs < DAY_MS ? windows : Math.floor(elapsedMs / lengthMs);
  // A daily window has 23 or 25 hours when the clocks change, so its own length counts where it is known.
  const wholeMs = isDaily && windows > 0 ? windowMs : Math.max(windowMs, expected * lengthMs);
  return {
    ...{ day, windows, windows_expected: expected },
    coverage: wholeMs === 0 ? null : share(recordedMs / wholeMs),
    proven_share: recordedMs === 0 ? null : share(provenMs / recordedMs),
    gaps: found?.gaps ?? 0,
    longest_gap_seconds: Math.round((found?.longestGapMs ?? 0) / 1_000),
    ...{ lag_median_ms: lag?.medianMs ?? null, lag_p99_ms: lag?.p99Ms ?? null },
  };
}

function share(value: number): number {
  return Math.min(1, Math.max(0, Math.floor(value * PARTS + 0.5) / PARTS));
}
