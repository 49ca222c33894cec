import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import { openTestStore, reachTestEngine } from '../../../test/support/store.ts';
import { MARKET } from '../../../test/support/wire.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { PerpVenueName } from '../../schema/events.ts';
import { NO_SETTLEMENT } from '../../schema/market.ts';
import { perpDepthOf } from '../queries/lists.ts';
import { loadMarkets } from '../queries/markets.ts';
import { loadOpenGaps } from '../queries/resume.ts';
import { loadTapeGaps } from '../queries/universe.ts';
import { DATABASE, TABLES, writtenColumns } from '../tables/schema.ts';
import { EMBEDDED_FORM, schemaStages } from '../tables/statements.ts';
import { StoreClient } from './client.ts';

/** The tables that gained columns after their first version. */
const GROWN = Object.values(TABLES).filter(({ columns }) => columns.some(({ added }) => added));
const DEPTH = {
  ...({ kind: 'perp_depth', ticker: 'BTC', engineTimeMs: null, roundTripMs: 3 } as const),
  ...{ eventTimeMs: MARKET.startTimeMs, receivedTimeMs: MARKET.startTimeMs, bids: [], asks: [] },
};
const OLD_GAP = {
  ...{ gapId: 'gap_1', marketId: MARKET.marketId, startTimeMs: 1_795_176_001_000, endTimeMs: null },
  ...({ cause: 'disconnected', feed: 'polymarket.clob', repairedBy: null } as const),
};

test('a store of an earlier release gets the new columns; old rows read null there', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-migration-'));
  const common = { clock: systemClock, log: silentLogger };
  const access = await reachTestEngine(dataDir);
  const client = new StoreClient({ ...common, access, database: 'default' });
  await client.command(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`);
  for (const statement of schemaStages(EMBEDDED_FORM)[0]!) await client.command(statement);
  for (const { name, columns } of GROWN) {
    const drops = columns.filter(({ added }) => added).map((column) => `DROP COLUMN ${column.name}`);
    await client.command(`ALTER TABLE ${DATABASE}.${name} ${drops.join(', ')}`);
  }
  const old = writtenColumns(TABLES.markets).filter((column) => !column.added);
  const values: Record<string, unknown> = {
    ...{ market_id: MARKET.marketId, event_id: 'e1', slug: MARKET.slug, question: MARKET.question },
    ...{ event_type: '5m', ticker: 'BTC', status: 'open', tick_size: 100, seq: 1 },
    ...{ yes_token_id: MARKET.yesTokenId, no_token_id: MARKET.noTokenId },
    ...{ start_time: MARKET.startTimeMs, end_time: MARKET.endTimeMs },
    // The table's value of that time: not the market's own.
    ...{ taker_fee_rate: 0.07, taker_fee_exponent: 1, taker_delay_ms: 250 },
  };
  const row = Object.fromEntries(old.map(({ name }) => [name, values[name] ?? null]));
  await client.command(`INSERT INTO ${DATABASE}.markets FORMAT JSONEachRow ${JSON.stringify(row)}`);
  const gap = {
    ...{ market_id: OLD_GAP.marketId, gap_id: OLD_GAP.gapId, start_time: OLD_GAP.startTimeMs, seq: 1 },
    ...{ end_time: null, cause: OLD_GAP.cause, feed: OLD_GAP.feed, repaired_by: null },
  };
  await client.command(`INSERT INTO ${DATABASE}.gaps FORMAT JSONEachRow ${JSON.stringify(gap)}`);
  const depth = {
    ...{ ticker: 'BTC', ts: MARKET.startTimeMs, seq: 1, received: MARKET.startTimeMs, update_id: 5 },
    ...{ engine_ts: null, round_trip_ms: 3, bid_px: [97_000.1], bid_sz: [1], ask_px: [], ask_sz: [] },
  };
  await client.command(`INSERT INTO ${DATABASE}.perp_depth FORMAT JSONEachRow ${JSON.stringify(depth)}`);
  await client.close();
  await access.close();

  const { store, dispose } = await openTestStore({ dataDir });
  expect(await loadMarkets(store)).toEqual([{ ...MARKET, ...NO_SETTLEMENT }]);
  expect(await loadOpenGaps(store)).toEqual([oneClock({ ...OLD_GAP, knownTimeMs: null, knownSeq: null })]);
  const { marketId, startTimeMs: startMs } = OLD_GAP;
  expect(await loadTapeGaps(store, [marketId])).toEqual(
    new Map([[marketId, [{ startMs, knownMs: startMs + 0.5, endMs: null }]]]),
  );
  const known = { knownTimeMs: startMs + 700, knownSeq: 2 };
  store.writer.gap(oneClock({ ...OLD_GAP, ...known, gapId: 'gap_2', seq: 2 }));
  store.writer.gap(oneClock({ ...OLD_GAP, ...known, gapId: 'gap_2', seq: 3, endTimeMs: startMs + 900 }));
  await store.writer.flush();
  expect((await loadTapeGaps(store, [marketId])).get(marketId)?.[1]).toEqual({
    ...{ startMs, knownMs: startMs + 700, endMs: startMs + 900, knownSeq: 2, endSeq: 3 },
  });
  const facts = {
    strikeBasis: 'listing',
    strikeKnownTimeMs: 1_795_176_004_000,
    resolvedBy: 'stream',
  } as const;
  store.writer.market({ ...MARKET, ...facts, seq: 2 });
  await store.writer.flush();
  expect(await loadMarkets(store)).toEqual([{ ...MARKET, ...facts }]);
  store.writer.perpDepth({ ...DEPTH, venue: 'bybit', seq: 2, updateId: 6 });
  store.writer.perpDepth({ ...DEPTH, venue: 'okx', seq: 3, updateId: 7 });
  await store.writer.flush();
  const updateIds = async (venue: PerpVenueName) => {
    const { table, conditions, params } = perpDepthOf('BTC', venue);
    const rows = await store.rows<{ id: number }>(
      `SELECT t.update_id AS id FROM ${table} AS t WHERE ${conditions.join(' AND ')} ORDER BY t.seq`,
      params,
    );
    return rows.map(({ id }) => id);
  };
  // Releases without the column recorded Bybit alone.
  expect([await updateIds('bybit'), await updateIds('okx'), await updateIds('binance')]).toEqual([
    [5, 6],
    [7],
    [],
  ]);
  await dispose();
});
