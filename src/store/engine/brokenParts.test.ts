import { cp, mkdtemp, readdir, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, reachTestEngine, type TestStore } from '../../../test/support/store.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { PartCheck } from '../journal/lostPart.ts';
import { TABLE_NAMES } from '../tables/schema.ts';
import type { EngineAccess } from './access.ts';
import { StoreClient } from './client.ts';

const START_MS = 1_700_000_000_000;
const ROWS_A_BATCH = 10;

interface OpenEngine extends TestStore {
  readonly client: StoreClient;
  check(acknowledged?: readonly string[]): Promise<PartCheck>;
}

let dataDir: string;
let opened: OpenEngine | null = null;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'underround-broken-'));
});
afterEach(async () => {
  await close();
  await rm(dataDir, { recursive: true, force: true });
});

async function open(): Promise<OpenEngine> {
  const common = { clock: systemClock, log: silentLogger };
  const access = (await reachTestEngine(dataDir)) as Required<EngineAccess>;
  const store = await openTestStore({ dataDir, engine: Promise.resolve(access) });
  const client = new StoreClient({ ...common, access });
  const check = (acknowledged: readonly string[] = []) => access.checkParts(acknowledged);
  opened = { ...store, client, check };
  return opened;
}

async function close(): Promise<void> {
  await opened?.client.close();
  await opened?.store.close();
  opened = null;
}

/** Kills the engine, lets `damage` change its files, and starts it again. */
async function killed({ store }: OpenEngine, damage?: () => Promise<unknown>): Promise<OpenEngine> {
  process.kill(store.enginePid() as number, 'SIGKILL');
  await damage?.();
  await close();
  return await open();
}

/** Each batch is one part of `trades`; merges are off until the test asks for one. */
async function writeBatches({ store, client }: OpenEngine, batches: number): Promise<void> {
  await client.command('SYSTEM STOP MERGES');
  for (let batch = 0; batch < batches; batch++) {
    for (let i = 0; i < ROWS_A_BATCH; i++) {
      const seq = batch * ROWS_A_BATCH + i;
      const times = { eventTimeMs: START_MS + seq * 1_000, receivedTimeMs: START_MS };
      store.writer.trade({ seq, marketId: 'm', ...times, side: 'BUY_NO', price: 1, size: 1, tradeId: '' });
    }
    await store.writer.flush();
  }
}

async function merge({ client }: OpenEngine): Promise<void> {
  await client.command('SYSTEM START MERGES');
  await client.command('OPTIMIZE TABLE trades FINAL');
  await client.command('SYSTEM STOP MERGES');
}

async function activeParts({ store }: OpenEngine): Promise<{ name: string; path: string }[]> {
  return await store.rows(
    `SELECT name, path FROM system.parts WHERE active AND database = 'underround' AND table = 'trades' ORDER BY name`,
  );
}

/** What a full disk does to a part: every file exists and is empty. */
async function emptyFiles(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if ((await stat(join(path, name))).isFile()) await truncate(join(path, name), 0);
  }
}

const seqsOf = async ({ store }: OpenEngine) =>
  (await store.rows<{ seq: number }>('SELECT seq FROM trades ORDER BY seq')).map(({ seq }) => seq);
const seqs = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('a merged part without content', () => {
  it('is replaced by its source parts as soon as a read meets it', async () => {
    const engine = await open();
    await writeBatches(engine, 5);
    await merge(engine);
    const [part] = await activeParts(engine);
    await emptyFiles(part!.path);
    expect(await seqsOf(engine)).toEqual(seqs(0, 50));
    expect(await engine.check()).toEqual({ complete: true, broken: 1, lost: [] });
    expect(await engine.store.rows('SELECT name, reason FROM system.detached_parts')).toEqual([
      { name: `broken_${part!.name}`, reason: 'broken' },
    ]);
  });

  it('is found before any query reads it', async () => {
    const engine = await open();
    await writeBatches(engine, 5);
    await merge(engine);
    const [part] = await activeParts(engine);
    await emptyFiles(part!.path);
    expect(await engine.check()).toEqual({ complete: false, broken: 1, lost: [] });
    expect((await activeParts(engine)).map(({ name }) => name)).not.toContain(part!.name);
    expect(await seqsOf(engine)).toEqual(seqs(0, 50));
  });

  it('is skipped at a start, and its rows come from its source parts', async () => {
    let engine = await open();
    await writeBatches(engine, 5);
    await merge(engine);
    const [part] = await activeParts(engine);
    engine = await killed(engine, () => emptyFiles(part!.path));
    expect(await seqsOf(engine)).toEqual(seqs(0, 50));
    expect((await engine.check()).lost).toEqual([]);
  });

  it('is replaced by the next start after a kill between detaching it and attaching its sources', async () => {
    let engine = await open();
    await writeBatches(engine, 2);
    const sources = await activeParts(engine);
    await merge(engine);
    const [merged] = await activeParts(engine);
    const detached = join(merged!.path, '..', 'detached');
    for (const { name, path } of sources) await cp(path, join(detached, name), { recursive: true });
    await engine.client.command(`ALTER TABLE trades DETACH PART '${merged!.name}'`);
    expect(await seqsOf(engine)).toEqual([]);
    engine = await killed(engine);
    expect(await seqsOf(engine)).toEqual(seqs(0, 20));
    expect(await readdir(detached)).toEqual([`broken_${merged!.name}`]);
    expect((await engine.check()).lost).toEqual([]);
    engine = await killed(engine);
    expect((await engine.check()).lost, 'the start after that reports no loss either').toEqual([]);
  });
});

describe('a repair that a kill interrupted before the broken part was detached', () => {
  it('does not attach the source parts twice', async () => {
    let engine = await open();
    await writeBatches(engine, 2);
    const sources = await activeParts(engine);
    await merge(engine);
    const [merged] = await activeParts(engine);
    const detached = join(merged!.path, '..', 'detached');
    for (const { name, path } of [...sources, merged!])
      await cp(path, join(detached, name), { recursive: true });
    engine = await killed(engine, () => emptyFiles(merged!.path));
    expect(await seqsOf(engine)).toEqual(seqs(0, 20));
    expect((await engine.check()).lost).toEqual([]);
  });
});

describe('a part that nothing can replace', () => {
  it('loses its rows but fails no read; the loss is reported until it is acknowledged', async () => {
    const engine = await open();
    await writeBatches(engine, 3);
    const [, part] = await activeParts(engine);
    await emptyFiles(part!.path);
    expect(await seqsOf(engine)).toEqual([...seqs(0, 10), ...seqs(20, 30)]);
    const lost = {
      ...{ id: `trades/broken_${part!.name}`, table: 'trades', part: part!.name, rows: 10 },
      ...{ fromMs: START_MS + 10_000, toMs: START_MS + 19_999 },
    };
    expect((await engine.check()).lost).toEqual([lost]);
    expect((await engine.check()).lost).toEqual([lost]);
    expect((await engine.check([lost.id])).lost).toEqual([]);
  });

  it('is restored by the next start while the journal still has its rows', async () => {
    let engine = await open();
    await writeBatches(engine, 3);
    const [, part] = await activeParts(engine);
    engine = await killed(engine, () => truncate(join(part!.path, 'data.bin'), 10));
    expect(await seqsOf(engine)).toEqual(seqs(0, 30));
    expect((await engine.check()).lost).toMatchObject([{ part: part!.name, rows: 10 }]);
    // As many rows as were lost, so no gap is needed.
    expect(await engine.store.writer.reinsertKept()).toBe(10);
    expect(await engine.store.writer.reinsertKept()).toBe(0);
  });

  it('is reported once after a start that skipped it', async () => {
    let engine = await open();
    await writeBatches(engine, 3);
    const [, part] = await activeParts(engine);
    process.kill(engine.store.enginePid() as number, 'SIGKILL');
    await truncate(join(part!.path, 'data.bin'), 10);
    await close();
    await rm(join(dataDir, 'journal'), { recursive: true });
    engine = await open();
    expect(await seqsOf(engine)).toEqual([...seqs(0, 10), ...seqs(20, 30)]);
    const { lost } = await engine.check();
    expect(lost).toEqual([
      {
        ...{ id: `trades/broken-on-start_${part!.name}`, table: 'trades', part: part!.name, rows: 10 },
        ...{ fromMs: START_MS + 10_000, toMs: START_MS + 19_000 },
      },
    ]);
    await engine.check(lost.map(({ id }) => id));
    await close();
    expect((await (await open()).check()).lost).toEqual([]);
  });
});

describe('a start', () => {
  const damages: readonly [string, (engineDir: string) => Promise<void>][] = [
    ['every table definition is empty', (dir) => forDefinitions(dir, (path) => truncate(path, 0))],
    ['every table definition is cut off', (dir) => forDefinitions(dir, (path) => truncate(path, 200))],
    ['every table definition is missing', (dir) => forDefinitions(dir, unlink)],
    [
      'the definition of the database is empty',
      (dir) => truncate(join(dir, 'metadata', 'underround.sql'), 0),
    ],
    [
      'a table definition is empty and its link is gone',
      async (dir) => {
        await forDefinitions(dir, (path) => (path.endsWith('trades.sql') ? truncate(path, 0) : null));
        await unlink(join(dir, 'data', 'underround', 'trades'));
      },
    ],
    [
      'the configuration is cut off',
      (dir) => writeFile(join(dir, '..', 'engine.xml'), '<clickhouse>\n  <max_'),
    ],
  ];

  it.each(damages)('succeeds with every row although %s', async (_what, damage) => {
    let engine = await open();
    await writeBatches(engine, 3);
    const created = await definitions(engine);
    await close();
    await damage(join(dataDir, 'engine'));
    engine = await open();
    expect(await seqsOf(engine)).toEqual(seqs(0, 30));
    expect(await definitions(engine)).toEqual(created);
  });
});

async function forDefinitions(
  engineDir: string,
  damage: (path: string) => Promise<void> | null,
): Promise<void> {
  const dir = join(engineDir, 'metadata', 'underround');
  for (const name of TABLE_NAMES) await damage(join(dir, `${name}.sql`));
}

async function definitions({ store }: OpenEngine): Promise<unknown> {
  return await store.rows(
    `SELECT name, uuid, create_table_query FROM system.tables WHERE database = 'underround' ORDER BY name`,
  );
}
