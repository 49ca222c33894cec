import { type ForecastSums, LOG_LOSS_CLIP, sumForecasts } from '../../core/statistics/calibration.ts';
import type { StoreReader } from '../reader.ts';
import { LAST_MID, MID_STEPS, QUOTE_MINUTE } from '../tables/rollups.ts';
import { rangeConditions, where } from './sql.ts';

export interface CalibrationQuery {
  readonly ticker: string | null;
  readonly eventType: string | null;
  /** Filters by the window's end: since <= end < until. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** How long before a window's end the probability is read; fractions of a millisecond round to the earlier time. */
  readonly beforeMs: number;
  readonly buckets: number;
  /** Only the newest markets up to this number count, with or without a mid. */
  readonly maxMarkets: number;
}

/** Sums over all markets, computed by the engine. */
export interface CalibrationSums {
  /** One entry for each bucket of [0, 1], including empty ones. */
  readonly buckets: readonly ForecastSums[];
  /** Markets without a two-sided, trusted mid before the cut. */
  readonly withoutMid: number;
}

interface BucketRow {
  /** Null: the markets without a mid. */
  bucket: number | null;
  count: number;
  happened: number;
  /** In mid steps. */
  probability: number;
  /** In squared mid steps. */
  squaredError: number;
  logLoss: number;
  /** 1: some cut lies inside a minute. All rows have the same value. */
  cutsMinute: number;
}

const MINUTE_MS = 60_000;
/**
 * Logarithms are summed as whole multiples of this, so that the sum does not depend on the order in which threads add.
 */
const LOG_UNIT = 1e-12;
const NO_FORECASTS = sumForecasts([]);

/**
 * Compares, by bucket, the markets' prices before their end with their outcomes: resolved Up or Down, newest end first
 * (ties are left out). The probability is the last two-sided, trusted YES mid at or before the cut. All arithmetic on
 * it is in whole steps, so a mid on a bucket's edge is always on the right side.
 */
export async function sumCalibration(
  store: StoreReader,
  query: CalibrationQuery,
  signal: AbortSignal,
): Promise<CalibrationSums> {
  const { buckets, maxMarkets } = query;
  const { conditions, params } = resolvedMarkets(query);
  const beforeMs = Math.ceil(query.beforeMs);
  const given = { ...params, buckets, max_markets: maxMarkets, before_ms: beforeMs };
  const ask = (cutsMinutes: boolean) =>
    store.rows<BucketRow>(statement(conditions, cutsMinutes), given, { signal });
  const cutsMinutes = beforeMs % MINUTE_MS !== 0;
  let rows = await ask(cutsMinutes);
  // The venue's windows end on whole minutes, but an imported market may have any end time.
  if (!cutsMinutes && rows.some((row) => row.cutsMinute)) rows = await ask(true);
  const byBucket = new Map(rows.map((row) => [row.bucket, row]));
  return {
    buckets: Array.from({ length: buckets }, (_, bucket) => forecastSums(byBucket.get(bucket))),
    withoutMid: byBucket.get(null)?.count ?? 0,
  };
}

function forecastSums(row: BucketRow | undefined): ForecastSums {
  if (!row) return NO_FORECASTS;
  const { count, happened, probability, squaredError, logLoss } = row;
  return {
    count,
    happened,
    probability: probability / MID_STEPS,
    squaredError: squaredError / MID_STEPS ** 2,
    logLoss,
  };
}

function resolvedMarkets({ ticker, eventType, sinceMs, untilMs }: CalibrationQuery): {
  conditions: string[];
  params: Record<string, string | number>;
} {
  const range = rangeConditions('t.end_time', { startMs: sinceMs, endMs: untilMs });
  const conditions = ["t.status = 'resolved'", 't.outcome IS NOT NULL', ...range.conditions];
  const params: Record<string, string | number> = { ...range.params };
  for (const [name, value] of Object.entries({ ticker, event_type: eventType })) {
    if (value === null) continue;
    conditions.push(`t.${name} = {${name}:String}`);
    params[name] = value;
  }
  return { conditions, params };
}

/** A chosen market's cut in Unix milliseconds; for any other market 0, which no quote precedes. */
const CUT = 'transform(market_id, chosen.1, chosen.2, toInt64(0))';
/** Filters an array parallel to the cuts by the cuts that are not at a whole minute. */
const within = (array: string) => `arrayFilter((x, cut) -> cut % ${MINUTE_MS} != 0, ${array}, chosen.2)`;

function midsWhere(conditions: readonly string[]): string {
  return `SELECT market_id, ${QUOTE_MINUTE} AS minute, ${LAST_MID} AS mid
    FROM quotes ${where(conditions)} GROUP BY market_id, minute`;
}

/** Read from the projection `minute_mids`. */
const WHOLE_MINUTES = midsWhere([
  'market_id IN (SELECT arrayJoin(chosen.1))',
  `toUnixTimestamp(${QUOTE_MINUTE}) * 1000 <= ${CUT}`,
]);

/** Read from the quotes themselves. */
const CUT_MINUTE = midsWhere([
  `ts > fromUnixTimestamp64Milli(arrayMin(${within('chosen.2')}) - ${MINUTE_MS}, 'UTC')`,
  `ts <= fromUnixTimestamp64Milli(arrayMax(${within('chosen.2')}), 'UTC')`,
  // For the primary index only: evaluated for each row it would cost more than the rest of the query. The last line is
  // exact.
  `indexHint(market_id IN (SELECT arrayJoin(${within('chosen.1')})))`,
  `toUnixTimestamp64Milli(ts) BETWEEN intDiv(${CUT}, ${MINUTE_MS}) * ${MINUTE_MS} + 1 AND ${CUT}`,
]);

/**
 * The chosen markets are one constant (ids, cuts, outcomes), read once: a market that resolves meanwhile cannot appear
 * in only one half of the query. `transform` finds a market once per dictionary entry of a block, not once per row. A
 * join on the ids as text takes many times as long, an ASOF JOIN gigabytes.
 * @param cutsMinutes Also reads the minute that contains a cut; omitting it saves a third of the time.
 */
function statement(marketConditions: readonly string[], cutsMinutes: boolean): string {
  const clip = MID_STEPS * LOG_LOSS_CLIP;
  return `
    WITH (
      SELECT (groupArray(market_id), groupArray(cut), groupArray(up)) FROM (
        SELECT toLowCardinality(t.market_id) AS market_id, toUInt8(t.outcome = 'Up') AS up,
          toUnixTimestamp64Milli(t.end_time) - {before_ms:Int64} AS cut
        FROM markets AS t FINAL ${where(marketConditions)}
        ORDER BY t.end_time DESC, t.market_id DESC LIMIT {max_markets:UInt32})
    ) AS chosen
    SELECT bucket, toUInt32(count()) AS count, toUInt32(sum(up)) AS happened, sum(mid) AS probability,
      sum(error * error) AS squaredError, sum(log_loss) * ${LOG_UNIT} AS logLoss,
      arrayExists(cut -> cut % ${MINUTE_MS} != 0, chosen.2) AS cutsMinute
    FROM (
      SELECT mid, up, if(up, mid, ${MID_STEPS} - mid) AS given, ${MID_STEPS} - given AS error,
        intDiv(mid * {buckets:UInt8}, ${MID_STEPS}) - (mid = ${MID_STEPS}) AS bucket,
        toInt64(round(-log(least(greatest(given, ${clip}), ${MID_STEPS} - ${clip}) / ${MID_STEPS}) / ${LOG_UNIT})) AS log_loss
      FROM (
        SELECT toInt32(argMax(m.mid, m.minute)) AS mid, transform(market_id, chosen.1, chosen.3, toUInt8(0)) AS up
        FROM (
          ${WHOLE_MINUTES}
          ${cutsMinutes ? `UNION ALL ${CUT_MINUTE}` : ''}
          UNION ALL SELECT arrayJoin(chosen.1) AS market_id, toDateTime(0, 'UTC') AS minute, NULL AS mid
        ) AS m GROUP BY market_id
      )
    ) GROUP BY bucket`;
}
