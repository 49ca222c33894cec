import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openTestStore, type TestStore, testHostEntry } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { systemClock } from '../runtime/clock.ts';
import { BackupDamagedError, InvalidInputError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import type { Store } from '../store/store.ts';
import { DirectoryStorage } from './directoryStorage.ts';
import { drillBackup } from './drill.ts';
import { backupIds, encodeManifest, type Manifest, manifestName, readManifest } from './manifest.ts';
import { newerThanThis, restoreBackup } from './restoreBackup.ts';
import { verifyBackup } from './verifyBackup.ts';
import { writeBackup } from './writeBackup.ts';

const START_MS = 1_700_000_000_000;

function write(store: Store, seq: number): void {
  const timeMs = START_MS + seq;
  const times = { eventTimeMs: timeMs, receivedTimeMs: timeMs };
  store.writer.trade({
    seq,
    marketId: `m${seq % 7}`,
    ...times,
    side: 'BUY_NO',
    price: 1,
    size: seq,
    tradeId: `${seq}`,
  });
  store.writer.underlying({ kind: 'underlying', seq, ticker: 'ETH', source: 'twap60', price: seq, ...times });
}

const configOf = (dataDir: string) => ({
  dataDir,
  databaseUrl: null,
  clickhouseUrl: null,
  secretKey: null,
  diskReserve: { bytes: 4 * 1024 * 1024 },
});

async function backUp(dataDir: string, storage: DirectoryStorage) {
  const parts = { clock: systemClock, log: silentLogger, hostEntry: await testHostEntry() };
  return await writeBackup({ config: configOf(dataDir), storage, ...parts });
}

async function restore(storage: DirectoryStorage, id: string | null = null): Promise<string> {
  const dataDir = join(temporaryDirectory(), 'restored');
  await restoreBackup({ storage, id, dataDir, databaseUrl: null, clock: systemClock });
  return dataDir;
}

/** The rows of a store up to a seq: their number, and a sum that differs where a row does. */
async function rowsUpTo(store: Store, seq: number) {
  const columns = {
    trades: 'market_id, ts, seq, side, price, size, trade_id',
    underlying: 'ticker, source, ts, seq, price',
  };
  const found: Record<string, unknown> = {};
  for (const [table, names] of Object.entries(columns))
    [found[table]] = await store.rows(
      `SELECT count() AS rows, uniqExact(seq) AS seqs, toString(sum(cityHash64(${names}))) AS sum FROM ${table} WHERE seq <= {seq:UInt64}`,
      { seq },
    );
  return found;
}

async function opened(options: Parameters<typeof openTestStore>[0] = {}): Promise<TestStore> {
  const rig = await openTestStore(options);
  onTestFinished(() => rig.dispose());
  return rig;
}

test('a backup taken while rows are recorded restores to every row up to its mark', async () => {
  const { store, dataDir } = await opened();
  let seq = 0;
  let isRecording = true;
  const recording = (async () => {
    while (isRecording) {
      for (let i = 0; i < 20; i++) write(store, ++seq);
      await new Promise<void>((resolve) => void systemClock.after(10, resolve));
    }
  })();
  const storage = new DirectoryStorage(temporaryDirectory());
  const manifests: Manifest[] = [];
  for (let round = 0; round < 3; round++) {
    await store.writer.flush();
    manifests.push((await backUp(dataDir, storage)).manifest);
  }
  isRecording = false;
  await recording;
  await store.writer.flush();
  for (const { id, mark } of manifests) {
    const copy = await openTestStore({ dataDir: await restore(storage, id) });
    await copy.store.writer.flush();
    expect(await rowsUpTo(copy.store, Number.MAX_SAFE_INTEGER)).toEqual(await rowsUpTo(store, mark.seq ?? 0));
    expect(await rowsUpTo(copy.store, mark.seq ?? 0)).toMatchObject({
      trades: { rows: mark.seq, seqs: mark.seq },
    });
    await copy.dispose();
  }
  expect(manifests.map(({ mark }) => mark.seq)).toEqual(
    manifests.map(({ mark }) => mark.seq).sort((a, b) => Number(a) - Number(b)),
  );
});

test('a backup to a disk slower than the recording has every row up to its mark, and none after it', async () => {
  const { store, dataDir } = await opened();
  let seq = 0;
  const record = async () => {
    for (let i = 0; i < 20; i++) write(store, ++seq);
    await store.writer.flush();
  };
  await record();
  const storage = new DirectoryStorage(temporaryDirectory());
  const writeObject = storage.write.bind(storage);
  vi.spyOn(storage, 'write').mockImplementation(async (name, bytes) => {
    await record();
    await writeObject(name, bytes);
  });
  const { manifest } = await backUp(dataDir, storage);
  expect(manifest.mark.seq).toBe(20);
  expect(seq).toBeGreaterThan(60);
  const copy = await opened({ dataDir: await restore(storage) });
  await copy.store.writer.flush();
  expect(await rowsUpTo(copy.store, Number.MAX_SAFE_INTEGER)).toEqual(await rowsUpTo(store, 20));
});

test('rows that wait in the journal belong to the backup', async () => {
  const { store, dataDir } = await opened({ mayInsert: () => false });
  for (let seq = 1; seq <= 500; seq++) write(store, seq);
  await store.writer.keep();
  const storage = new DirectoryStorage(temporaryDirectory());
  const { manifest } = await backUp(dataDir, storage);
  expect(manifest).toMatchObject({ mark: { seq: 500 }, journal_rows: 1_000, engine_rows: { trades: 0 } });
  const copy = await opened({ dataDir: await restore(storage) });
  await copy.store.writer.flush();
  expect(await rowsUpTo(copy.store, 500)).toMatchObject({ trades: { rows: 500 }, underlying: { rows: 500 } });
});

test('a further backup writes only new parts, and earlier ones stay restorable', async () => {
  const { store, dataDir } = await opened();
  const storage = new DirectoryStorage(temporaryDirectory());
  for (let seq = 1; seq <= 2_000; seq++) write(store, seq);
  await store.writer.flush();
  const first = await backUp(dataDir, storage);
  const second = await backUp(dataDir, storage);
  expect({ newParts: second.newParts, reusedParts: second.reusedParts }).toEqual({
    newParts: 0,
    reusedParts: first.newParts,
  });
  expect(second.writtenBytes).toBeLessThan(first.writtenBytes / 2);
  write(store, 2_001);
  await store.writer.flush();
  const third = await backUp(dataDir, storage);
  expect(third).toMatchObject({ newParts: 2, manifest: { mark: { seq: 2_001 } } });
  const copy = await opened({ dataDir: await restore(storage, first.manifest.id) });
  await copy.store.writer.flush();
  expect(await rowsUpTo(copy.store, 9_999)).toEqual(await rowsUpTo(store, 2_000));
});

test('control database and secret key are restored; keys of one directory are not', async () => {
  const { store, dataDir } = await opened();
  const database = await openControlDatabase({ dataDir, databaseUrl: null });
  onTestFinished(() => database.destroy());
  const row = { name: 'greeting', value: '"hello"', updated_ms: 5 };
  await database.insertInto('settings').values(row).execute();
  writeFileSync(join(dataDir, 'secret.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
  write(store, 1);
  await store.writer.flush();
  const storage = new DirectoryStorage(temporaryDirectory());
  const { manifest } = await backUp(dataDir, storage);
  expect(manifest).toMatchObject({ control: 'sqlite', secret_key: 'file', engine: 'embedded' });
  const restored = await restore(storage);
  expect(readFileSync(join(restored, 'secret.key'))).toEqual(readFileSync(join(dataDir, 'secret.key')));
  expect(statSync(join(restored, 'secret.key')).mode & 0o777).toBe(0o600);
  expect(statSync(restored).mode & 0o777).toBe(0o700);
  expect(existsSync(join(restored, 'private-name'))).toBe(false);
  const copy = await openControlDatabase({ dataDir: restored, databaseUrl: null });
  expect(await copy.selectFrom('settings').selectAll().where('name', '=', 'greeting').execute()).toEqual([
    row,
  ]);
  await copy.destroy();
});

test('verify finds a changed byte, and restore refuses it and creates nothing', async () => {
  const { store, dataDir } = await opened();
  for (let seq = 1; seq <= 100; seq++) write(store, seq);
  await store.writer.flush();
  const directory = temporaryDirectory();
  const storage = new DirectoryStorage(directory);
  const { manifest } = await backUp(dataDir, storage);
  expect((await verifyBackup(storage, manifest)).problems).toEqual([]);
  const pieces = readdirSync(join(directory, 'objects'), { recursive: true, withFileTypes: true });
  const piece = pieces.filter((entry) => entry.isFile())[3];
  const path = join(piece?.parentPath ?? '', piece?.name ?? '');
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const name = path.slice(directory.length + 1);
  expect((await verifyBackup(storage, manifest)).problems).toEqual([
    `${name} in ${directory} differs from its hash`,
  ]);
  const target = join(temporaryDirectory(), 'restored');
  const restoring = restoreBackup({
    storage,
    id: null,
    dataDir: target,
    databaseUrl: null,
    clock: systemClock,
  });
  await expect(restoring).rejects.toThrow(BackupDamagedError);
  expect(readdirSync(join(target, '..'))).toEqual([]);
});

test('a manifest with a changed byte is refused', async () => {
  const { dataDir } = await opened();
  const directory = temporaryDirectory();
  const storage = new DirectoryStorage(directory);
  const { manifest } = await backUp(dataDir, storage);
  const path = join(directory, manifestName(manifest.id));
  writeFileSync(path, readFileSync(path, 'utf8').replace('"journal_rows":0', '"journal_rows":1'));
  await expect(readManifest(storage, null)).rejects.toThrow(
    new BackupDamagedError(`manifest ${manifest.id} is damaged`),
  );
});

test('the drill restores a backup, starts the store on it and removes it', async () => {
  const { store, dataDir } = await opened();
  for (let seq = 1; seq <= 300; seq++) write(store, seq);
  await store.writer.flush();
  write(store, 301);
  await store.writer.keep();
  const storage = new DirectoryStorage(temporaryDirectory());
  const { manifest } = await backUp(dataDir, storage);
  const parts = { clock: systemClock, log: silentLogger, hostEntry: await testHostEntry() };
  const result = await drillBackup({ storage, id: null, ...parts });
  expect(result.problems).toEqual([]);
  expect(result.rows).toMatchObject({ trades: 301, underlying: 301 });
  const id = '20990101T000000000Z-000000';
  const wrong = { ...manifest, id, engine_rows: { ...manifest.engine_rows, trades: 7 } };
  await storage.write(manifestName(id), encodeManifest(wrong));
  expect((await drillBackup({ storage, id, ...parts })).problems).toEqual([
    `trades has ${manifest.engine_rows.trades} rows in the engine instead of 7`,
  ]);
});

test('refuses a directory in use, and a backup that does not exist', async () => {
  const { dataDir } = await opened();
  const storage = new DirectoryStorage(temporaryDirectory());
  const restoreInto = (target: string, id: string | null = null) =>
    restoreBackup({ storage, id, dataDir: target, databaseUrl: null, clock: systemClock });
  const target = join(temporaryDirectory(), 'new');
  await expect(restoreInto(target)).rejects.toThrow(
    `there is no complete backup in ${storage.name}; \`underround backup\` writes one`,
  );
  await backUp(dataDir, storage);
  const [id] = await backupIds(storage);
  await expect(restoreInto(dataDir)).rejects.toThrow(
    new InvalidInputError(`--data-dir ${dataDir} is in use; name a directory that is absent or empty`),
  );
  await expect(restoreInto(target, 'x')).rejects.toThrow(
    `there is no backup x in ${storage.name}; it has ${id}`,
  );
});

test('a backup of a newer release is refused with what this release does not know', async () => {
  const { dataDir } = await opened();
  const storage = new DirectoryStorage(temporaryDirectory());
  const { manifest } = await backUp(dataDir, storage);
  expect(newerThanThis(manifest)).toBeNull();
  const schema = { control: ['9999_later'], tables: { books: ['market_id', 'mood'] } };
  expect(newerThanThis({ ...manifest, id: 'b', schema, release: '0.2.0' })).toBe(
    'backup b was written by release 0.2.0, which is newer than this release 0.1.0 (unknown here: 9999_later, books.mood): use the newer release',
  );
  expect(newerThanThis({ ...manifest, release: '0.0.9' })).toBeNull();
  const later = Buffer.from(encodeManifest({ ...manifest, format: 2 } as unknown as Manifest));
  const id = '20990101T000000000Z-000000';
  await storage.write(manifestName(id), later);
  await expect(readManifest(storage, null)).rejects.toThrow(
    `backup ${id} was written by release 0.1.0 in format 2; this release 0.1.0 reads format 1: use the newer release`,
  );
});
