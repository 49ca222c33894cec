/** A cell of a sweep has the figures of a backtest with its values, whatever other cells and ranges there are. */
import { expect, test } from 'vitest';
import { drawnStrategy } from '../../test/support/drawnConditions.ts';
import { STRATEGIES } from '../../test/support/strategies.ts';
import { laterTape, randomTape } from '../../test/support/tapes.ts';
import { MICRO_PER_USDC } from '../core/fees.ts';
import { Random } from '../core/random.ts';
import type { MarketTape, Resolution } from '../core/session/tape.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { Strategy } from '../schema/strategy.ts';
import type { Cell } from './cells.ts';
import { cellTerms, replayCells, replayOne } from './marketReplay.ts';
import { resultBody } from './report.ts';
import { judgeSweep } from './sweepReport.ts';

const MARKETS = 6;
const WINDOW_MS = 300_000;
const UNREAD = { receipt: { data_hash: '', venue_rules: '', code_version: '', seed: 1 }, trades: [] };
const PARAMS = {
  ...DEFAULT_PARAMS,
  stress: { void_share: 0.4, disputed_share: 0.3, dispute_delay_hours: 2 },
};

interface Recorded {
  readonly tape: MarketTape;
  /** Of the last market: not yet. */
  readonly resolution: Resolution | null;
}

/** Neighbouring windows; positions of one may close after the next has ended. */
function recordedOf(seed: string): Recorded[] {
  const random = new Random(seed);
  return Array.from({ length: MARKETS }, (_, at) => {
    const own = randomTape(`${seed} ${at}`, { books: 200, levels: 4, trades: true });
    const later = laterTape(own, { marketId: `0x${at}`, laterMs: at * WINDOW_MS, afterSeq: 0 });
    const { trades = null } = own;
    const moved = (times: Float64Array) => times.map((ms) => ms + at * WINDOW_MS);
    const tape: MarketTape = {
      ...later,
      trades: trades && { ...trades, receivedMs: moved(trades.receivedMs), eventMs: moved(trades.eventMs) },
    };
    const resolvedTimeMs = tape.market.endTimeMs + random.below(2 * WINDOW_MS);
    const payoutYes = random.chance(0.1) ? null : random.below(2);
    return { tape, resolution: at === MARKETS - 1 ? null : { payoutYes, resolvedTimeMs } };
  });
}

/** Strategies that take, and the same with purchases that rest. */
function strategiesOf(seed: string): Strategy[] {
  const plain = [...Object.values(STRATEGIES).slice(0, 5), drawnStrategy(new Random(`${seed} strategy`))];
  const execution = { entry: 'maker', offset: 0.01, timeout_s: 20, queue_model: 'proportional' } as const;
  return plain.flatMap((strategy) => [strategy, { ...strategy, execution }]);
}

/** Of one strategy, as in every sweep; the third cell has an invalid value. */
function cellsOf(strategy: Strategy): (Cell | string)[] {
  const cells = [0, 50, 700, 2_500].map((latencyMs, at): Cell => {
    return { strategy, params: { ...PARAMS, latency_ms: latencyMs }, sizeUsd: 10 + 40 * at };
  });
  return [...cells.slice(0, 2), 'Input should be valid', ...cells.slice(2)];
}

test.each(['one', 'two'])('cells that are swept together have the figures of each alone: %s', (seed) => {
  const recorded = recordedOf(seed);
  let traded = 0;
  for (const strategy of strategiesOf(seed)) {
    const cells = cellsOf(strategy);
    const terms = cellTerms(cells);
    const swept = recorded.map(({ tape, resolution }) => {
      const ranges = [terms.slice(0, 2), terms.slice(2)];
      return { market: tape.market, ranges: ranges.map((own) => replayCells(tape, resolution, own)) };
    });
    const { cells: bodies } = judgeSweep(swept, cells, { trialsBefore: 0 });
    for (const [at, cell] of cells.entries()) {
      if (typeof cell === 'string') continue;
      const where = `${JSON.stringify(strategy)}, cell ${at}`;
      const results = recorded.map(({ tape, resolution }) => {
        return { market: tape.market, ...replayOne(tape, resolution, cell) };
      });
      const alone = resultBody(results, { ...{ sizeUsd: cell.sizeUsd, isStressed: true }, ...UNREAD });
      const { trades_total, total_pnl, win_rate, sharpe_per_market, max_drawdown, profit_factor } = alone;
      expect(bodies[at], where).toEqual({
        ...{ trades_total, total_pnl, win_rate, sharpe_per_market, max_drawdown, profit_factor },
        ...{ stressed_pnl: alone.stress?.total_pnl, error: null },
      });
      // The P&L of a run is that of its markets, each replayed alone.
      const ofMarkets = results.flatMap(({ replay }) => replay.trades.map(({ pnl }) => pnl ?? Number.NaN));
      expect(total_pnl, where).toBe(ofMarkets.reduce((sum, pnl) => sum + pnl, 0) / MICRO_PER_USDC);
      traded += trades_total;
    }
  }
  expect(traded).toBeGreaterThan(100);
});
