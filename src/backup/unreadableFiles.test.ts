/** A backup is complete or fails: a file that cannot be read is not a file that is absent. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { failFileCalls } from '../../test/support/failingFiles.ts';
import { openTestStore, testHostEntry } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { DirectoryStorage } from './directoryStorage.ts';
import { backupIds, readManifest } from './manifest.ts';
import { writeBackup } from './writeBackup.ts';

async function backUp(dataDir: string, storage: DirectoryStorage, clickhouseUrl: string | null = null) {
  const diskReserve = { bytes: 4 * 1024 * 1024 };
  const config = { dataDir, databaseUrl: null, clickhouseUrl, secretKey: null, diskReserve };
  const parts = { clock: systemClock, log: silentLogger, hostEntry: await testHostEntry() };
  return await writeBackup({ config, storage, ...parts });
}

/** A data directory with the files of each kind, beside its own engine or a ClickHouse server. */
async function dataDirectory(
  engine: 'embedded' | 'server',
  whenOver: (end: () => void) => void = onTestFinished,
) {
  const dataDir = temporaryDirectory(whenOver);
  if (engine === 'embedded') {
    const opened = await openTestStore({ dataDir });
    await opened.store.close();
  }
  await (await openControlDatabase({ dataDir, databaseUrl: null })).destroy();
  for (const folder of ['quarantine', 'journal', 'journal/main.run', 'journal/rejected'])
    mkdirSync(join(dataDir, folder), { recursive: true });
  for (const file of ['secret.key', 'lost-parts.json', 'quarantine/frames', 'journal/rejected/rows'])
    writeFileSync(join(dataDir, file), file);
  writeFileSync(join(dataDir, 'journal/main.run/alive'), Buffer.alloc(9));
  return dataDir;
}

const SERVER = 'http://store.example';

/** A failed backup leaves nothing that could be taken for a backup. */
async function expectFailure(dataDir: string, path: string, clickhouseUrl: string | null): Promise<void> {
  const storage = new DirectoryStorage(temporaryDirectory());
  await expect(backUp(dataDir, storage, clickhouseUrl)).rejects.toThrow(path);
  expect(await backupIds(storage)).toEqual([]);
  expect(readdirSync(dataDir)).not.toContain('backup-stage');
}

describe.each(['EIO', 'EACCES', 'EMFILE'])('a backup with %s', (code) => {
  test.each([
    [['lstat'], 'secret.key'],
    [['lstat'], 'lost-parts.json'],
    [['lstat'], 'quarantine/frames'],
    [['readdir'], 'quarantine'],
    [['lstat'], 'journal/rejected'],
    [['readdir'], 'journal'],
    [['readdir'], 'journal/main.run'],
    [['stat'], 'journal/main.run'],
    [['readFile'], 'journal/main.run/alive'],
    [['lstat', 'stat'], 'control.sqlite'],
  ] as const)('of %j at %s fails and names it', async (calls, name) => {
    const dataDir = await dataDirectory('server');
    const path = join(dataDir, name);
    failFileCalls(calls, new RegExp(`^${path}$`), code);
    await expectFailure(dataDir, path, SERVER);
  });
});

describe('a backup of an embedded engine', () => {
  let dataDir: string;
  const ends: (() => void)[] = [];
  beforeAll(async () => {
    dataDir = await dataDirectory('embedded', (end) => void ends.push(end));
  });
  afterAll(() => {
    for (const end of ends) end();
  });
  test.each([
    ['lstat', /engine$/],
    ['readlink', /metadata\/underround$/],
    ['readdir', /metadata\/underround$/],
    ['readFile', /\.sql$/],
    ['readdir', /shadow\/underround_backup_[^/]*\/store/],
  ] as const)('fails where %s fails at %s', async (call, path) => {
    failFileCalls([call], path, 'EMFILE');
    await expectFailure(dataDir, 'engine', null);
  });
});

test('a backup names the file whose bytes cannot be read, by its place in the data directory', async () => {
  const dataDir = await dataDirectory('server');
  failFileCalls(['open'], /backup-stage.*frames$/, 'EIO');
  await expectFailure(dataDir, 'quarantine/frames cannot be read: its disk fails', SERVER);
});

test('a file that is removed while a backup runs is left out', async () => {
  const dataDir = await dataDirectory('server');
  failFileCalls(['link'], /quarantine\/frames$/, 'ENOENT');
  failFileCalls(['readdir'], /journal\/rejected$/, 'ENOENT');
  const storage = new DirectoryStorage(temporaryDirectory());
  const { manifest } = await backUp(dataDir, storage, SERVER);
  const paths = manifest.packs.flatMap(({ files }) => files.map(({ path }) => path));
  expect(paths).toEqual(['control.sqlite', 'secret.key', 'lost-parts.json', 'journal/main.run/alive']);
});

test('a storage that cannot be listed is not an empty one', async () => {
  const dataDir = await dataDirectory('server');
  const storage = new DirectoryStorage(temporaryDirectory());
  await backUp(dataDir, storage, SERVER);
  failFileCalls(['readdir'], /\/backups\/$/, 'EACCES');
  await expect(readManifest(storage, null)).rejects.toThrow('EACCES');
});
