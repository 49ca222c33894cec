import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { marketOf, openPaperRig, toldOf } from '../../test/support/paperRig.ts';
import { STRATEGIES } from '../../test/support/strategies.ts';
import { randomTape, START_MS } from '../../test/support/tapes.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { prepareMarket } from '../core/replay/prepare.ts';
import { replayMarket } from '../core/replay/replay.ts';
import type { MarketTape } from '../core/replay/tape.ts';
import { compileStrategy } from '../core/strategies/compile.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import { positionRows, sumsOf } from './positions.ts';

const SIZE_USD = 10;
const NEVER = Number.POSITIVE_INFINITY;
const RESOLVED = {
  status: 'resolved',
  outcome: 'Up',
  payoutYes: 1,
  resolvedTimeMs: START_MS + 420_000,
} as const;

/** @param speed Times as fast as it was received; infinite: as fast as it goes. */
async function tradedLive(tape: MarketTape, speed: number) {
  const told = toldOf(tape);
  const clock = new FakeClock((told[0]?.atMs ?? 0) - 10_000);
  const { db, bus, userId, trading } = await openPaperRig({ dataDir: temporaryDirectory(), clock });
  const names = new Map<string, string>();
  for (const [name, strategy] of Object.entries(STRATEGIES)) {
    const wanted = { userId, name, strategy, universe: { ticker: 'BTC', event_type: '5m' } as const };
    const made = await trading.papers.create({ ...wanted, sizeUsd: SIZE_USD, baselineId: null, cap: 100 });
    if (typeof made === 'string') throw new Error(made);
    names.set(made.strategyId, name);
  }
  bus.publish('market', marketOf(tape));
  for (const { atMs, tell } of told) {
    if (speed < NEVER) await clock.advance((atMs - clock.now()) / speed);
    tell(bus);
  }
  bus.publish('market', marketOf(tape, RESOLVED));
  const settled = trading.settled();
  await clock.advance(60_000);
  await settled;
  const rows = await db.selectFrom('paper_positions').selectAll().orderBy('opened_ms').execute();
  const strategies = await trading.papers.strategies.list(userId);
  await trading.close();
  await db.destroy();
  return { rows, strategies, names };
}

/** The rows the backtester would have written. */
function backtested(
  tape: MarketTape,
  { strategyId, name }: { strategyId: string; name: string },
  fromMs: number,
) {
  const strategy = compileStrategy(STRATEGIES[name as keyof typeof STRATEGIES]!);
  const terms = { strategy, size: SIZE_USD * 1e6, params: DEFAULT_PARAMS };
  const resolution = { payoutYes: 1, resolvedTimeMs: RESOLVED.resolvedTimeMs };
  const { trades } = replayMarket(prepareMarket(tape, strategy.needs), terms, { resolution });
  return positionRows({ strategyId, marketId: tape.market.marketId, fromMs, outcome: 'Up', trades });
}

describe.each([
  ['1x', 1],
  ['100x', 100],
  ['maximum speed', NEVER],
] as const)('a stream traded live at %s', (_, speed) => {
  test.each(['one', 'two', 'three'])('deals as the backtester does, byte for byte: tape %s', async (seed) => {
    const tape = randomTape(`parity ${seed}`, { books: 1_200, levels: 6 });
    const { rows, strategies, names } = await tradedLive(tape, speed);
    expect(rows.length).toBeGreaterThan(5);
    for (const own of strategies) {
      const live = rows.filter((row) => row.paper_strategy_id === own.strategyId);
      const name = names.get(own.strategyId) as string;
      const replayed = backtested(tape, { strategyId: own.strategyId, name }, own.activeFromMs);
      expect(JSON.stringify(live), name).toBe(
        JSON.stringify(live.length === 0 ? live : sameOrder(replayed, live)),
      );
      const sums = sumsOf(live);
      expect([own.netPnl, own.openPositions, own.closedPositions]).toEqual([
        sums.pnl,
        sums.open,
        sums.closed,
      ]);
      expect(live).toHaveLength(replayed.length);
    }
  });
});

/** Members in the order the database gives them. */
function sameOrder<T extends object>(rows: readonly T[], like: readonly T[]): T[] {
  const members = Object.keys(like[0] as T) as (keyof T)[];
  return rows.map((row) => Object.fromEntries(members.map((member) => [member, row[member]])) as T);
}
