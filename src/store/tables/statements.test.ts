import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oneNodeCluster } from '../../../test/support/oneNodeCluster.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { trade } from '../../../test/support/writerRig.ts';
import { loadTapeGaps } from '../queries/universe.ts';
import type { SchemaObject } from './foundObjects.ts';
import { TABLE_NAMES } from './schema.ts';
import {
  databaseStatement,
  EMBEDDED_FORM,
  schemaStages,
  syncStatement,
  type TableForm,
  versionStatement,
} from './statements.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore(await oneNodeCluster());
});
afterAll(() => opened.dispose());

const CLUSTER: TableForm = {
  cluster: 'c-1',
  storage: { policy: 'tiered', coldAfterDays: 30, deleteAfterDays: 400 },
};
const created = (form: TableForm) => schemaStages(form)[0] ?? [];
/** The engine's own spelling of a statement; rejects where its parser refuses it. */
const parsed = async (statement: string) => {
  const query = 'SELECT formatQuerySingleLine({statement:String}) AS text';
  const [row] = await opened.store.rows<{ text: string }>(query, { statement });
  return row?.text ?? '';
};
/** What a start finds after it created everything. */
const objects = (rule: string | null): SchemaObject[] =>
  TABLE_NAMES.flatMap((table) => {
    const names = ['venue', ...ADDED];
    if (table === 'quotes') names.push('minute_mids');
    if (rule !== null && table !== 'markets' && table !== 'gaps') names.push(rule);
    return names.map((name) => ({ table, name }));
  });
const ADDED = schemaStages(
  EMBEDDED_FORM,
  TABLE_NAMES.map((table) => ({ table, name: 'seq' })),
)
  .flat()
  .flatMap((statement) =>
    [...statement.matchAll(/ADD COLUMN IF NOT EXISTS (\w+)/g)].map(([, name = '']) => name),
  );

describe('statements for a cluster', () => {
  test('are accepted by the engine’s parser, each for all nodes', async () => {
    const older = TABLE_NAMES.flatMap((table) => [table, `${table}_local`]).map((table) => ({
      table,
      name: 'seq',
    }));
    const statements = [
      databaseStatement(CLUSTER),
      versionStatement(CLUSTER, 3),
      ...schemaStages(CLUSTER).flat(),
      ...schemaStages(CLUSTER, older).flat(),
      syncStatement('books', 'c-1'),
    ];
    expect(statements.length).toBeGreaterThan(30);
    for (const statement of statements) expect(await parsed(statement)).toMatch(/ ON CLUSTER `?'?c-1/);
  });

  test('replicate the stored table and distribute it by market, or by ticker', async () => {
    const [stored, ...later] = schemaStages(CLUSTER);
    const distributed = later.find(([statement]) => statement?.includes('Distributed('));
    const books = stored?.find((statement) => statement.includes('.books_local ')) ?? '';
    expect(books).toContain(
      "ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/underround/books', '{replica}')",
    );
    expect(books).toContain(
      "\nTTL toDateTime(ts) + toIntervalDay(30) TO VOLUME 'cold', toDateTime(ts) + toIntervalDay(400)\n",
    );
    expect(books).toMatch(
      /replicated_deduplication_window = 10000, .*storage_policy = 'tiered', ttl_only_drop_parts = 1$/,
    );
    const gaps = stored?.find((statement) => statement.includes('.gaps_local ')) ?? '';
    expect(gaps).toContain(
      "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/underround/gaps', '{replica}', seq)",
    );
    expect(gaps).not.toContain('TTL');
    const keys = distributed?.map((statement) =>
      /Distributed\('c-1', 'underround', '(\w+)', cityHash64\((\w+)\)\)$/.exec(statement)?.slice(1),
    );
    expect(keys).toEqual(
      TABLE_NAMES.map((name) => [
        `${name}_local`,
        ['underlying', 'perp_depth'].includes(name) ? 'ticker' : 'market_id',
      ]),
    );
  });
});

describe('rules of age', () => {
  const form = (coldAfterDays: number | null, deleteAfterDays: number | null): TableForm => ({
    cluster: null,
    storage: { policy: 'tiered', coldAfterDays, deleteAfterDays },
  });
  const OWN = 'TTL toDateTime(ts) + toIntervalDay(9)';

  test.each([
    ['none, and none wanted', null, form(null, null), []],
    ['the wanted one', OWN, form(null, 9), []],
    [
      'another one',
      OWN,
      form(null, 10),
      ['MODIFY SETTING ttl_only_drop_parts = 1', 'MODIFY TTL toDateTime(ts) + toIntervalDay(10)'],
    ],
    ['one that is no longer wanted', OWN, form(null, null), ['REMOVE TTL']],
    ["the operator's own, and none wanted", 'TTL toDate(ts) + toIntervalMonth(3)', form(null, null), []],
  ])('found %s', (_name, found, wanted, changes) => {
    const statements = schemaStages(wanted, objects(found)).flat();
    const ofBooks = statements.filter((statement) => statement.includes('.books '));
    expect(ofBooks.map((statement) => statement.replace('ALTER TABLE underround.books ', ''))).toEqual(
      changes,
    );
    expect(statements.filter((statement) => /\.(?:markets|gaps) /.test(statement))).toEqual([]);
  });

  test('are written as the engine writes them, so that a start changes nothing', async () => {
    const { store } = opened;
    const [statement = ''] = created({
      cluster: null,
      storage: { policy: null, coldAfterDays: null, deleteAfterDays: 9 },
    });
    const stream = await store.stream(
      statement.replaceAll('underround.books', 'underround.aged'),
      {},
      { format: 'JSONEachRow', short: true },
    );
    await stream.toArray();
    const rows = await store.rows(
      "SELECT extract(engine_full, ' (TTL .*) SETTINGS ') AS rule FROM system.tables WHERE name = 'aged'",
    );
    expect(rows).toEqual([{ rule: OWN }]);
  });
});

describe('distributed tables', () => {
  test('a row written to one is stored on its node and read through it', async () => {
    const { store } = opened;
    for (let seq = 1; seq <= 20; seq++) store.writer.trade({ ...trade(seq), marketId: `m${seq}` });
    const gap = {
      marketId: 'm1',
      gapId: 'g1',
      startTimeMs: 1_000,
      cause: 'disconnected',
      feed: 'f',
      repairedBy: null,
    } as const;
    const unknown = { knownTimeMs: null, knownSeq: null, startReceivedMs: 1_000, endReceivedMs: null };
    store.writer.gap({ ...gap, ...unknown, seq: 1, endTimeMs: null });
    store.writer.gap({ ...gap, ...unknown, seq: 2, endTimeMs: 2_000 });
    await store.writer.flush();
    const count = async (table: string) =>
      (await store.rows(`SELECT toUInt32(count()) AS n FROM ${table}`))[0];
    expect([await count('trades'), await count('trades_local')]).toEqual([{ n: 20 }, { n: 20 }]);
    // The newest version of a gap alone.
    expect((await loadTapeGaps(store, ['m1'])).get('m1')?.length).toBe(1);
  });
});
