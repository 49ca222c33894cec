import {
  type CalibrationScores,
  calibrationScores,
  chanceEce,
  type ForecastSums,
} from '../core/statistics/calibration.ts';
import { wilsonInterval } from '../core/statistics/wilson.ts';
import { SINCE_UNTIL } from '../http/history.ts';
import { type Route, route } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import { datetime } from '../schema/api/datetime.ts';
import { optional, withDefault } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import {
  type CalibrationBody,
  type CalibrationBucketBody,
  calibrationShape,
} from '../schema/api/resources.ts';
import { integer, number } from '../schema/api/types.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { sumCalibration } from '../store/queries/calibration.ts';
import type { StoreReader } from '../store/reader.ts';

const MINUTE_MICROSECONDS = 60_000_000;

export function calibrationRoute({ store, tickers }: { store: StoreReader } & FollowedAssets): Route {
  return route({
    method: 'GET',
    path: '/v1/stats/calibration',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Calibration: how often markets resolved Up, by the probability implied by their price',
    description:
      'The implied probability of a resolved market is its last two-sided, trusted YES mid at least `minutes_before` minutes ' +
      'before its end. Markets without such a mid are counted only in `n_without_mid`.',
    query: {
      ticker: parameter.optionalTicker(tickers),
      event_type: parameter.optionalEventType,
      minutes_before: withDefault(
        number({ ge: 0, le: 1440 }),
        1,
        'Minutes before the window’s end at which the price is read',
      ),
      since: optional(datetime, 'Only markets whose window ends at or after this'),
      until: optional(datetime, 'Only markets whose window ends before this'),
      buckets: withDefault(
        integer({ ge: 2, le: 50 }),
        10,
        'Number of equal buckets of [0, 1]; the last includes 1',
      ),
      max_markets: withDefault(
        integer({ ge: 10, le: 10_000 }),
        2000,
        'Maximum number of markets; the newest ones are used',
      ),
    },
    response: calibrationShape,
    handle: async ({ query, history, signal }) => {
      const { ticker, event_type: eventType, minutes_before: minutesBefore, since, until } = query;
      checkRange(since, until, SINCE_UNTIL);
      const sinceMs = history.range({ startMs: since, endMs: until }, { names: SINCE_UNTIL });
      const { buckets, withoutMid } = await sumCalibration(
        store,
        {
          ...{ ticker, eventType, sinceMs, untilMs: until },
          // Rounded to microseconds first, so that 0.07 minutes is exactly 4,200 ms.
          beforeMs: Math.round(minutesBefore * MINUTE_MICROSECONDS) / 1000,
          buckets: query.buckets,
          maxMarkets: query.max_markets,
        },
        signal,
      );
      const body: CalibrationBody = {
        ticker,
        event_type: eventType,
        minutes_before: minutesBefore,
        buckets: buckets.map(bucketBody),
        n_markets: buckets.reduce((sum, { count }) => sum + count, 0),
        n_without_mid: withoutMid,
        ...scoresBody(calibrationScores(buckets), chanceEce(buckets)),
      };
      return { body: JSON.stringify(body) };
    },
  });
}

function bucketBody(
  { count, happened, probability }: ForecastSums,
  index: number,
  all: readonly unknown[],
): CalibrationBucketBody {
  const interval = wilsonInterval({ successes: happened, trials: count });
  return {
    prob_lo: index / all.length,
    prob_hi: (index + 1) / all.length,
    n_markets: count,
    frac_resolved_up: count === 0 ? null : happened / count,
    mean_prob: count === 0 ? null : probability / count,
    ci_lo: interval?.low ?? null,
    ci_hi: interval?.high ?? null,
  };
}

function scoresBody(scores: CalibrationScores | null, chance: ReturnType<typeof chanceEce>) {
  return {
    brier_score: scores?.brierScore ?? null,
    log_loss: scores?.logLoss ?? null,
    ece: scores?.ece ?? null,
    ece_chance_mean: chance?.mean ?? null,
    ece_chance_p95: chance?.p95 ?? null,
    reliability: scores?.reliability ?? null,
    resolution: scores?.resolution ?? null,
    uncertainty: scores?.uncertainty ?? null,
  };
}
