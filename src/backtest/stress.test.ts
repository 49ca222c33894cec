import { describe, expect, test } from 'vitest';
import { randomTape, START_MS, TapeWriter } from '../../test/support/tapes.ts';
import type { MarketTape } from '../core/session/tape.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { Strategy, Stress } from '../schema/strategy.ts';
import { cellTerms, replayCells, replayOne } from './marketReplay.ts';
import { stressedResolution } from './stress.ts';
import { stressedBody } from './stressReport.ts';
import { stressedPnl } from './sweptTrades.ts';

const HOUR_MS = 3_600_000;
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: START_MS + 400_000 };
const STRESS: Stress = { void_share: 0.3, disputed_share: 0.2, dispute_delay_hours: 48 };
const HELD: Strategy = { type: 'time_before_resolution', minutes_before: 3, side: 'buy_yes' };
const NAMES = Array.from({ length: 400 }, (_, n) => `0x${n}`);

const kindOf = (marketId: string, stress: Stress) =>
  stressedResolution(marketId, { stress, resolution: RESOLUTION })?.kind ?? null;
const tapeOf = (marketId: string): MarketTape =>
  randomTape(marketId, { books: 60, levels: 4, gaps: false, market: { marketId } });
const cellOf = (stress: Stress | undefined) => ({
  ...{ strategy: HELD, sizeUsd: 10, params: { ...DEFAULT_PARAMS, ...(stress ? { stress } : {}) } },
});

describe('the draw', () => {
  test('stresses the asked shares, always the same markets', () => {
    const kinds = NAMES.map((name) => kindOf(name, STRESS));
    expect(kinds).toEqual(NAMES.map((name) => kindOf(name, STRESS)));
    const count = (wanted: string | null) => kinds.filter((kind) => kind === wanted).length;
    expect(count('void')).toBeGreaterThan(90);
    expect(count('void')).toBeLessThan(150);
    expect(count('disputed')).toBeGreaterThan(50);
    expect(count('disputed')).toBeLessThan(110);
  });

  test('of a larger share annuls the same markets and more', () => {
    const voided = (void_share: number) =>
      NAMES.filter((name) => kindOf(name, { ...STRESS, void_share, disputed_share: 0 }) === 'void');
    expect(voided(0.4)).toEqual(expect.arrayContaining(voided(0.1)));
    expect(voided(0)).toEqual([]);
    expect(voided(1)).toEqual(NAMES);
  });

  test('annuls no market that the venue annulled', () => {
    const resolution = { ...RESOLUTION, payoutYes: null };
    const stress = { ...STRESS, void_share: 1, disputed_share: 0 };
    expect(stressedResolution('0x1', { stress, resolution })).toBeNull();
  });
});

describe('a replay under stress', () => {
  const markets = NAMES.slice(0, 30).map((name) => {
    const tape = tapeOf(name);
    const outcome = replayOne(tape, RESOLUTION, cellOf(STRESS));
    return { ...outcome, tape, market: tape.market, plain: replayOne(tape, RESOLUTION, cellOf(undefined)) };
  });

  test('keeps the plain result; it refunds an annulled market and pays a disputed one late', () => {
    const seen = { void: 0, disputed: 0 };
    for (const { plain, replay, stressed } of markets) {
      expect(replay).toEqual(plain.replay);
      if (stressed === undefined) continue;
      const [trade, other] = [replay.trades[0], stressed.replay.trades[0]];
      if (trade === undefined || other === undefined) throw new Error('nothing was bought');
      seen[stressed.kind]++;
      if (stressed.kind === 'void') {
        expect(other).toMatchObject({ exitReason: 'market_void', pnl: -trade.fees });
      } else {
        expect(other).toEqual({ ...trade, closedMs: (trade.closedMs as number) + 48 * HOUR_MS });
      }
    }
    expect(Math.min(seen.void, seen.disputed)).toBeGreaterThan(2);
  });

  test('is summed beside the plain result', () => {
    const body = stressedBody(markets, 10);
    const chosen = markets.map(({ replay, stressed }) => stressed?.replay ?? replay);
    const pnl = chosen.flatMap(({ trades }) => trades).reduce((sum, trade) => sum + (trade.pnl ?? 0), 0);
    const count = (kind: string) => markets.filter(({ stressed }) => stressed?.kind === kind).length;
    expect(body).toMatchObject({ void_markets: count('void'), disputed_markets: count('disputed') });
    expect(body.total_pnl).toBeCloseTo(pnl / 1e6, 9);
    // All windows end at one time here, so all late money waits together.
    const late = markets.filter(({ stressed }) => stressed?.kind === 'disputed');
    const cost = late.reduce((sum, { replay }) => sum + (replay.trades[0]?.principal ?? 0), 0);
    expect(body.late_usd_max).toBeCloseTo(cost / 1e6, 9);
  });

  test('has no shares waiting that were sold before the payout', () => {
    const strategy: Strategy = {
      ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 1, stop_loss: [] },
      entry: [{ metric: 'token_price', operator: 'below', value: 0.3 }],
      take_profit: [{ metric: 'token_price', operator: 'above', value: 0.5 }],
    };
    const tape = new TapeWriter()
      .book({ at: 10_000, bids: [[0.24, 100]], asks: [[0.25, 100]] })
      .book({ at: 11_000, bids: [[0.24, 99]], asks: [[0.25, 100]] })
      .book({ at: 20_000, bids: [[0.6, 30]], asks: [[0.7, 100]] })
      .book({ at: 21_000, bids: [[0.6, 30]], asks: [[0.7, 99]] })
      .tape();
    const cell = { ...cellOf({ ...STRESS, void_share: 0, disputed_share: 1 }), strategy };
    const outcome = replayOne(tape, RESOLUTION, cell);
    // 30 of 40 shares were sold at 0.60; the 10 that wait cost 2.50 USD.
    expect(outcome.replay.trades).toMatchObject([
      { size: 40_000_000, principal: 10_000_000, exitReason: 'resolved', exitLevels: 1 },
    ]);
    expect(stressedBody([{ ...outcome, market: tape.market }], 10).late_usd_max).toBe(2.5);
  });

  test('counts money that arrives before money that begins to wait at that time', () => {
    const stress = { ...STRESS, void_share: 0, disputed_share: 1 };
    const results = [0, 48 * HOUR_MS].map((laterMs, at) => {
      const tape = tapeOf(`0x${at}`);
      const resolution = { ...RESOLUTION, resolvedTimeMs: RESOLUTION.resolvedTimeMs + laterMs };
      return { ...replayOne(tape, resolution, cellOf(stress)), market: tape.market };
    });
    const costs = results.map(({ replay }) => replay.paidOutCost / 1e6);
    expect(Math.min(...costs)).toBeGreaterThan(0);
    expect(stressedBody(results, 10).late_usd_max).toBe(Math.max(...costs));
  });

  test('gives each cell of a sweep the P&L of its own backtest under stress', () => {
    const cells = [3, 2, 1].map((minutes_before) => ({
      ...cellOf(STRESS),
      strategy: { ...HELD, minutes_before } as Strategy,
    }));
    const ranges = markets.map(({ tape }) => [replayCells(tape, RESOLUTION, cellTerms(cells))]);
    for (const [at, cell] of cells.entries()) {
      const own = markets.map(({ tape, market }) => ({ ...replayOne(tape, RESOLUTION, cell), market }));
      expect(stressedPnl(ranges, at)).toBeCloseTo(stressedBody(own, 10).total_pnl, 9);
    }
  });
});
