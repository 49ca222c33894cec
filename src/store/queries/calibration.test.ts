import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketRecord } from '../../../test/support/api.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Forecast, sumForecasts } from '../../core/statistics/calibration.ts';
import { EVENT_TYPES, type Market, TICKERS } from '../../schema/market.ts';
import type { QuoteRecord } from '../../schema/records.ts';
import type { StoreReader } from '../reader.ts';
import { type CalibrationQuery, type CalibrationSums, sumCalibration } from './calibration.ts';

/** Just before the end of a day, so that markets and their quotes are in two partitions. */
const START = Date.UTC(2026, 10, 19, 23, 50);
const MINUTE = 60_000;
const MARKETS = 60;
const SPAN_MS = 20 * MINUTE;
const signal = new AbortController().signal;

interface RecordedMarket {
  readonly market: Market;
  readonly quotes: readonly QuoteRecord[];
}

const price = fc.option(
  fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.constantFrom(0, 3000, 5000, 10_000)),
  {
    freq: 4,
    nil: null,
  },
);
const quote = fc.record({
  // Mostly whole and half minutes and the milliseconds next to them, where a wrong cut would show.
  timeMs: fc.oneof(
    fc.integer({ min: START, max: START + SPAN_MS }),
    fc
      .tuple(fc.integer({ min: 0, max: 40 }), fc.constantFrom(-1, 0, 0, 1))
      .map(([halves, beside]) => START + halves * 30_000 + beside),
  ),
  yesBid: price,
  yesAsk: price,
  trusted: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
});
const market = fc.record({
  endTimeMs: fc.oneof(
    fc.integer({ min: 0, max: 20 }).map((minutes) => START + minutes * MINUTE),
    fc.integer({ min: START, max: START + SPAN_MS }),
  ),
  ticker: fc.constantFrom(...TICKERS),
  eventType: fc.constantFrom(...EVENT_TYPES),
  ending: fc.constantFrom('Up', 'Up', 'Down', 'Down', 'tie', 'open'),
  quotes: fc.array(quote, { maxLength: 25 }),
});

/** The data is the same on every run; only the queries below vary. */
const data: readonly RecordedMarket[] = fc
  .sample(market, { numRuns: MARKETS, seed: 20_261_121 })
  .map(({ endTimeMs, ticker, eventType, ending, quotes }, index) => {
    const marketId = `0x${index.toString(16).padStart(64, '0')}`;
    const outcome = ending === 'Up' || ending === 'Down' ? ending : null;
    const status = ending === 'open' ? 'open' : 'resolved';
    return {
      market: marketRecord({ marketId, endTimeMs, ticker, eventType, outcome, status }),
      // Within a market, rows arrive in time order, as recorded; rows with equal times may arrive in any order.
      quotes: quotes
        .toSorted((a, b) => a.timeMs - b.timeMs)
        .map(({ timeMs, ...rest }, at) => ({
          ...{ seq: index * 1000 + at + 1, marketId, eventTimeMs: timeMs, receivedTimeMs: timeMs + 40 },
          ...{ noBid: null, noAsk: null, yesChanged: true, underlyingPrice: null },
          ...rest,
        })),
    };
  });

/** The expected answer, computed market by market. */
function fold(query: CalibrationQuery): CalibrationSums {
  const { ticker, eventType, sinceMs, untilMs, beforeMs, buckets, maxMarkets } = query;
  const chosen = data
    .filter(({ market: m }) => m.status === 'resolved' && m.outcome !== null)
    .filter(
      ({ market: m }) => (ticker ?? m.ticker) === m.ticker && (eventType ?? m.eventType) === m.eventType,
    )
    .filter(
      ({ market: m }) => m.endTimeMs >= (sinceMs ?? 0) && m.endTimeMs < (untilMs ?? Number.POSITIVE_INFINITY),
    )
    .toSorted(
      (a, b) => b.market.endTimeMs - a.market.endTimeMs || (b.market.marketId < a.market.marketId ? -1 : 1),
    )
    .slice(0, maxMarkets);
  const forecasts: Forecast[][] = Array.from({ length: buckets }, () => []);
  let withoutMid = 0;
  for (const { market: m, quotes } of chosen) {
    const known = quotes.findLast(
      (q) => q.eventTimeMs <= m.endTimeMs - beforeMs && q.trusted && q.yesBid !== null && q.yesAsk !== null,
    );
    if (!known) {
      withoutMid++;
      continue;
    }
    const steps = (known.yesBid ?? 0) + (known.yesAsk ?? 0);
    const bucket = Array.from({ length: buckets }).findLastIndex((_, i) => steps * buckets >= i * 20_000);
    forecasts[bucket]?.push({ probability: steps / 20_000, happened: m.outcome === 'Up' });
  }
  return { buckets: forecasts.map(sumForecasts), withoutMid };
}

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
  const { writer } = opened.store;
  let seq = 1_000_000;
  for (const { market: m } of data) {
    // Resolution is a second record of the same market.
    writer.market({ ...m, status: 'open', outcome: null, seq: ++seq });
    writer.market({ ...m, seq: ++seq });
  }
  // Every market's quotes arrive in several inserts, so that a minute's rollup is combined from several parts.
  for (const turn of [0, 1, 2]) {
    for (const { quotes } of data) {
      for (const [at, row] of quotes.entries()) if (at % 3 === turn) writer.quote(row);
    }
    await writer.flush();
  }
});
afterAll(() => opened?.dispose());

const time = fc.option(fc.integer({ min: START - MINUTE, max: START + SPAN_MS + MINUTE }), {
  freq: 2,
  nil: null,
});
const anyQuery: fc.Arbitrary<CalibrationQuery> = fc.record({
  ticker: fc.option(fc.constantFrom(...TICKERS), { freq: 1, nil: null }),
  eventType: fc.option(fc.constantFrom(...EVENT_TYPES), { freq: 1, nil: null }),
  sinceMs: time,
  untilMs: time,
  beforeMs: fc.oneof(
    fc.integer({ min: 0, max: 12 }).map((minutes) => minutes * MINUTE),
    fc.integer({ min: 0, max: 40 }).map((halves) => halves * 30_000),
    fc.integer({ min: 0, max: SPAN_MS }),
    fc.integer({ min: 0, max: SPAN_MS * 1000 }).map((microseconds) => microseconds / 1000),
  ),
  buckets: fc.integer({ min: 2, max: 50 }),
  maxMarkets: fc.integer({ min: 1, max: MARKETS }),
});

async function expectFold(store: StoreReader, query: CalibrationQuery): Promise<void> {
  const expected = fold(query);
  const sums = await sumCalibration(store, query, signal);
  expect(sums.withoutMid).toBe(expected.withoutMid);
  expect(sums.buckets).toHaveLength(query.buckets);
  for (const [i, { logLoss, probability, squaredError, ...counts }] of sums.buckets.entries()) {
    const bucket = expected.buckets[i]!;
    expect(counts).toEqual({ count: bucket.count, happened: bucket.happened });
    expect(probability).toBeCloseTo(bucket.probability, 9);
    expect(squaredError).toBeCloseTo(bucket.squaredError, 9);
    expect(logLoss).toBeCloseTo(bucket.logLoss, 9);
  }
}

describe('the sums equal a fold over every market', () => {
  test('for any query', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery, (query) => expectFold(opened.store, query)),
      { numRuns: 150 },
    );
  });

  test('after the parts were merged', async () => {
    await (await opened.store.stream('OPTIMIZE TABLE quotes FINAL', {}, { format: 'Null' })).toArray();
    await fc.assert(
      fc.asyncProperty(anyQuery, (query) => expectFold(opened.store, query)),
      { numRuns: 40 },
    );
  });

  test('from parts without a rollup', async () => {
    const rowByRow: StoreReader = {
      rows: (query, params, options) =>
        opened.store.rows(`${query} SETTINGS optimize_use_projections = 0`, params, options),
      stream: () => Promise.reject(new Error('not asked for here')),
    };
    await fc.assert(
      fc.asyncProperty(anyQuery, (query) => expectFold(rowByRow, query)),
      { numRuns: 40 },
    );
  });
});

describe('the query', () => {
  const query: CalibrationQuery = {
    ...{ ticker: null, eventType: null, sinceMs: null, untilMs: null, buckets: 10, maxMarkets: 5 },
    beforeMs: MINUTE,
  };

  test('reads only the rollup for whole minutes', async () => {
    let plan = '';
    const explaining: StoreReader = {
      rows: async <T>(text: string, params?: Record<string, unknown>) => {
        const lines = await opened.store.rows<{ explain: string }>(`EXPLAIN projections = 1 ${text}`, params);
        plan = lines.map(({ explain }) => explain).join('\n');
        return [] as T[];
      },
      stream: () => Promise.reject(new Error('not asked for here')),
    };
    await sumCalibration(explaining, query, signal);
    expect(plan).toContain('ReadFromMergeTree (minute_mids)');
  });

  test('returns the same bytes for the same parameters', async () => {
    const first = JSON.stringify(await sumCalibration(opened.store, query, signal));
    for (let i = 0; i < 5; i++) {
      expect(JSON.stringify(await sumCalibration(opened.store, query, signal))).toBe(first);
    }
  });
});
