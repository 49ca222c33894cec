import { type ForecastSums, LOG_LOSS_CLIP, sumForecasts } from '../../core/statistics/calibration.ts';
import type { StoreReader } from '../reader.ts';
import { LAST_MID, MID_STEPS, QUOTE_MINUTE } from '../rollups.ts';
import { rangeConditions, where } from './sql.ts';

export interface CalibrationQuery {
  readonly ticker: string | null;
  readonly eventType: string | null;
  /** On the window's end: since <= end < until. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** How long before a window's end the probability is taken; a fraction of a millisecond is dropped towards earlier. */
  readonly beforeMs: number;
  readonly buckets: number;
  /** The newest so many, mid or no mid. */
  readonly maxMarkets: number;
}

/** What is left of all markets once the engine has added them up. */
export interface CalibrationSums {
  /** One for each bucket of [0, 1], empty ones too. */
  readonly buckets: readonly ForecastSums[];
  /** Markets of which no two-sided, trusted mid was known in time. */
  readonly withoutMid: number;
}

interface BucketRow {
  /** Null: the markets without a mid. */
  bucket: number | null;
  count: number;
  happened: number;
  /** In steps of a mid. */
  probability: number;
  /** In steps of a mid, squared. */
  squaredError: number;
  logLoss: number;
}

/** Logarithms are added as whole multiples of this, so that the order in which threads add never shows. */
const LOG_UNIT = 1e-12;
const NO_FORECASTS = sumForecasts([]);

/**
 * Adds up, by bucket, what the markets' prices said before their end against what they became: resolved Up or Down
 * (a tie is neither and left out), newest end first. The probability is the last two-sided, trusted YES mid at or
 * before the cut; all arithmetic on it is in whole steps, so a mid on a bucket's edge is never on its wrong side.
 */
export async function sumCalibration(
  store: StoreReader,
  query: CalibrationQuery,
  signal: AbortSignal,
): Promise<CalibrationSums> {
  const { buckets, maxMarkets, beforeMs } = query;
  const markets = resolvedMarkets(query);
  const rows = await store.rows<BucketRow>(
    statement(markets.conditions),
    { ...markets.params, buckets, max_markets: maxMarkets, before_ms: Math.ceil(beforeMs) },
    { signal },
  );
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

/**
 * The chosen markets are one constant (ids, cuts, outcomes), read once: a market that resolves meanwhile cannot be
 * in one half of the query alone. `transform` looks a market up once for a block's dictionary, not once for a row;
 * a join of the ids as text takes many times as long, an ASOF JOIN gigabytes.
 *
 * Whole minutes before the cut come from the projection `minute_mids`, the minute that is cut from the quotes
 * themselves. Windows end on whole minutes, so a cut at a whole number of minutes reads no quote at all.
 */
function statement(marketConditions: readonly string[]): string {
  const cut = 'transform(market_id, chosen.1, chosen.2, toInt64(0))';
  const list = (array: string) => `(SELECT arrayJoin(${array}))`;
  const mids = (conditions: readonly string[]) =>
    `SELECT market_id, ${QUOTE_MINUTE} AS minute, ${LAST_MID} AS mid
     FROM quotes ${where(conditions)} GROUP BY market_id, minute`;
  const wholeMinutes = mids([
    `market_id IN ${list('chosen.1')}`,
    `toUnixTimestamp(${QUOTE_MINUTE}) * 1000 <= ${cut}`,
  ]);
  // Empty where every cut is a whole minute: the bounds on time then leave nothing to read.
  const within = (array: string) => `arrayFilter((x, cut) -> cut % 60000 != 0, ${array}, chosen.2)`;
  const cutMinute = mids([
    `ts > fromUnixTimestamp64Milli(arrayMin(${within('chosen.2')}) - 60000, 'UTC')`,
    `ts <= fromUnixTimestamp64Milli(arrayMax(${within('chosen.2')}), 'UTC')`,
    // Read by the primary index alone, because asking row by row costs more than all the rest; exact is the last line,
    // as the cut of a market that was not chosen is 0.
    `indexHint(market_id IN ${list(within('chosen.1'))})`,
    `toUnixTimestamp64Milli(ts) BETWEEN intDiv(${cut}, 60000) * 60000 + 1 AND ${cut}`,
  ]);
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
      sum(error * error) AS squaredError, sum(log_loss) * ${LOG_UNIT} AS logLoss
    FROM (
      SELECT mid, up, if(up, mid, ${MID_STEPS} - mid) AS given, ${MID_STEPS} - given AS error,
        intDiv(mid * {buckets:UInt8}, ${MID_STEPS}) - (mid = ${MID_STEPS}) AS bucket,
        toInt64(round(-log(least(greatest(given, ${clip}), ${MID_STEPS} - ${clip}) / ${MID_STEPS}) / ${LOG_UNIT})) AS log_loss
      FROM (
        SELECT toInt32(argMax(m.mid, m.minute)) AS mid, transform(market_id, chosen.1, chosen.3, toUInt8(0)) AS up
        FROM (
          ${wholeMinutes}
          UNION ALL ${cutMinute}
          UNION ALL SELECT arrayJoin(chosen.1) AS market_id, toDateTime(0, 'UTC') AS minute, NULL AS mid
        ) AS m GROUP BY market_id
      )
    ) GROUP BY bucket`;
}
