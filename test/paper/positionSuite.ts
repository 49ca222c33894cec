import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UserRepository } from '../../src/accounts/users/users.ts';
import type { Database } from '../../src/control/schema.ts';
import { Random } from '../../src/core/random.ts';
import type { Trade } from '../../src/core/session/position.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { firstTerms } from '../../src/trading/live/marketTerms.ts';
import type { SessionState } from '../../src/trading/live/paperSession.ts';
import { forgetOldTerms, readTerms } from '../../src/trading/paper/marketTermsTable.ts';
import {
  type ClosedPosition,
  PositionReader,
  positionRows,
  sumsOf,
  tradeOf,
  writeSession,
} from '../../src/trading/paper/positions.ts';
import { PositionWriter } from '../../src/trading/paper/positionWriter.ts';
import { StrategyRepository } from '../../src/trading/paper/strategies.ts';
import { FakeClock } from '../support/fakeClock.ts';
import { TAPE_MARKET } from '../support/tapes.ts';

/** A position opened at a time; closed a second later if `pnl` is given, in whole micro-USD. */
export function aTrade(openedMs: number, pnl: number | null = null): Trade {
  const closed = pnl === null ? null : openedMs + 1_000;
  return {
    ...{ token: openedMs % 2 === 0 ? 'yes' : 'no', decidedMs: openedMs - 300, openedMs, closedMs: closed },
    ...{ size: 20_408_163, entryPrice: 0.490000006, exitPrice: pnl === null ? null : 0.51 },
    ...{ exitReason: pnl === null ? null : 'take_profit', principal: 10_000_000, fees: 349_930 },
    ...{ decisionPrice: 0.490000129, entrySlippage: -0.000000123, entryLevels: 2, pnl },
    ...{ exitSlippage: pnl === null ? null : 0.000000321, exitLevels: pnl === null ? null : 3 },
  };
}

/** Required behaviour of positions on both databases. */
export function positionSuite(driver: string, open: () => Promise<Database>): void {
  const begin = async () => {
    const db = await open();
    onTestFinished(() => db.destroy());
    const clock = new FakeClock();
    const { userId } = await new UserRepository(db, { clock, randomBytes }).findOrCreate('a@example.com');
    const strategies = new StrategyRepository(db, { clock, randomBytes });
    const made = await strategies.create({
      ...{ userId, name: 'one', sizeUsd: 10, baselineId: 'bt_1', cap: 100 },
      strategy: { type: 'mean_reversion', lookback: 20, z_threshold: 1 },
      universe: { ticker: 'BTC', event_type: '5m' },
    });
    if (typeof made === 'string') throw new Error(made);
    const { strategyId } = made;
    const state = (marketId: string, trades: readonly Trade[]): SessionState => ({
      ...{ strategyId, marketId, fromMs: 5, outcome: null, trades },
    });
    const write = (marketId: string, trades: readonly Trade[]) =>
      db.transaction().execute((transaction) => writeSession(transaction, state(marketId, trades)));
    const sums = async () => {
      const own = await strategies.find(strategyId, { userId });
      return { pnl: own?.netPnl, open: own?.openPositions, closed: own?.closedPositions };
    };
    return { db, clock, strategyId, state, write, sums, reader: new PositionReader(db) };
  };

  describe(`paper positions on ${driver}`, () => {
    test('are read back as traded, to the last digit', async () => {
      const { state, write, reader, strategyId } = await begin();
      const trades = [aTrade(1_795_176_000_001), aTrade(1_795_176_000_002, -123_456_789_012)];
      await write('0x1', trades);
      const rows = await reader.list(strategyId, { after: null, limit: 10 });
      expect(rows).toEqual(positionRows(state('0x1', trades)));
      expect(rows.map(tradeOf)).toEqual(trades);
    });

    test('change nothing when written twice, and leave nothing when reverted', async () => {
      const { write, sums, reader, strategyId } = await begin();
      const [first, second] = [aTrade(1, 700_001), aTrade(3_000)];
      await write('0x1', [first, second]);
      await write('0x1', [first, second]);
      expect(await sums()).toEqual({ pnl: 700_001, open: 1, closed: 1 });
      expect(await reader.heldMarkets()).toEqual(['0x1']);
      await write('0x1', [first]);
      expect(await sums()).toEqual({ pnl: 700_001, open: 0, closed: 1 });
      expect(await reader.heldMarkets()).toEqual([]);
      await write('0x1', [aTrade(1)]);
      expect(await sums()).toEqual({ pnl: 0, open: 1, closed: 0 });
      await write('0x1', []);
      expect([await sums(), await reader.count(strategyId)]).toEqual([{ pnl: 0, open: 0, closed: 0 }, 0]);
    });

    test('of many markets, written at once, sum up exactly to the micro-dollar', async () => {
      const { write, sums, reader, strategyId } = await begin();
      const random = new Random('sums');
      const sessionOf = (market: number) =>
        Array.from({ length: 1 + random.below(3) }, (_, at) =>
          aTrade(1 + 10 * market + 2 * at, random.chance(0.6) ? random.below(2e6) - 1e6 : null),
        );
      for (let round = 0; round < 3; round++) {
        await Promise.all(Array.from({ length: 12 }, (_, market) => write(`0x${market}`, sessionOf(market))));
        const rows = await reader.list(strategyId, { after: null, limit: 1_000 });
        expect(await sums()).toEqual(sumsOf(rows));
      }
    });

    test('paged while new ones are opened, each is listed once and in order', async () => {
      const { write, reader, strategyId } = await begin();
      // Some in other markets were opened at the same moment.
      const openings = [10, 20, 20, 20, 30, 40, 40, 50];
      for (const [at, openedMs] of openings.entries()) await write(`0x${at}`, [aTrade(openedMs)]);
      const seen: { id: string; openedMs: number }[] = [];
      for (let page = 0; ; page++) {
        const last = seen.at(-1);
        const after = last ? { openedMs: last.openedMs, positionId: last.id } : null;
        const rows = await reader.list(strategyId, { after, limit: 3 });
        seen.push(...rows.map((row) => ({ id: row.position_id, openedMs: row.opened_ms })));
        if (rows.length < 3) break;
        await write(`0xnew${page}`, [aTrade(100 + page)]);
      }
      expect(seen.map(({ openedMs }) => openedMs)).toEqual([...openings, 100, 101, 102]);
      expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    });

    test('paged by their closing, each is listed once, though several closed at one time', async () => {
      const { write, reader, strategyId } = await begin();
      for (let market = 0; market < 6; market++) await write(`0x${market}`, [aTrade(1_000, market)]);
      const seen: ClosedPosition[] = [];
      for (let after: ClosedPosition | null = null; ; after = seen.at(-1) ?? null) {
        const page = await reader.closed(strategyId, { after, limit: 2 });
        if (page.length === 0) break;
        seen.push(...page);
      }
      expect(seen.map(({ pnl_micro }) => pnl_micro).sort()).toEqual([0, 1, 2, 3, 4, 5]);
    });

    test('are found by market, by opening time and by exit', async () => {
      const { write, reader, strategyId } = await begin();
      await write('0x1', [aTrade(1_000, 5), aTrade(9_000), aTrade(9_001)]);
      await write('0x2', [aTrade(500, -7)]);
      expect(await reader.sessionsOf('0x1')).toEqual([{ strategyId, fromMs: 5, lastDecidedMs: 8_701 }]);
      expect(await reader.sessionsOf('0x3')).toEqual([]);
      const range = { startMs: 500, endMs: 9_000, limit: 10 };
      const [oldest, ...later] = await reader.between(strategyId, { ...range, after: null });
      expect([oldest, ...later].map((row) => row?.opened_ms)).toEqual([500, 1_000]);
      const after = { openedMs: 500, positionId: oldest?.position_id as string };
      expect(await reader.between(strategyId, { ...range, after })).toEqual(later);
      const closed = await reader.closed(strategyId, { after: null, limit: 10 });
      expect(closed).toMatchObject([
        { closed_ms: 1_500, pnl_micro: -7 },
        { closed_ms: 2_000, pnl_micro: 5 },
      ]);
      const [first = null, ...rest] = closed;
      expect(await reader.closed(strategyId, { after: first, limit: 10 })).toEqual(rest);
      expect(await reader.closed(strategyId, { after: null, limit: 1 })).toEqual([first]);
      expect(await reader.heldMarkets()).toEqual(['0x1']);
    });

    test('of a market whose resolution moved, those paid out or refunded move; all have its outcome', async () => {
      const { db, clock, write, reader, strategyId } = await begin();
      const reasons = ['resolved', 'market_void', 'take_profit'] as const;
      const trades = reasons.map((exitReason, at) => ({ ...aTrade(1_000 * at, 5), exitReason }));
      await write('0x1', trades);
      await write('0x2', [{ ...aTrade(5_000, 5), exitReason: 'resolved' }]);
      const { writer } = writerOn(db, clock);
      writer.resolutionMoved({ marketId: '0x1', outcome: 'Down', resolvedTimeMs: 9_000 });
      await passed(writer.settled(), clock);
      const rows = await reader.list(strategyId, { after: null, limit: 10 });
      expect(rows.map(({ closed_ms, outcome }) => [closed_ms, outcome])).toEqual([
        ...[9_000, 9_000, 3_000].map((closedMs) => [closedMs, 'Down']),
        [6_000, null],
      ]);
    });

    test('a market’s terms are kept in arrival order, and deleted after days', async () => {
      const { db, clock } = await begin();
      const { writer } = writerOn(db, clock);
      const first = firstTerms('0x1', { ...TAPE_MARKET, strikePrice: null });
      const later = {
        marketId: '0x1',
        afterSeq: 7_353_040_896_000_123,
        terms: firstTerms('0x1', { ...TAPE_MARKET, decidingFeed: 'chainlink_twap' }).terms,
      };
      writer.termsChanged(later);
      writer.termsChanged(first);
      await passed(writer.settled(), clock);
      expect(await readTerms(db, '0x1')).toEqual([first, later]);
      expect(await readTerms(db, '0x2')).toEqual([]);
      await forgetOldTerms(db, clock.now() + 6 * 86_400_000);
      expect(await readTerms(db, '0x1')).toHaveLength(2);
      await forgetOldTerms(db, clock.now() + 8 * 86_400_000);
      expect(await readTerms(db, '0x1')).toEqual([]);
    });

    test('terms of an earlier release, without the deciding feed, have none', async () => {
      const { db } = await begin();
      const { decidingFeed: _, ...terms } = firstTerms('0x1', TAPE_MARKET).terms;
      await db
        .insertInto('paper_market_terms')
        .values({ market_id: '0x1', after_seq: 1, terms: JSON.stringify(terms), written_ms: 1 })
        .execute();
      expect(await readTerms(db, '0x1')).toEqual([
        { marketId: '0x1', afterSeq: 1, terms: { ...terms, decidingFeed: null } },
      ]);
    });

    test('are retried until the database accepts them, and once more at the end', async () => {
      const { db, clock, state, sums } = await begin();
      let refused = 3;
      const refusing = {
        transaction: () => {
          if (refused-- > 0) throw new Error('the database is away');
          return db.transaction();
        },
      } as Database;
      const { writer, failures } = writerOn(refusing, clock);
      writer.changed(state('0x1', [aTrade(1, 42)]));
      await passed(writer.settled(), clock);
      expect([await failures(), await sums()]).toEqual([3, { pnl: 42, open: 0, closed: 1 }]);
      refused = 0;
      writer.changed(state('0x1', [aTrade(1, 43)]));
      await passed(writer.close(), clock);
      expect(await sums()).toEqual({ pnl: 43, open: 0, closed: 1 });
    });

    test('terms of a refused write are written, those that were corrected meanwhile in their newer form', async () => {
      const { db, clock } = await begin();
      const [first, other] = ['0x1', '0x2'].map((marketId) => firstTerms(marketId, TAPE_MARKET));
      const corrected = firstTerms('0x1', { ...TAPE_MARKET, strikePrice: 97_001 });
      let refused = 1;
      const refusing = {
        transaction: () => {
          if (refused-- <= 0) return db.transaction();
          writer.termsChanged(corrected);
          throw new Error('the database is away');
        },
      } as Database;
      const { writer } = writerOn(refusing, clock);
      for (const version of [first, other]) if (version !== undefined) writer.termsChanged(version);
      await passed(writer.settled(), clock);
      expect(await readTerms(db, '0x1')).toEqual([corrected]);
      expect(await readTerms(db, '0x2')).toEqual([other]);
    });

    test('that change again during a refused write keep the newer state', async () => {
      const { db, clock, state, sums } = await begin();
      let refused = 1;
      const refusing = {
        transaction: () => {
          if (refused-- <= 0) return db.transaction();
          writer.changed(state('0x1', [aTrade(1, 43)]));
          throw new Error('the database is away');
        },
      } as Database;
      const { writer } = writerOn(refusing, clock);
      writer.changed(state('0x1', [aTrade(1)]));
      await passed(writer.settled(), clock);
      expect(await sums()).toEqual({ pnl: 43, open: 0, closed: 1 });
    });
  });
}

function writerOn(database: Database, clock: FakeClock) {
  const metrics = new Metrics();
  const writer = new PositionWriter({ database, clock, log: silentLogger, metrics });
  const failures = async () => {
    const text = await metrics.registry.getSingleMetricAsString('underround_paper_write_failures_total');
    return Number(/^underround_paper_write_failures_total (\d+)/m.exec(text)?.[1]);
  };
  return { writer, failures };
}

/** Advances the clock until the promise has resolved. */
async function passed(done: Promise<void>, clock: FakeClock): Promise<void> {
  let isDone = false;
  void done.then(() => {
    isDone = true;
  });
  while (!isDone) await clock.advance(100);
}
