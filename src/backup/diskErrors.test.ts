/** A disk that fails in the middle of a file: the system's error has no path, so the command must add it. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { DirectoryStorage } from './directoryStorage.ts';
import { backupIds } from './manifest.ts';
import { restoreBackup } from './restoreBackup.ts';
import { writeBackup } from './writeBackup.ts';

function rig() {
  const [dataDir, place] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(join(dataDir, 'quarantine'));
  writeFileSync(join(dataDir, 'quarantine', 'frames'), 'frames');
  const storage = new DirectoryStorage(place);
  const config = {
    ...{ dataDir, databaseUrl: null, clickhouseUrl: 'http://store.example', secretKey: null },
    diskReserve: { bytes: 1024 * 1024 },
  };
  return {
    place,
    storage,
    backUp: () => writeBackup({ config, storage, clock: systemClock, log: silentLogger }),
    restore: (target: string) =>
      restoreBackup({ storage, id: null, dataDir: target, databaseUrl: null, clock: systemClock }),
  };
}

/** From now on this method of any open file fails, until the test ends. */
async function failHandles(method: 'read' | 'sync' | 'writeFile', code: string): Promise<void> {
  const probe = await open('/dev/null');
  const methods = Object.getPrototypeOf(probe);
  await probe.close();
  const failing = vi.spyOn(methods, method).mockImplementation(async () => {
    throw Object.assign(new Error(`${code}: failed, ${method}`), { code, syscall: method });
  });
  onTestFinished(() => failing.mockRestore());
}

test('a backup names the file of the data directory that fails while it is read', async () => {
  const { place, storage, backUp } = rig();
  await failHandles('read', 'EIO');
  await expect(backUp()).rejects.toThrow('quarantine/frames cannot be read: its disk fails');
  expect(await backupIds(storage)).toEqual([]);
  expect(readdirSync(join(place, 'incoming'))).toEqual([]);
});

test.each(['writeFile', 'sync'] as const)('a backup names the object whose %s fails', async (method) => {
  const { place, storage, backUp } = rig();
  await failHandles(method, 'EIO');
  const said = await backUp().catch((error: Error) => error.message);
  expect(String(said).replace(/^objects\/\S+ /, 'OBJECT ')).toBe(
    `OBJECT in ${place} cannot be written: its disk fails`,
  );
  expect(await backupIds(storage)).toEqual([]);
  expect(readdirSync(join(place, 'incoming'))).toEqual([]);
});

test.each(['writeFile', 'sync'] as const)('a restore names the file whose %s fails', async (method) => {
  const { backUp, restore } = rig();
  await backUp();
  const root = temporaryDirectory();
  await failHandles(method, 'EIO');
  await expect(restore(join(root, 'data'))).rejects.toThrow(
    `quarantine/frames of ${join(root, 'data')} cannot be written: its disk fails`,
  );
  expect(readdirSync(root)).toEqual([]);
});

test('a restore names a full disk that it meets in the middle of a file', async () => {
  const { backUp, restore } = rig();
  await backUp();
  const root = temporaryDirectory();
  await failHandles('writeFile', 'ENOSPC');
  await expect(restore(join(root, 'data'))).rejects.toThrow(`the disk of ${root} is full`);
  expect(readdirSync(root)).toEqual([]);
});
