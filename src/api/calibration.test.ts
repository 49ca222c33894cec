import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, marketRecord, testApi } from '../../test/support/api.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { calibrationScores, type Forecast, sumForecasts } from '../core/statistics/calibration.ts';
import { type CalibrationBody, calibrationShape } from '../schema/api/resources.ts';
import type { Market } from '../schema/market.ts';
import type { QuoteRecord } from '../schema/records.ts';

const END = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;
let opened: TestStore;
let app: FastifyInstance;
let seq = 0;
let markets = 0;

type Quote = [offsetMs: number, bid: number | null, ask: number | null, more?: Partial<QuoteRecord>];

/** A market that ends five minutes after the previous one; each quote is placed by its time to the end. */
function write(market: Partial<Market>, quotes: readonly Quote[]): void {
  const marketId = `0x${String(++markets).padStart(64, '0')}`;
  const endTimeMs = market.endTimeMs ?? END + markets * 5 * MINUTE;
  opened.store.writer.market({
    ...marketRecord({ marketId, status: 'resolved', endTimeMs, ...market }),
    seq: ++seq,
  });
  for (const [offsetMs, yesBid, yesAsk, more] of quotes) {
    opened.store.writer.quote({
      ...{
        seq: ++seq,
        marketId,
        eventTimeMs: endTimeMs + offsetMs,
        receivedTimeMs: endTimeMs + offsetMs + 40,
      },
      ...{ yesBid, yesAsk, noBid: null, noAsk: null, yesChanged: true, trusted: true, underlyingPrice: null },
      ...more,
    });
  }
}

beforeAll(async () => {
  opened = await openTestStore();
  // Exactly at the cutoff, on a bucket's edge. A quote one millisecond later does not count.
  write({ outcome: 'Up' }, [
    [-2 * MINUTE, 100, 200],
    [-MINUTE, 2900, 3100],
    [-MINUTE + 1, 9000, 9200],
  ]);
  // One-sided at the cutoff: the last two-sided mid before it counts.
  write({ outcome: 'Down' }, [
    [-4 * MINUTE, 5400, 5600],
    [-MINUTE - 1, 5400, null],
    [-MINUTE, null, 5500],
  ]);
  // Not trusted at the cutoff.
  write({ outcome: 'Down' }, [
    [-90_000, 900, 1100],
    [-MINUTE, 5000, 5100, { trusted: false }],
  ]);
  // Probability one.
  write({ outcome: 'Up' }, [[-61_000, 10_000, 10_000]]);
  // Of two quotes at the same time, the later arrival counts; half a tick below the edge at 0.3.
  write({ outcome: 'Up', ticker: 'ETH', eventType: '1h' }, [
    [-MINUTE, 8000, 8200],
    [-MINUTE, 2999, 3000],
  ]);
  // No usable mid: no quotes, too late, one-sided, never trusted.
  write({ outcome: 'Up' }, []);
  write({ outcome: 'Down' }, [[-MINUTE + 1, 5000, 5200]]);
  write({ outcome: 'Up', ticker: 'ETH' }, [[-2 * MINUTE, null, 5000]]);
  write({ outcome: 'Up' }, [[-2 * MINUTE, 4000, 4100, { trusted: false }]]);
  // Not resolved to Up or Down.
  write({ outcome: null, payoutYes: 0.5 }, [[-2 * MINUTE, 4000, 4100]]);
  write({ outcome: null, status: 'closed' }, [[-2 * MINUTE, 4000, 4100]]);
  write({ outcome: null, status: 'open' }, [[-2 * MINUTE, 4000, 4100]]);
  await opened.store.writer.flush();
  app = testApi({ store: opened.store });
});
afterAll(async () => {
  await app?.close();
  await opened?.dispose();
});

async function get(query: string): Promise<{ status: number; body: CalibrationBody & { detail?: unknown } }> {
  const response = await app.inject({ url: `/v1/stats/calibration${query}`, headers: KEY });
  return { status: response.statusCode, body: response.json() };
}

const EMPTY = { n_markets: 0, frac_resolved_up: null, mean_prob: null, ci_lo: null, ci_hi: null };
const filled = (body: CalibrationBody) =>
  body.buckets.flatMap(({ prob_lo, n_markets, frac_resolved_up, mean_prob }) =>
    n_markets === 0 ? [] : [[prob_lo, n_markets, frac_resolved_up, mean_prob]],
  );

describe('/v1/stats/calibration', () => {
  test('sorts implied probabilities into buckets and scores them', async () => {
    const { status, body } = await get('');
    expect(status).toBe(200);
    calibrationShape.parse(body);
    const { buckets, ...top } = body;
    expect(buckets.map(({ prob_lo, prob_hi }) => [prob_lo, prob_hi])).toEqual(
      [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((low, i) => [low, (i + 1) / 10]),
    );
    expect(filled(body)).toEqual([
      [0.1, 1, 0, 0.1],
      [0.2, 1, 1, 0.29995],
      [0.3, 1, 1, 0.3],
      [0.5, 1, 0, 0.55],
      [0.9, 1, 1, 1],
    ]);
    expect(buckets[0]).toEqual({ prob_lo: 0, prob_hi: 0.1, ...EMPTY });
    // 1 of 1: 1 / (1 + z^2) with z = 1.959964.
    expect(buckets[9]?.ci_lo).toBeCloseTo(0.206549, 6);
    expect(buckets[9]?.ci_hi).toBe(1);
    expect(Object.keys(top)).toEqual([
      ...['ticker', 'event_type', 'minutes_before', 'n_markets', 'n_without_mid'],
      ...['brier_score', 'log_loss', 'ece', 'ece_chance_mean', 'ece_chance_p95'],
      ...['reliability', 'resolution', 'uncertainty'],
    ]);
    const { n_markets, n_without_mid, minutes_before } = top;
    expect({ n_markets, n_without_mid, minutes_before }).toEqual({
      n_markets: 5,
      n_without_mid: 4,
      minutes_before: 1,
    });
    const forecasts: Forecast[] = [
      { probability: 0.1, happened: false },
      { probability: 0.29995, happened: true },
      { probability: 0.3, happened: true },
      { probability: 0.55, happened: false },
      { probability: 1, happened: true },
    ];
    const expected = calibrationScores(forecasts.map((forecast) => sumForecasts([forecast])))!;
    expect(top.brier_score).toBeCloseTo((0.1 ** 2 + 0.70005 ** 2 + 0.7 ** 2 + 0.55 ** 2) / 5, 12);
    expect(top.brier_score).toBeCloseTo(expected.brierScore, 12);
    expect(top.log_loss).toBeCloseTo(expected.logLoss, 11);
    expect(top.ece).toBeCloseTo((0.1 + 0.70005 + 0.7 + 0.55) / 5, 12);
    // One market a bucket: a share p of Up errs by 2 p (1 - p) on average.
    const chance = [0.1, 0.29995, 0.3, 0.55, 1].map((share) => 2 * share * (1 - share));
    expect(top.ece_chance_mean).toBeCloseTo(chance.reduce((sum, one) => sum + one) / 5, 12);
    expect(top.ece_chance_p95).toBeGreaterThan(top.ece_chance_mean as number);
    expect(top.reliability).toBeCloseTo(expected.reliability, 12);
    expect(top.resolution).toBeCloseTo(0.24, 12);
    expect(top.uncertainty).toBeCloseTo(0.24, 12);
  });

  test.each([
    [
      'one millisecond earlier, whole minutes aside',
      '?minutes_before=1.0000166666666667',
      [[0, 1, 1, 0.015]],
    ],
    ['half a minute: quotes in the last minute count', '?minutes_before=0.5', [[0.9, 1, 1, 0.91]]],
    ['at the end', '?minutes_before=0', [[0.9, 1, 1, 0.91]]],
    ['two minutes', '?minutes_before=2', [[0, 1, 1, 0.015]]],
    ['before the first quote', '?minutes_before=1440', []],
  ])('takes the price %s', async (_, query, expected) => {
    // Only the first market.
    const until = new Date(END + 5 * MINUTE + 1).toISOString();
    const { body } = await get(`${query}&until=${until}`);
    expect(filled(body)).toEqual(expected);
    expect(body.n_without_mid).toBe(1 - expected.length);
  });

  test.each([
    ['ticker', '?ticker=ETH', { n_markets: 1, n_without_mid: 1, ticker: 'ETH', event_type: null }],
    ['window', '?event_type=1h', { n_markets: 1, n_without_mid: 0, ticker: null, event_type: '1h' }],
    [
      'both',
      '?ticker=SOL&event_type=daily_up_down',
      { n_markets: 0, ticker: 'SOL', event_type: 'daily_up_down' },
    ],
    // The second market's end equals `since` (included), the fourth's equals `until` (excluded).
    [
      'since and until',
      '?since=2026-11-20T12:10:00Z&until=2026-11-20T12:20:00Z',
      { n_markets: 2, n_without_mid: 0 },
    ],
    ['an empty range', '?since=2026-11-20T12:10:00Z&until=2026-11-20T12:10:00Z', { n_markets: 0 }],
  ])('filters by %s', async (_, query, expected) => {
    const { status, body } = await get(query);
    expect(status).toBe(200);
    expect(body).toMatchObject(expected);
  });

  test('without markets every figure is null and every bucket is present', async () => {
    const { body } = await get('?ticker=SOL&buckets=2');
    expect(body).toEqual({
      ...{ ticker: 'SOL', event_type: null, minutes_before: 1 },
      buckets: [
        { prob_lo: 0, prob_hi: 0.5, ...EMPTY },
        { prob_lo: 0.5, prob_hi: 1, ...EMPTY },
      ],
      ...{ n_markets: 0, n_without_mid: 0, brier_score: null, log_loss: null, ece: null },
      ...{ ece_chance_mean: null, ece_chance_p95: null },
      ...{ reliability: null, resolution: null, uncertainty: null },
    });
  });

  test.each([2, 3, 7, 20, 49, 50])('%i buckets divide [0, 1] evenly', async (buckets) => {
    const { body } = await get(`?buckets=${buckets}`);
    expect(body.buckets).toHaveLength(buckets);
    expect(body.buckets[0]?.prob_lo).toBe(0);
    expect(body.buckets.at(-1)?.prob_hi).toBe(1);
    for (const { prob_lo, prob_hi, n_markets, mean_prob } of body.buckets) {
      if (n_markets !== 1) continue;
      expect(mean_prob).toBeGreaterThanOrEqual(prob_lo);
      expect(mean_prob).toBeLessThanOrEqual(prob_hi);
    }
    expect(body.n_markets).toBe(5);
  });

  const problem = (name: string, input: string, type: string, msg: string, ctx?: object) => ({
    ...{ type, loc: ['query', name], msg, input },
    ...(ctx ? { ctx } : {}),
  });
  const less = (le: number) => [`Input should be less than or equal to ${le}`, { le }] as const;
  const greater = (ge: number) => [`Input should be greater than or equal to ${ge}`, { ge }] as const;
  test.each([
    [
      'ticker',
      'XRP',
      'literal_error',
      "Input should be 'BTC', 'ETH' or 'SOL'",
      { expected: "'BTC', 'ETH' or 'SOL'" },
    ],
    ['minutes_before', '1440.1', 'less_than_equal', ...less(1440)],
    ['minutes_before', '-0.1', 'greater_than_equal', ...greater(0)],
    [
      'minutes_before',
      'x',
      'float_parsing',
      'Input should be a valid number, unable to parse string as a number',
    ],
    ['minutes_before', 'nan', 'less_than_equal', ...less(1440)],
    ['buckets', '1', 'greater_than_equal', ...greater(2)],
    ['buckets', '51', 'less_than_equal', ...less(50)],
    ['max_markets', '9', 'greater_than_equal', ...greater(10)],
    ['max_markets', '10001', 'less_than_equal', ...less(10_000)],
    [
      'max_markets',
      '10.5',
      'int_parsing',
      'Input should be a valid integer, unable to parse string as an integer',
    ],
  ])('refuses %s=%s', async (name, input, type, msg, ctx?: object) => {
    const { status, body } = await get(`?${name}=${input}`);
    expect(status).toBe(422);
    expect(body).toEqual({ detail: [problem(name, input, type, msg, ctx)] });
  });

  test('reports every invalid field at once, in parameter order', async () => {
    const { status, body } = await get(
      '?max_markets=1&since=x&buckets=x&ticker=x&minutes_before=x&event_type=2h',
    );
    expect(status).toBe(422);
    const fields = (body.detail as { loc: string[] }[]).map(({ loc }) => loc[1]);
    expect(fields).toEqual(['ticker', 'minutes_before', 'since', 'buckets', 'max_markets']);
  });

  test.each([
    ['?event_type=2h', 'event_type must be one of 5m, 15m, 1h, 4h, daily_up_down'],
    ['?since=2026-11-21&until=2026-11-20', 'since must not be after until'],
  ])('%s is malformed', async (query, detail) => {
    expect(await get(query)).toEqual({ status: 400, body: { detail } });
  });
});
