import { describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/control/schema.ts';
import type { Market } from '../../src/schema/market.ts';
import type { Strategy } from '../../src/schema/strategy.ts';
import type { PositionRow } from '../../src/trading/paper/positions.ts';
import { ACTIVATION_MS } from '../../src/trading/paper/strategies.ts';
import { STRATEGIES } from '../support/strategies.ts';
import { END_MS, randomTape, START_MS } from '../support/tapes.ts';
import { balances, dealt, RESOLVED_UP, TradedMarket } from './tradedMarket.ts';

const MODEL = STRATEGIES['condition_based on the model']!;
/** Buys whenever it may, and sells at once. */
const DEALER = {
  ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 100, stop_loss: [] },
  entry: [{ metric: 'token_price', operator: 'below', value: 0.99 }],
  take_profit: [{ metric: 'token_price', operator: 'above', value: 0 }],
} satisfies Strategy;
const HOLDER = STRATEGIES.time_before_resolution!;

/** The changes for a resolution to Down; earlier sales stay unchanged. */
function downOf(row: PositionRow): Partial<PositionRow> {
  if (row.exit_reason !== 'resolved') return {};
  const paid = row.token === 'no' ? row.size : 0;
  return { exit_price: paid / row.size, pnl_micro: paid - row.principal_micro - row.fees_micro };
}

/** Required behaviour on both databases when trading stops and starts again. */
export function restartSuite(driver: string, open: () => Promise<Database>): void {
  const begin = async (seed: string, market: Partial<Market> = {}) => {
    const db = await open();
    onTestFinished(() => db.destroy());
    const tape = randomTape(seed, { books: 1_200, levels: 6, gaps: false });
    return { db, traded: new TradedMarket(db, tape, market) };
  };

  describe(`restarts of paper trading on ${driver}`, () => {
    /** @param ends Shares of the market at which trading stops and starts again. */
    const corrected = async (ends: readonly number[], later: Partial<Market>) => {
      const { db, traded } = await begin('corrected', {
        ...{ strikePrice: 96_900, strikeKnownTimeMs: START_MS + 2_000 },
      });
      await traded.begin();
      for (const [name, strategy] of Object.entries(STRATEGIES)) await traded.strategy(name, strategy);
      for (const [share, then] of [
        [0.3, 'correct'],
        ...ends.map((end) => [end, 'restart'] as const),
        [1, 'end'],
      ] as const) {
        traded.publishTo(share);
        if (then === 'correct') traded.correct(later);
        if (then === 'restart') {
          await traded.end();
          await traded.begin();
        }
      }
      await traded.rig.trading.settled();
      traded.correct(RESOLVED_UP);
      await traded.end();
      await balances(db);
      return dealt(await traded.positions());
    };

    test.each([
      ['a strike', { strikePrice: 97_100, strikeKnownTimeMs: START_MS + 80_000 }],
      ['the hold', { takerDelayMs: 2_000, takerDelaySource: 'exchange' }],
      ['the fee', { takerFeeRate: 0.02 }],
    ] as const)(
      '%s corrected during trading applies from its receive time, also afterwards',
      async (_, later) => {
        const alone = await corrected([], later);
        expect(alone.length).toBeGreaterThan(8);
        expect(await corrected([0.6], later)).toEqual(alone);
        expect(await corrected([0.35, 0.36, 0.8], later)).toEqual(alone);
        expect(await corrected([], {})).not.toEqual(alone);
      },
    );

    test.each([
      ['while trading was stopped', true],
      ['afterwards', false],
    ])('open positions are paid out once when the market is resolved %s', async (_, meanwhile) => {
      const { db, traded } = await begin('held');
      await traded.begin();
      const { strategyId } = await traded.strategy('holder', HOLDER);
      traded.publishTo(0.8);
      await traded.end();
      const [held, ...others] = await traded.positions();
      expect([held?.closed_ms, others]).toEqual([null, []]);
      if (meanwhile) traded.correct(RESOLVED_UP);
      traded.clock.nowMs = END_MS + 600_000;
      await traded.begin();
      await traded.rig.trading.settled();
      if (!meanwhile) {
        expect(await traded.positions()).toEqual([held]);
        traded.correct(RESOLVED_UP);
        await traded.rig.trading.settled();
      }
      const pnl =
        (held?.token === 'yes' ? held.size : 0) - (held?.principal_micro ?? 0) - (held?.fees_micro ?? 0);
      const paid = {
        closed_ms: RESOLVED_UP.resolvedTimeMs,
        exit_reason: 'resolved',
        outcome: 'Up',
        pnl_micro: pnl,
      };
      expect(await traded.positions()).toEqual([
        expect.objectContaining({ ...held, ...paid, exit_price: expect.any(Number) }),
      ]);
      await balances(db);
      await traded.end();
      await traded.begin();
      await traded.end();
      expect(
        (await traded.positions()).map(({ paper_strategy_id: id, pnl_micro }) => [id, pnl_micro]),
      ).toEqual([[strategyId, pnl]]);
    });

    test('a resolution corrected by the listing is applied, before and after a restart', async () => {
      const { db, traded } = await begin('set right');
      await traded.begin();
      for (const [name, strategy] of Object.entries(STRATEGIES)) await traded.strategy(name, strategy);
      traded.publishTo(1);
      const { trading } = traded.rig;
      await trading.settled();
      traded.correct({ ...RESOLVED_UP, resolvedTimeMs: RESOLVED_UP.resolvedTimeMs - 7_000 });
      await trading.settled();
      const first = await traded.positions();
      // With another time.
      traded.correct(RESOLVED_UP);
      await trading.settled();
      const moved = first.map((row) =>
        row.exit_reason === 'resolved' ? { ...row, closed_ms: RESOLVED_UP.resolvedTimeMs } : row,
      );
      expect(moved).not.toEqual(first);
      expect(await traded.positions()).toEqual(moved);
      // With another outcome.
      traded.correct({ outcome: 'Down', payoutYes: 0 });
      await trading.settled();
      const down = moved.map((row) => ({ ...row, outcome: 'Down' as const, ...downOf(row) }));
      expect(down.map(({ pnl_micro }) => pnl_micro)).not.toEqual(moved.map(({ pnl_micro }) => pnl_micro));
      expect(await traded.positions()).toEqual(down);
      await balances(db);
      await traded.end();
      await traded.begin({ ended: async () => [traded.market] });
      await traded.end();
      expect(await traded.positions()).toEqual(down);
    });

    /** Stopped at a fifth, before its last allowed trade; active again at a half; with a restart at the given shares. */
    const stopped = async (ends: readonly number[]) => {
      const { db, traded } = await begin('stopped');
      await traded.begin();
      const { strategyId } = await traded.strategy('dealer', DEALER);
      let stoppedMs = 0;
      const set = async (active: boolean) => {
        const { trading, userId } = traded.rig;
        await trading.paperStrategies.change(strategyId, { userId, active, name: null, cap: 100 });
        if (!active) stoppedMs = traded.clock.nowMs + ACTIVATION_MS;
      };
      for (const share of [...ends, 0.2, 0.5, 1].sort((a, b) => a - b)) {
        traded.publishTo(share);
        if (share === 0.2) await set(false);
        if (share === 0.5) await set(true);
        if (!ends.includes(share)) continue;
        await traded.end();
        await traded.begin();
      }
      await traded.rig.trading.settled();
      traded.correct(RESOLVED_UP);
      await traded.end();
      await balances(db);
      return { rows: dealt(await traded.positions()), stoppedMs };
    };

    test('a stopped strategy opens no further position in a market it has traded, even if reactivated or restarted', async () => {
      const { rows, stoppedMs } = await stopped([]);
      expect(rows.length).toBeGreaterThan(5);
      expect(rows.length).toBeLessThan(DEALER.max_trades_per_market);
      for (const row of rows) {
        expect(row.decided_ms).toBeLessThan(stoppedMs);
        expect(row.closed_ms).not.toBeNull();
      }
      for (const ends of [[0.4], [0.6], [0.15, 0.45, 0.7]]) expect((await stopped(ends)).rows).toEqual(rows);
    });

    test('a stopped strategy is still stopped after a restart', async () => {
      const { traded } = await begin('stopped');
      await traded.begin();
      const { strategyId } = await traded.strategy('dealer', DEALER);
      traded.publishTo(0.2);
      const { trading, userId } = traded.rig;
      const stop = { userId, active: false, name: null, cap: 100 };
      expect(await trading.paperStrategies.change(strategyId, stop)).toMatchObject({ strategyId });
      const stoppedMs = traded.clock.nowMs + ACTIVATION_MS;
      await traded.end();
      await traded.begin();
      await traded.rig.trading.settled();
      traded.publishTo(1);
      await traded.end();
      const rows = await traded.positions();
      expect(rows.length).toBeGreaterThan(5);
      expect(rows.filter(({ decided_ms }) => decided_ms >= stoppedMs)).toEqual([]);
    });

    test('a strategy stopped before its first trade in a market trades there once it is active again', async () => {
      const { db, traded } = await begin('fresh');
      await traded.begin();
      const { strategyId } = await traded.strategy('model', MODEL);
      const change = (active: boolean) =>
        traded.rig.trading.paperStrategies.change(strategyId, {
          ...{ userId: traded.rig.userId, active, name: null, cap: 100 },
        });
      await change(false);
      traded.publishTo(0.5);
      await traded.rig.trading.settled();
      expect(await traded.positions()).toEqual([]);
      const changed = await change(true);
      const fromMs = typeof changed === 'object' ? changed.activeFromMs : 0;
      traded.publishTo(0.7);
      await traded.end();
      const before = await traded.positions();
      expect(before.length).toBeGreaterThan(0);
      for (const row of before) {
        expect(row.decided_ms).toBeGreaterThanOrEqual(fromMs);
        expect(row.session_from_ms).toBe(fromMs);
      }
      await traded.begin();
      await traded.end();
      expect(await traded.positions()).toEqual(before);
      await balances(db);
    });
  });
}
