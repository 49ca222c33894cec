import { describe, expect, onTestFinished, test } from 'vitest';
import { LiveRig } from '../support/liveRig.ts';
import { eventually } from '../support/runningService.ts';
import { Trader } from '../support/trader.ts';

const MINUTE_MS = 60_000;
const NOON_MS = Date.UTC(2026, 10, 20, 12);
const at = (minute: number) => NOON_MS + minute * MINUTE_MS;

const holds = (side: string) => ({ type: 'threshold_entry', threshold: 0.97, direction: 'below', side });
const deals = { type: 'condition_based', max_trades_per_market: 30 };
const STRATEGIES = {
  'holds up': holds('buy_yes'),
  'holds down': holds('buy_no'),
  'waits for the end': { type: 'time_before_resolution', minutes_before: 1.5, side: 'buy_yes' },
  'reverts to the mean': { type: 'mean_reversion', lookback: 20, z_threshold: 1 },
  'trades all the time': {
    ...{ ...deals, side: 'buy_yes' },
    entry: [{ metric: 'token_price', operator: 'below', value: 0.97 }],
    take_profit: [{ metric: 'token_price', operator: 'above', value: 0.001 }],
  },
  'trades by the book': {
    ...{ ...deals, side: 'buy_no' },
    entry: [{ metric: 'imbalance', operator: 'crosses_above', value: 0 }],
    stop_loss: [{ metric: 'spread', operator: 'above', value: 0.02 }],
    take_profit: [{ metric: 'imbalance', operator: 'crosses_below', value: 0 }],
  },
  'trades by the model': {
    ...{ ...deals, side: 'buy_no' },
    entry: [{ metric: 'model_probability', operator: 'above', value: 0.02 }],
    take_profit: [{ metric: 'underlying_distance_sigma', operator: 'crosses_above', value: 0 }],
    stop_loss: [{ metric: 'seconds_to_end', operator: 'below', value: 20 }],
  },
};

/** Strategies created in the middle of the first window, by name. */
async function begin(seed: string) {
  const rig = new LiveRig({ seed, startMs: at(1) });
  onTestFinished(async () => {
    if (rig.isRunning) await rig.stop();
  });
  await rig.start();
  await rig.play(at(2));
  const trader = new Trader(rig);
  const ids = new Map<string, string>();
  for (const [name, strategy] of Object.entries(STRATEGIES)) {
    const { paper_strategy_id: id, ...made } = await trader.create(name, strategy);
    expect(made).toMatchObject({ name, active: true, net_pnl: 0, open_positions: 0, closed_positions: 0 });
    ids.set(name, id);
  }
  const positions = (name: keyof typeof STRATEGIES) => trader.positions(ids.get(name) as string);
  return { rig, trader, ids, positions };
}

describe('a live service against the simulated venues', () => {
  test('strategies enter, are paid out, balance, and fill as in the recording', async () => {
    const { rig, trader, ids, positions } = await begin('live');
    await rig.play(at(3));
    const first = rig.inPlay().facts.conditionId;
    const held = { side: 'buy_yes', closed_at: null, net_pnl: null, outcome: null, exit_reason: null };
    expect(await positions('holds up')).toEqual([expect.objectContaining({ ...held, market_id: first })]);
    await trader.expectBalanced();

    await rig.play(at(22));
    const paid = (await positions('holds up')).filter(({ closed_at }) => closed_at !== null);
    expect(paid.length).toBeGreaterThanOrEqual(2);
    for (const { exit_reason } of paid) expect(exit_reason).toBe('resolved');
    await trader.expectBalanced();

    const late = await trader.create('late', STRATEGIES['holds up']);
    const baseline = await eventually('the baseline', async () => {
      const path = `/v1/backtest/${late.baseline_backtest_id}`;
      const job = await rig.ask<{ status: string; result: { trades_total: number } }>('GET', path);
      return job.status === 'complete' && job.result;
    });
    expect(baseline.trades_total).toBeGreaterThanOrEqual(2);

    await rig.play(at(27));
    for (const { paper_strategy_id: id } of await trader.list()) await trader.change(id, { active: false });
    await rig.play(at(37));
    const stopped = await trader.list();
    expect(stopped.map(({ open_positions }) => open_positions)).toEqual(stopped.map(() => 0));
    await trader.expectBalanced();
    for (const [name, id] of ids) {
      const { same, differing } = await trader.divergence(id);
      expect([name, differing]).toEqual([name, []]);
      expect(same, name).toBeGreaterThan(2);
    }
    const compared = await trader.report(late.paper_strategy_id);
    expect(compared.baseline).toMatchObject({ status: 'complete', trades: baseline.trades_total });
  });

  test('a restart within a window loses and repeats no position, and pays out markets resolved meanwhile', async () => {
    const { rig, trader, ids, positions } = await begin('restarted');
    await rig.play(at(8.5));
    const all = async () =>
      new Map(
        await Promise.all([...ids].map(async ([name, id]) => [name, await trader.positions(id)] as const)),
      );
    const restart = async (downMs: number) => {
      const marketId = rig.inPlay().facts.conditionId;
      const before = await all();
      await rig.stop();
      await rig.play(rig.nowMs + downMs);
      await rig.start();
      await rig.settled();
      const { gaps } = await rig.ask<{ gaps: { cause: string; start: string }[] }>(
        'GET',
        `/v1/gaps?market_id=${marketId}`,
      );
      const down = gaps.filter(({ cause }) => cause === 'process_down').at(-1)!;
      expect(down).toBeDefined();
      // Fills up to the last proven row are kept; none follow it.
      const isKept = ({ opened_at, closed_at }: { opened_at: string; closed_at: string | null }) =>
        opened_at <= down.start && (closed_at === null || closed_at <= down.start);
      for (const [name, stood] of before) expect(stood.filter(isKept), name).toEqual(stood);
      await trader.expectBalanced();
      return { before, after: await all(), marketId };
    };

    const open = (positionsOf: Awaited<ReturnType<typeof all>>) =>
      [...positionsOf.values()].flat().filter(({ closed_at }) => closed_at === null).length;
    // Returns within the same window.
    const within = await restart(20_000);
    expect(within.after).toEqual(within.before);
    expect(open(within.before)).toBeGreaterThan(2);

    await rig.play(at(13));
    // Returns long after the window was resolved.
    const beyond = await restart(12 * MINUTE_MS);
    expect(open(beyond.before)).toBeGreaterThan(2);
    for (const [name, stood] of beyond.before) {
      const then = beyond.after.get(name)!;
      expect(
        then.map(({ position_id }) => position_id),
        name,
      ).toEqual(stood.map(({ position_id }) => position_id));
      for (const [n, position] of stood.entries()) {
        if (position.closed_at !== null)
          expect(then[n]).toEqual({ ...position, outcome: expect.any(String) });
        else expect(then[n]).toMatchObject({ market_id: position.market_id, exit_reason: 'resolved' });
      }
    }
    expect(open(beyond.after)).toBe(0);

    await rig.play(at(33));
    for (const id of ids.values()) await trader.change(id, { active: false });
    await rig.play(at(43));
    await trader.expectBalanced();
    for (const [name, id] of ids) {
      const { differing } = await trader.divergence(id);
      expect([name, differing]).toEqual([name, []]);
    }
    expect((await positions('trades all the time')).length).toBeGreaterThan(30);
  });
});
