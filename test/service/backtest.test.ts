import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { marketIdOf, WINDOW_MS, writeSeries } from '../support/backtestData.ts';
import { type BacktestRig, openBacktestRig } from '../support/backtestRig.ts';
import { oneClock } from '../support/gaps.ts';

/** Within the history window of every tier. */
const START = Math.floor((systemClock.now() - 86_400_000) / WINDOW_MS) * WINDOW_MS;
const MARKETS = 48;
const UNIVERSE = { ticker: 'BTC', event_type: '5m' };
const THRESHOLD = { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' };
const SIGMA = {
  type: 'condition_based',
  entry: [{ metric: 'underlying_distance_pct', operator: 'above', value: 0.01 }],
  side: 'buy_yes',
};
const BODY = { strategy: THRESHOLD, universe: UNIVERSE };
const SWEEP = { ...BODY, x_axis: { param: 'threshold', start: 0.1, end: 0.9, steps: 9 } };

let rig: BacktestRig;
let key: { authorization: string };

beforeAll(async () => {
  rig = await openBacktestRig((writer) => {
    const seq = writeSeries(writer, {
      ...{ markets: MARKETS, quotes: 200, startMs: START },
      odd: (at) => {
        if (at === 3) return { status: 'closed', outcome: null, payoutYes: null, resolvedTimeMs: null };
        if (at === 5) return { silent: true };
        if (at === 7) return { strikePrice: null, strikeKnownTimeMs: null };
        return {};
      },
    });
    writer.gap(
      oneClock({
        ...{ seq: seq + 1, gapId: 'gap_a', marketId: marketIdOf(9) },
        ...{ startTimeMs: START + 9 * WINDOW_MS - 1_000, endTimeMs: START + 10 * WINDOW_MS + 1_000 },
        ...{ cause: 'disconnected', feed: 'polymarket.clob', repairedBy: null },
        ...{ knownTimeMs: null, knownSeq: null },
      }),
    );
  });
  key = await rig.key('premium');
});
afterAll(() => rig.dispose());

const SKIPPED = [
  { market_id: marketIdOf(3), reason: 'unresolved' },
  { market_id: marketIdOf(5), reason: 'no_data' },
  { market_id: marketIdOf(9), reason: 'gap' },
];

async function backtestOf(threshold: number) {
  const body = { ...BODY, strategy: { ...THRESHOLD, threshold } };
  return (await rig.submit('/v1/backtest', body, key)).job.result;
}

describe('a backtest', () => {
  test('trap 7: includes unresolved, silent and lost markets in the universe and reports them as skipped', async () => {
    const { status, job } = await rig.submit('/v1/backtest', BODY, key);
    expect([status, job.status, job.error]).toEqual([201, 'complete', null]);
    const { result } = job;
    expect(result.markets_total).toBe(MARKETS);
    expect(result.markets_skipped).toEqual(SKIPPED);
    expect(result.coverage).toBeGreaterThan(0.92);
    expect(result.coverage).toBeLessThan(0.96);
  });

  test('has totals that equal the sums of its trades', async () => {
    const { result } = (await rig.submit('/v1/backtest', BODY, key)).job;
    expect(result.trades_total).toBeGreaterThan(3);
    expect(result.trades).toHaveLength(result.trades_total);
    const sum = (member: string) =>
      result.trades.reduce((total: number, trade: Record<string, number>) => total + (trade[member] ?? 0), 0);
    expect(result.total_pnl).toBeCloseTo(sum('net_pnl'), 9);
    expect(result.total_fees).toBeCloseTo(sum('fees_usd'), 9);
    expect(result.win_rate).toBe(result.trades_won / result.trades_total);
    expect(result.calmar_ratio).toBeCloseTo(result.total_pnl / -result.max_drawdown, 9);
    expect(result.equity_curve.at(-1).cumulative_pnl).toBe(result.total_pnl);
    for (const { side, outcome, exit_price, exit_reason } of result.trades) {
      expect([side, exit_reason, exit_price]).toEqual(['buy_yes', 'resolved', outcome === 'Up' ? 1 : 0]);
    }
  });

  test('has confidence intervals from 30 traded markets on', async () => {
    const result = await backtestOf(0.9);
    expect(result.markets_traded).toBeGreaterThanOrEqual(30);
    for (const name of ['total_pnl', 'win_rate', 'sharpe_per_market']) {
      const [low, high] = result.intervals[name];
      expect(low, name).toBeLessThan(result[name]);
      expect(high, name).toBeGreaterThan(result[name]);
    }
    expect(result.sharpe_ratio).not.toBeNull();
    const few = await backtestOf(0.1);
    expect(few.markets_traded).toBeLessThan(30);
    expect([few.intervals, few.sharpe_ratio]).toEqual([null, null]);
  });

  test('requires a strike only if the strategy does', async () => {
    const { job } = await rig.submit('/v1/backtest', { ...BODY, strategy: SIGMA }, key);
    expect(job.error).toBeNull();
    expect(job.result.markets_skipped).toEqual([
      ...SKIPPED.slice(0, 2),
      { market_id: marketIdOf(7), reason: 'no_strike' },
      ...SKIPPED.slice(2),
    ]);
  });

  test('repeats and replays every member of a condition', async () => {
    const entry = [
      {
        any: [
          { metric: 'token_move', operator: '<=', value: 0.01 },
          { metric: 'seconds_since_open', operator: '>=', value: 60 },
        ],
      },
      { metric: 'token_volatility', operator: '>=', value: 0, token: 'no', window_s: 5 },
      { metric: 'underlying_volatility', operator: '!=', value: -1, window_s: 60 },
    ];
    const { status, job } = await rig.submit('/v1/backtest', { ...BODY, strategy: { ...SIGMA, entry } }, key);
    expect([status, job.status, job.error]).toEqual([201, 'complete', null]);
    expect(job.strategy).toMatchObject({ entry });
    expect(job.result.markets_skipped).toEqual(SKIPPED);
    expect(job.result.trades_total).toBeGreaterThan(3);
  });

  test('of several series replays the markets of all of them', async () => {
    const universe = { tickers: ['ETH', 'BTC'], event_types: ['15m', '5m'] };
    const { job } = await rig.submit('/v1/backtest', { ...BODY, universe }, key);
    const one = (await rig.submit('/v1/backtest', BODY, key)).job;
    expect([job.universe, job.request.universe]).toEqual([universe, universe]);
    expect(job.result).toEqual(one.result);
  });

  test('adds figures under a stress, and changes no other', async () => {
    const stress = { void_share: 0.5, disputed_share: 0.25, dispute_delay_hours: 24 };
    const { job } = await rig.submit('/v1/backtest', { ...BODY, params: { stress } }, key);
    const { stress: figures, ...plain } = job.result;
    expect(plain).toEqual((await rig.submit('/v1/backtest', BODY, key)).job.result);
    expect(figures.void_markets).toBeGreaterThan(10);
    expect(figures.disputed_markets).toBeGreaterThan(4);
    expect(figures.total_pnl).not.toBe(plain.total_pnl);
    const sweep = (await rig.submit('/v1/backtest/sweep', { ...SWEEP, params: { stress } }, key)).job;
    const [cell] = sweep.result.cells[0].slice(3);
    expect([cell.total_pnl, cell.stressed_pnl]).toEqual([plain.total_pnl, figures.total_pnl]);
  });

  test('selects the newest markets of a half-open range', async () => {
    const end = new Date(START + 20 * WINDOW_MS).toISOString();
    const { job } = await rig.submit('/v1/backtest', { ...BODY, end, market_limit: 4 }, key);
    const ids = job.result.trades.map(({ market_id }: { market_id: string }) => market_id);
    expect(job.result.markets_total).toBe(4);
    for (const id of ids) expect([15, 16, 17, 18].map(marketIdOf)).toContain(id);
  });

  test.each([
    [
      'an empty universe',
      { universe: { ticker: 'SOL', event_type: '1h' } },
      'no SOL 1h market ended in the range asked for',
    ],
    [
      'a range before the first',
      { end: new Date(START).toISOString() },
      'no BTC 5m market ended in the range asked for',
    ],
    [
      'only markets in gaps',
      {
        start: new Date(START + 10 * WINDOW_MS).toISOString(),
        end: new Date(START + 10 * WINDOW_MS + 1).toISOString(),
      },
      'none of 1 markets could be replayed: 1 gap',
    ],
  ])('fails the job with the reason, never with a result of 0, for %s', async (_what, more, error) => {
    const { job } = await rig.submit('/v1/backtest', { ...BODY, ...more }, key);
    expect(job).toMatchObject({ status: 'failed', error, result: null });
  });

  test('returns the same bytes for the same receipt, even after a restart', async () => {
    const first = await rig.submit('/v1/backtest', BODY, key);
    const again = await rig.submit('/v1/backtest', BODY, key);
    await rig.restart();
    const later = await rig.submit('/v1/backtest', BODY, key);
    const bytes = [first, again, later].map(({ raw }) => raw.slice(raw.indexOf('"result":')));
    expect(first.job.result.receipt.data_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(bytes[1]).toBe(bytes[0]);
    expect(bytes[2]).toBe(bytes[0]);
  });
});

describe('the request of a job', () => {
  const range = { start: new Date(START + 10 * WINDOW_MS).toISOString(), market_limit: 9 };
  const axes = { ...SWEEP, y_axis: { param: 'latency_ms', start: 0, end: 200, steps: 2 } };

  test.each([
    ['a backtest', '/v1/backtest', { ...BODY, ...range }],
    ['a sweep over two axes', '/v1/backtest/sweep', { ...axes, ...range }],
  ])('gives the same bytes when posted again: %s', async (_what, path, body) => {
    const first = await rig.submit(path, body, key);
    const { request } = JSON.parse(first.raw);
    expect(request).toMatchObject({ ...body, start: range.start.replace('Z', '+00:00') });
    const again = await rig.submit(path, request, key);
    const bytes = [first, again].map(({ raw }) => raw.slice(raw.indexOf('"result":')));
    expect(bytes[1]).toBe(bytes[0]);
    expect(JSON.parse(again.raw).request).toEqual(request);
    const list = (await rig.app.inject({ url: '/v1/backtest?limit=1', headers: { ...key } })).json();
    expect(list.jobs[0].request).toEqual(request);
  });
});

describe('a sweep', () => {
  test('trap 11: reports the number of trials and deflates the best result by it', async () => {
    const { status, job } = await rig.submit('/v1/backtest/sweep', SWEEP, key);
    expect([status, job.status, job.error]).toEqual([201, 'complete', null]);
    const { result } = job;
    expect(result.n_trials).toBe(9);
    expect(result.x_axis.values).toEqual([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
    expect(result.cells).toHaveLength(1);
    expect(result.cells[0]).toHaveLength(9);
    expect(result.n_trials_effective).toBeGreaterThanOrEqual(1);
    expect(result.n_trials_effective).toBeLessThanOrEqual(9);
    for (const name of ['deflated_sharpe', 'pbo']) {
      expect(result[name], name).toBeGreaterThanOrEqual(0);
      expect(result[name], name).toBeLessThanOrEqual(1);
    }
    expect(result.warnings.length).toBeGreaterThan(0);
    const shown = result.cells[0].map((cell: { sharpe_per_market: number | null }) => cell.sharpe_per_market);
    const { markets_traded: n } = await backtestOf(result.x_axis.values[result.best.x]);
    expect(result.best).toEqual({ x: shown.indexOf(Math.max(...shown.filter(Number.isFinite))), y: 0 });
    expect(result.sharpe_variance).toBeGreaterThanOrEqual(1 / (n - 1));
  });

  test('counts the user’s earlier trials on the universe, and returns the same result when repeated', async () => {
    const own = await rig.key('premium', 'searcher@example.com');
    const wide = (await rig.submit('/v1/backtest/sweep', SWEEP, own)).job.result;
    await rig.submit('/v1/backtest', BODY, own);
    const x_axis = { param: 'threshold', start: 0.38, end: 0.42, steps: 40 };
    const near = await rig.submit('/v1/backtest/sweep', { ...SWEEP, x_axis }, own);
    const again = await rig.submit('/v1/backtest/sweep', { ...SWEEP, x_axis }, own);
    expect([wide.n_trials_before, near.job.result.n_trials_before]).toEqual([0, 10]);
    expect(again.job.result).toEqual(near.job.result);
  });

  test('a cell equals the backtest with its values', async () => {
    const y_axis = { param: 'latency_ms', start: 0, end: 3_000, steps: 4 };
    const { result } = (await rig.submit('/v1/backtest/sweep', { ...SWEEP, y_axis }, key)).job;
    expect(result.y_axis.values).toEqual([0, 1_000, 2_000, 3_000]);
    for (const [x, y] of [
      [3, 0],
      [6, 2],
    ] as const) {
      const strategy = { ...THRESHOLD, threshold: result.x_axis.values[x] };
      const params = { latency_ms: result.y_axis.values[y] };
      const one = (await rig.submit('/v1/backtest', { ...BODY, strategy, params }, key)).job.result;
      const { error, ...cell } = result.cells[y][x];
      expect(error).toBeNull();
      expect(one).toMatchObject(cell);
      expect(cell.trades_total).toBeGreaterThan(0);
    }
  });

  test('a cell of another size is filled on books as deep as in its own backtest', async () => {
    const x_axis = { param: 'size_usd', start: 50, end: 1_250, steps: 3 };
    const { result } = (await rig.submit('/v1/backtest/sweep', { ...SWEEP, x_axis }, key)).job;
    expect(result.x_axis.values).toEqual([50, 650, 1_250]);
    for (const [x, size_usd] of result.x_axis.values.entries()) {
      const one = (await rig.submit('/v1/backtest', { ...BODY, size_usd }, key)).job.result;
      const { error: _, ...cell } = result.cells[0][x];
      expect(one).toMatchObject(cell);
    }
  });

  test('reports an invalid value as an error of its cell, not of the sweep', async () => {
    const x_axis = { param: 'threshold', start: 0.5, end: 1.5, steps: 3 };
    const { result } = (await rig.submit('/v1/backtest/sweep', { ...SWEEP, x_axis }, key)).job;
    expect(result.cells[0].map(({ error }: { error: string | null }) => error)).toEqual([
      null,
      null,
      'Input should be less than or equal to 1',
    ]);
    expect(result.n_trials).toBe(2);
    expect(result.warnings).toContain('1 of 3 cells could not be tried');
  });

  test('shares few markets with many cells between threads, with the same bytes', async () => {
    const x_axis = { param: 'threshold', start: 0.1, end: 0.9, steps: 200 };
    const few = { ...SWEEP, x_axis, market_limit: 1 };
    const first = await rig.submit('/v1/backtest/sweep', few, key);
    const again = await rig.submit('/v1/backtest/sweep', few, key);
    expect(first.job.result.cells[0]).toHaveLength(200);
    expect(again.job.result).toEqual(first.job.result);
  });
});
