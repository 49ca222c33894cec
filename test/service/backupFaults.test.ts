/** The commands `backup` and `restore` while they are suspended, killed, or without a descriptor or memory left. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backupIds, readManifest } from '../../src/backup/manifest.ts';
import { openBackupStorage } from '../../src/backup/openStorage.ts';
import { verifyBackup } from '../../src/backup/verifyBackup.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { isComplete } from '../crash/faults/backupRounds.ts';
import { refuseDescriptors, refuseMemory } from '../crash/faults/processLimit.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { keptDataDirectory } from '../support/dataDirectories.ts';
import { S3_VARIABLES, startS3 } from '../support/s3Server.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const PLACE = 's3://BUCKET/books';
const VARIABLES = { ...S3_VARIABLES, UNDERROUND_DISK_RESERVE: '16MiB' };
const noLimits = commandAbsent || !existsSync('/usr/bin/prlimit');

/** A data directory and an empty bucket whose server acts on a command at its first piece. */
async function rig() {
  const s3 = await startS3('BUCKET');
  onTestFinished(() => s3.stop());
  const root = temporaryDirectory();
  const target = join(root, 'restored');
  const at = ['--s3-endpoint', s3.url];
  const storage = openBackupStorage(
    PLACE,
    { s3Endpoint: s3.url },
    { variables: S3_VARIABLES, clock: systemClock, random: () => 0 },
  );
  return {
    root,
    target,
    backup: ['backup', PLACE, ...at, '--data-dir', keptDataDirectory('187b58b')],
    restore: ['restore', PLACE, ...at, '--data-dir', target],
    backups: () => backupIds(storage),
    /** What verify finds in the newest backup. */
    problems: async () => (await verifyBackup(storage, await readManifest(storage, null))).problems,
    isRestored: async () => existsSync(target) && isComplete(target, await readManifest(storage, null)),
    /** Starts a command. Resolves at its first piece, after `act` and before the answer. */
    startUntilPiece: (words: readonly string[], act: (pid: number) => void) =>
      new Promise<Started>((resolve, reject) => {
        const started = start(words);
        s3.onPiece(() => {
          s3.onPiece(() => undefined);
          act(started.pid);
          resolve(started);
        });
        void started.ended.then(({ log }) => reject(new Error(`ended before its first piece: ${log}`)));
      }),
  };
}

interface Started {
  readonly pid: number;
  readonly ended: Promise<{ readonly code: number | null; readonly log: string }>;
}

/** Starts the built command. */
function start(words: readonly string[]): Started {
  const env = { PATH: process.env.PATH ?? '', ...VARIABLES };
  const command = join(PROJECT_ROOT, 'bin/underround.mjs');
  const child = spawn(process.execPath, [command, ...words], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { pid: child.pid as number, ended: ended.then((code) => ({ code, log })) };
}

const suspend = (pid: number) => process.kill(pid, 'SIGSTOP');

describe.skipIf(commandAbsent)('suspended in the middle (skipped without a build)', () => {
  it('a backup goes on, and a killed one leaves no backup', async () => {
    const { backup, backups, problems, startUntilPiece } = await rig();
    const killed = await startUntilPiece(backup, suspend);
    process.kill(killed.pid, 'SIGKILL');
    expect((await killed.ended).code).toBeNull();
    expect(await backups()).toEqual([]);

    const { pid, ended } = await startUntilPiece(backup, suspend);
    await expect(underround(backup, VARIABLES)).rejects.toThrow(
      new RegExp(`process ${pid} backs up .*kill -CONT ${pid}`),
    );
    expect(await backups()).toEqual([]);
    process.kill(pid, 'SIGCONT');
    expect((await ended).code).toBe(0);
    expect([await backups(), await problems()]).toEqual([[expect.any(String)], []]);
  });

  it('a restore goes on, and a killed one leaves no directory', async () => {
    const { root, target, backup, restore, isRestored, startUntilPiece } = await rig();
    await underround(backup, VARIABLES);
    const killed = await startUntilPiece(restore, suspend);
    process.kill(killed.pid, 'SIGKILL');
    expect((await killed.ended).code).toBeNull();
    expect(existsSync(target)).toBe(false);

    const { pid, ended } = await startUntilPiece(restore, suspend);
    await expect(underround(restore, VARIABLES)).rejects.toThrow(
      new RegExp(`process ${pid} restores into .*kill -CONT ${pid}`),
    );
    expect(existsSync(target)).toBe(false);
    process.kill(pid, 'SIGCONT');
    expect((await ended).code).toBe(0);
    expect(await isRestored()).toBe(true);
    expect(readdirSync(root)).toEqual(['restored']);
  });
});

describe.skipIf(noLimits)('without a descriptor left (skipped without a build or prlimit)', () => {
  it('a backup and a restore fail with the reason and leave nothing', async () => {
    const { root, target, backup, restore, backups, problems, isRestored, startUntilPiece } = await rig();
    const reason = expect.stringMatching(/^underround: \S+ .*this process may open no further file/m);
    expect(await (await startUntilPiece(backup, refuseDescriptors)).ended).toEqual({ code: 1, log: reason });
    expect(await backups()).toEqual([]);
    await underround(backup, VARIABLES);
    expect(await problems()).toEqual([]);

    expect(await (await startUntilPiece(restore, refuseDescriptors)).ended).toEqual({ code: 1, log: reason });
    expect(existsSync(target)).toBe(false);
    await underround(restore, VARIABLES);
    expect(await isRestored()).toBe(true);
    expect(readdirSync(root)).toEqual(['restored']);
  });
});

describe.skipIf(noLimits)('without further memory (skipped without a build or prlimit)', () => {
  it('V8 may end a backup or a restore: it leaves all or nothing, and the next one succeeds', async () => {
    const { target, backup, restore, backups, problems, isRestored, startUntilPiece } = await rig();
    await (await startUntilPiece(backup, refuseMemory)).ended;
    if ((await backups()).length > 0) expect(await problems()).toEqual([]);
    await underround(backup, VARIABLES);
    expect(await problems()).toEqual([]);

    await (await startUntilPiece(restore, refuseMemory)).ended;
    expect(existsSync(target)).toBe(await isRestored());
    if (!existsSync(target)) await underround(restore, VARIABLES);
    expect(await isRestored()).toBe(true);
  });
});
