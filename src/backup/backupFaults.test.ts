/** Backups and restores on a bad day: full disks, clocks set back, damaged files, other processes. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished, test, vi } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { limitedDisk, mayMount } from '../../test/support/limitedDisk.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { systemClock } from '../runtime/clock.ts';
import { BackupDamagedError, InvalidInputError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { RunClaim } from '../store/journal/runClaim.ts';
import { backupPieceName } from './backupStorage.ts';
import { DirectoryStorage } from './directoryStorage.ts';
import { drillBackup } from './drill.ts';
import { JournalCollector } from './journalSnapshot.ts';
import { manifestName, readManifest } from './manifest.ts';
import { restoreBackup } from './restoreBackup.ts';
import { verifyBackup } from './verifyBackup.ts';
import { writeBackup } from './writeBackup.ts';

const MIB = 1024 * 1024;
const canMount = mayMount('tmpfs');

/** A data directory of a ClickHouse server's service, with one set-aside frame. */
function dataDirectory(bytes = 100): string {
  const dataDir = temporaryDirectory();
  mkdirSync(join(dataDir, 'quarantine'));
  writeFileSync(join(dataDir, 'quarantine', 'frames'), Buffer.alloc(bytes, 7));
  return dataDir;
}

function rig({ dataDir = dataDirectory(), place = temporaryDirectory() } = {}) {
  const clock = new FakeClock();
  const storage = new DirectoryStorage(place);
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line).msg) });
  const config = {
    dataDir,
    databaseUrl: null,
    clickhouseUrl: 'http://store.example',
    secretKey: null,
    diskReserve: { bytes: MIB },
  };
  const backUp = () => writeBackup({ config, storage, clock, log });
  const restore = (target: string) =>
    restoreBackup({ storage, id: null, dataDir: target, databaseUrl: null, clock: systemClock });
  return { dataDir, place, clock, storage, lines, backUp, restore };
}

test('a backup after the clock was set back is the newest one', async () => {
  const { clock, storage, lines, backUp } = rig();
  await backUp();
  clock.stepWall(-86_400_000);
  const { manifest } = await backUp();
  expect(await readManifest(storage, null)).toEqual(manifest);
  expect(manifest).toMatchObject({
    id: expect.stringMatching(/^20261120T120000001Z-/),
    started_at: '2026-11-19T12:00:00.000+00:00',
  });
  expect(lines).toEqual(['backup.clock_behind']);
});

test('a damaged manifest of an earlier backup does not prevent the next one', async () => {
  const { clock, place, storage, lines, backUp } = rig();
  const { manifest: first } = await backUp();
  await clock.advance(1_000);
  writeFileSync(join(place, manifestName(first.id)), 'no longer JSON');
  const { manifest } = await backUp();
  expect(await readManifest(storage, null)).toEqual(manifest);
  expect(lines).toEqual(['backup.earlier_unreadable']);
});

test.each(['old/{id}', 'zz copy of {id}', '{id}.sync-conflict-20261121-090000'])(
  'a copy %s of an earlier manifest is no backup',
  async (copy) => {
    const { clock, place, storage, backUp } = rig();
    const { manifest: first } = await backUp();
    const path = join(place, manifestName(copy.replace('{id}', first.id)));
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(join(place, manifestName(first.id)), path);
    await clock.advance(1_000);
    const { manifest } = await backUp();
    expect(await readManifest(storage, null)).toEqual(manifest);
    await expect(readManifest(storage, 'none')).rejects.toThrow(`it has ${first.id}, ${manifest.id}`);
  },
);

test('a manifest under the name of another backup is refused', async () => {
  const { clock, place, storage, backUp } = rig();
  const { manifest: first } = await backUp();
  await clock.advance(1_000);
  const { manifest } = await backUp();
  copyFileSync(join(place, manifestName(first.id)), join(place, manifestName(manifest.id)));
  await expect(readManifest(storage, null)).rejects.toThrow(
    new BackupDamagedError(`manifest ${manifest.id} is that of backup ${first.id}`),
  );
});

test.each(['', 'backups', 'new/below'])(
  'a backup into the data directory, at %j, is warned of',
  async (below) => {
    const dataDir = dataDirectory();
    const { storage, lines, backUp } = rig({ dataDir, place: join(dataDir, below) });
    const { manifest } = await backUp();
    expect(lines).toEqual(['backup.in_data_directory']);
    expect(await readManifest(storage, null)).toEqual(manifest);
  },
);

test('a backup into the data directory through a link is warned of', async () => {
  const [dataDir, link] = [dataDirectory(), join(temporaryDirectory(), 'link')];
  symlinkSync(dataDir, link);
  const { lines, backUp } = rig({ dataDir, place: join(link, 'backups') });
  await backUp();
  expect(lines).toEqual(['backup.in_data_directory']);
});

test('a place whose name begins like that of the data directory is another one', async () => {
  const parent = temporaryDirectory();
  const dataDir = join(parent, 'data');
  mkdirSync(join(dataDir, 'quarantine'), { recursive: true });
  const { lines, backUp } = rig({ dataDir, place: join(parent, 'data-backups') });
  await backUp();
  expect(lines).toEqual([]);
});

test('verify names an object that the disk cannot read, and reads the others', async () => {
  const { place, storage, backUp } = rig();
  const { manifest } = await backUp();
  const name = backupPieceName(manifest.packs[0]?.pieces[0]?.sha256 ?? '');
  rmSync(join(place, name));
  // A directory is what a test can make that opens and does not read.
  mkdirSync(join(place, name));
  expect((await verifyBackup(storage, manifest)).problems).toEqual([
    `${name} in ${place} cannot be read: EISDIR`,
  ]);
});

test('a drill removes what a killed one left, and not the files of one that runs', async () => {
  const { storage, backUp } = rig();
  await backUp();
  const temporary = temporaryDirectory();
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ['left', 'running'])
    mkdirSync(join(temporary, `underround-drill-${name}`, 'data'), { recursive: true });
  writeFileSync(join(temporary, 'underround-drill-left', 'claim-7-ended'), '');
  await RunClaim.of(join(temporary, 'underround-drill-running'));
  mkdirSync(join(temporary, 'underround-drill-beginning'));
  mkdirSync(join(temporary, 'other'));
  const result = await drillBackup({ storage, id: null, clock: systemClock, log: silentLogger });
  expect(result.problems).toEqual([]);
  expect(readdirSync(temporary).sort()).toEqual([
    'other',
    'underround-drill-beginning',
    'underround-drill-running',
  ]);
});

test('a backup removes the links of a killed one from the engine, and no others', async () => {
  const { dataDir, backUp } = rig();
  const shadow = join(dataDir, 'engine', 'shadow');
  for (const name of ['underround_backup_1', '7'])
    mkdirSync(join(shadow, name, 'store'), { recursive: true });
  await backUp();
  expect(readdirSync(shadow)).toEqual(['7']);
});

it.skipIf(!canMount)('a backup to a full disk says that the disk is full', async () => {
  const disk = limitedDisk('tmpfs', 4);
  mkdirSync(join(disk.path, 'incoming'));
  disk.fill();
  const { backUp, dataDir } = rig({ place: disk.path });
  await expect(backUp()).rejects.toThrow(
    new InvalidInputError(`the disk of ${join(disk.path, 'incoming')} is full; free space`),
  );
  expect(existsSync(join(dataDir, 'backup-stage'))).toBe(false);
});

it.skipIf(!canMount)('a restore that was killed does not use the space of the next one', async () => {
  const { backUp, restore } = rig({ dataDir: dataDirectory(20 * MIB) });
  await backUp();
  const disk = limitedDisk('tmpfs', 32);
  const left = join(disk.path, '.data.restoring', 'content');
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, 'frames'), Buffer.alloc(20 * MIB));
  await restore(join(disk.path, 'data'));
  expect(readdirSync(disk.path)).toEqual(['data']);
});

it.skipIf(!canMount)('a restore to a mount point is refused before anything is copied', async () => {
  const { storage, backUp, restore } = rig();
  await backUp();
  const disk = limitedDisk('tmpfs', 4);
  const reading = vi.spyOn(storage, 'read');
  await expect(restore(disk.path)).rejects.toThrow(
    new InvalidInputError(`--data-dir ${disk.path} is a mount point; name a new directory below it`),
  );
  expect(reading).not.toHaveBeenCalled();
  expect(existsSync(join(disk.path, '..', `.${disk.path.split('/').at(-1)}.restoring`))).toBe(false);
});

test('the end of a backup or restore leaves the claim of the next one', async () => {
  const { dataDir, backUp, restore } = rig();
  const root = temporaryDirectory();
  const [stage, draft] = [join(dataDir, 'backup-stage'), join(root, '.data.restoring')];
  const release = RunClaim.prototype.release;
  const waiting = [stage, draft];
  const releasing = vi.spyOn(RunClaim.prototype, 'release').mockImplementation(async function (
    this: RunClaim,
  ) {
    await release.call(this);
    const [next = ''] = waiting;
    const isFree = existsSync(next) && !readdirSync(next).some((name) => name.startsWith('claim-'));
    if (isFree && (await RunClaim.of(next)) !== null) waiting.shift();
  });
  onTestFinished(() => releasing.mockRestore());
  await backUp();
  expect(readdirSync(stage)).toHaveLength(1);
  await restore(join(root, 'data'));
  expect(readdirSync(draft)).toHaveLength(1);
});

test.each([
  ['leaves out the note of a file whose last rows came after the copy', 'finish', 'imported', false],
  ['has the note of rows that were lost just before the copy', 'begin', 'lost-parts.json', true],
] as const)('a backup %s', async (_what, step, name, isCopied) => {
  const { dataDir, backUp, restore } = rig();
  const run = JournalCollector.prototype[step] as (this: JournalCollector, clock: never) => Promise<never>;
  const running = vi.spyOn(JournalCollector.prototype, step).mockImplementation(async function (
    this: JournalCollector,
    clock: unknown,
  ) {
    const result = await run.call(this, clock as never);
    writeFileSync(join(dataDir, name), 'noted');
    return result;
  });
  onTestFinished(() => running.mockRestore());
  await backUp();
  const target = join(temporaryDirectory(), 'data');
  await restore(target);
  expect(existsSync(join(target, name))).toBe(isCopied);
});
