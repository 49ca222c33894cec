import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import * as durableFile from '../runtime/durableFile.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { commitKeeper } from './keptCommits.ts';
import { SqliteFile } from './sqliteFile.ts';

vi.mock('../runtime/durableFile.ts', { spy: true });

function openFile() {
  const dataDir = temporaryDirectory();
  const path = join(dataDir, 'control.sqlite');
  const file = new SqliteFile(path);
  file.exec('PRAGMA journal_mode = WAL; CREATE TABLE one (id)');
  vi.mocked(durableFile.syncFile).mockClear();
  return { dataDir, path, file, kept: commitKeeper({ dataDir, databaseUrl: null }) };
}

test('syncs the log of commits, and the directory that names it', async () => {
  const { dataDir, path, file, kept } = openFile();
  await kept();
  expect(durableFile.syncFile).toHaveBeenCalledExactlyOnceWith(`${path}-wal`);
  expect(durableFile.syncDirectory).toHaveBeenLastCalledWith(dataDir);
  file.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
  await kept();
});

test('calls that wait at the same time share a sync, and none shares one that began before it', async () => {
  const { file, kept } = openFile();
  let begun = () => {};
  let release = () => {};
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  vi.mocked(durableFile.syncFile).mockImplementation(() => {
    begun();
    return held;
  });
  const first = kept();
  await beginning;
  const others = [kept(), kept()];
  release();
  await Promise.all([first, ...others]);
  expect(durableFile.syncFile).toHaveBeenCalledTimes(2);
  vi.mocked(durableFile.syncFile).mockReset();
  file.close();
});

test('rejects when the disk fails, and tries again at the next call', async () => {
  const { dataDir, file, kept } = openFile();
  file.close();
  rmSync(dataDir, { recursive: true });
  await expect(kept()).rejects.toThrow(
    new StoreUnavailableError('control database: a change is not on the disk yet'),
  );
  mkdirSync(dataDir);
  await kept();
});

test('does nothing for PostgreSQL, which syncs each commit', async () => {
  vi.mocked(durableFile.syncDirectory).mockClear();
  await commitKeeper({ dataDir: '/nonexistent', databaseUrl: 'postgres://localhost/x' })();
  expect(durableFile.syncDirectory).not.toHaveBeenCalled();
});
