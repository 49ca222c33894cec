/** A backup or restore that meets a full disk gives the space back and says what to do. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test, vi } from 'vitest';
import { failFileCalls } from '../../test/support/failingFiles.ts';
import { limitedDisk, mayMount } from '../../test/support/limitedDisk.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { PIECE_PREFIX } from './backupStorage.ts';
import { DirectoryStorage } from './directoryStorage.ts';
import { restoreBackup } from './restoreBackup.ts';
import { verifyBackup } from './verifyBackup.ts';
import { writeBackup } from './writeBackup.ts';

const MIB = 1024 * 1024;
const canMount = mayMount('tmpfs');

function rig({ place = temporaryDirectory(), bytes = 100 } = {}) {
  const dataDir = temporaryDirectory();
  for (const folder of ['quarantine', 'journal/main.run'])
    mkdirSync(join(dataDir, folder), { recursive: true });
  writeFileSync(join(dataDir, 'journal/main.run/alive'), Buffer.alloc(9));
  const storage = new DirectoryStorage(place);
  const config = {
    ...{ dataDir, databaseUrl: null, clickhouseUrl: 'http://store.example', secretKey: null },
    diskReserve: { bytes: MIB },
  };
  const setAside = (letter: string) =>
    writeFileSync(join(dataDir, 'quarantine', letter), letter.repeat(bytes));
  setAside('a');
  const backUp = () => writeBackup({ config, storage, clock: systemClock, log: silentLogger });
  const restore = (target: string) =>
    restoreBackup({ storage, id: null, dataDir: target, databaseUrl: null, clock: systemClock });
  return { dataDir, place, storage, setAside, backUp, restore };
}

const files = (place: string) =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();

const isFull = (place: string) =>
  new InvalidInputError(`the disk of ${place} is full; free space there or name another place`);

test('a backup that fills its disk removes what it wrote, and nothing of earlier backups', async () => {
  const { dataDir, place, storage, setAside, backUp } = rig();
  const { manifest } = await backUp();
  const before = files(place);
  setAside('b');
  writeFileSync(join(dataDir, 'journal/main.run/alive'), Buffer.alloc(9, 1));
  const write = storage.write.bind(storage);
  const writing = vi.spyOn(storage, 'write').mockImplementation(async (name, bytes) => {
    // The second object is a draft when its directory cannot grow.
    if (writing.mock.calls.length === 2) failFileCalls(['rename'], /incoming/, 'ENOSPC');
    await write(name, bytes);
  });
  await expect(backUp()).rejects.toThrow(isFull(place));
  expect(writing).toHaveBeenCalledTimes(2);
  expect(files(place)).toEqual(before);
  expect((await verifyBackup(storage, manifest)).problems).toEqual([]);
});

test('a backup whose manifest could not be made durable does not exist', async () => {
  const { place, backUp } = rig();
  failFileCalls(['open'], /\/backups$/, 'EIO');
  await expect(backUp()).rejects.toMatchObject({ code: 'EIO' });
  expect(readdirSync(join(place, 'backups'))).toEqual([]);
  expect(readdirSync(join(place, 'incoming'))).toEqual([]);
});

it.skipIf(!canMount)(
  'a backup that another writer leaves too little space gives its space back',
  async () => {
    const disk = limitedDisk('tmpfs', 48);
    const { storage, backUp } = rig({ place: disk.path, bytes: 40 * MIB });
    const freeBytes = disk.freeBytes();
    // The space is used up after the backup has compared it.
    vi.spyOn(storage, 'freeBytes').mockImplementation(async () => {
      disk.fill(36 * MIB);
      return Number.MAX_SAFE_INTEGER;
    });
    await expect(backUp()).rejects.toThrow(isFull(disk.path));
    expect(files(disk.path)).toEqual(['filler']);
    disk.free();
    expect(freeBytes - disk.freeBytes()).toBeLessThan(MIB);
  },
);

test('a restore that fills its disk says so and leaves nothing', async () => {
  const { backUp, restore } = rig();
  await backUp();
  const root = temporaryDirectory();
  failFileCalls(['open'], /restoring\/content\/quarantine\/a$/, 'ENOSPC');
  await expect(restore(join(root, 'data'))).rejects.toThrow(
    new InvalidInputError(`the disk of ${root} is full; free space there and restore again`),
  );
  expect(readdirSync(root)).toEqual([]);
});

test('a data directory without space for the copies of a backup is named', async () => {
  const { dataDir, place, backUp } = rig();
  failFileCalls(['link'], /quarantine\/a$/, 'ENOSPC');
  await expect(backUp()).rejects.toThrow(
    new InvalidInputError(`the disk of ${dataDir} is full; free space there and back up again`),
  );
  expect(existsSync(join(dataDir, 'backup-stage'))).toBe(false);
  expect(files(place)).toEqual([]);
});

test.each(['EMFILE', 'EIO'])('a failed clean-up (%s) does not hide why the backup failed', async (code) => {
  const { place, backUp } = rig();
  failFileCalls(['link'], /quarantine\/a$/, 'EACCES');
  failFileCalls(['rm'], /backup-stage\/plain$/, code);
  await expect(backUp()).rejects.toMatchObject({ code: 'EACCES' });
  expect(files(place)).toEqual([]);
});

test.each(['EMFILE', 'EIO'])('a failed clean-up (%s) does not hide why the restore failed', async (code) => {
  const { storage, backUp, restore } = rig();
  await backUp();
  const root = temporaryDirectory();
  failFileCalls(['open'], /restoring\/content\/quarantine\/a$/, 'EACCES');
  const read = storage.read.bind(storage);
  vi.spyOn(storage, 'read').mockImplementation(async (name) => {
    // A restore removes what an earlier one left before it reads the first piece.
    if (name.startsWith(PIECE_PREFIX)) failFileCalls(['rm'], /restoring\/content$/, code);
    return await read(name);
  });
  await expect(restore(join(root, 'data'))).rejects.toThrow(/quarantine\/a .*: this user has no permission$/);
  expect(existsSync(join(root, 'data'))).toBe(false);
});
