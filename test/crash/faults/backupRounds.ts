/** Kills the commands `backup` and `restore` at random moments, beside a service that records. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DirectoryStorage } from '../../../src/backup/directoryStorage.ts';
import { backupIds, type Manifest, readManifest } from '../../../src/backup/manifest.ts';
import { verifyBackup } from '../../../src/backup/verifyBackup.ts';
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import { type FaultOptions, FaultRig } from './faultRig.ts';
import { runCommand } from './killedCommand.ts';
import type { ServiceProcess } from './serviceProcess.ts';

/** Kills cover the duration of an undisturbed command and a little more. */
const BEYOND_END = 1.1;
/** How long the service records before the first backup. */
const RECORDED_MS = 3_000;
/** A backup that nobody kills must succeed once per this many rounds. */
const UNDISTURBED_EVERY_ROUNDS = 10;

/** The members that must be 0 are in `BAD` of `run.ts`. */
export interface CopyRoundsResult {
  readonly [fact: string]: number;
  /** Kills that left neither the old nor the new state. */
  between: number;
  /** Commands that failed although nothing disturbed them. */
  commandsFailed: number;
  startsFailed: number;
}

export function runBackupRounds(options: FaultOptions): Promise<CopyRoundsResult> {
  return FaultRig.with(options, async (rig) => {
    const service = await recordingService(rig);
    const place = rig.temporaryDirectory();
    const words = ['backup', place, '--data-dir', service.dataDir];
    const storage = new DirectoryStorage(place);
    const { ok, durationMs } = await run(words, null);
    let [between, commandsFailed, completed] = [0, ok ? 0 : 1, 0];
    for (let round = 1; round <= options.rounds; round++) {
      const before = await backupIds(storage);
      await run(words, rig.random.uniform(0, durationMs * BEYOND_END));
      const after = await backupIds(storage);
      if (after.length > before.length) completed++;
      const problems = (await verifyBackup(storage, await readManifest(storage, null))).problems;
      if (!before.every((id) => after.includes(id)) || problems.length > 0) between++;
      if (round % UNDISTURBED_EVERY_ROUNDS === 0 || round === options.rounds) {
        if (!(await run(words, null)).ok) commandsFailed++;
        rig.say(`${round} of ${options.rounds} kills: ${completed} too late, ${between} between`);
      }
    }
    if (!(await run(['restore', '--check', place, '--data-dir', service.dataDir], null)).ok) commandsFailed++;
    const startsFailed = rig.startsFailed + (service.isRunning ? 0 : 1);
    return { between, commandsFailed, startsFailed, completed };
  });
}

export function runRestoreRounds(options: FaultOptions): Promise<CopyRoundsResult> {
  return FaultRig.with(options, async (rig) => {
    const service = await recordingService(rig);
    const place = rig.temporaryDirectory();
    let commandsFailed = (await run(['backup', place, '--data-dir', service.dataDir], null)).ok ? 0 : 1;
    await service.end('SIGTERM');
    const manifest = await readManifest(new DirectoryStorage(place), null);
    const target = join(rig.temporaryDirectory(), 'restored');
    const words = ['restore', place, '--data-dir', target];
    const { ok, durationMs } = await run(words, null);
    if (!ok) commandsFailed++;
    let [between, completed] = [0, 0];
    for (let round = 1; round <= options.rounds; round++) {
      rmSync(target, { recursive: true, force: true });
      await run(words, rig.random.uniform(0, durationMs * BEYOND_END));
      if (!existsSync(target)) continue;
      completed++;
      if (!isComplete(target, manifest)) between++;
    }
    rig.say(`${options.rounds} kills: ${completed} too late, ${between} between`);
    rmSync(target, { recursive: true, force: true });
    if (!(await run(words, null)).ok || !isComplete(target, manifest)) commandsFailed++;
    await rig.start(await rig.service(target));
    return { between, commandsFailed, startsFailed: rig.startsFailed, completed };
  });
}

async function recordingService(rig: FaultRig): Promise<ServiceProcess> {
  const service = await rig.service(rig.temporaryDirectory());
  await rig.start(service);
  await sleep(clock, RECORDED_MS);
  return service;
}

/** Whether a restored directory has every file of the backup with its bytes. */
export function isComplete(dataDir: string, { packs }: Manifest): boolean {
  return packs.every(({ files }) =>
    files.every(({ path, sha256 }) => {
      const file = join(dataDir, path);
      return existsSync(file) && createHash('sha256').update(readFileSync(file)).digest('hex') === sha256;
    }),
  );
}

/** Runs a command, and kills it after a time unless that is null. */
function run(words: readonly string[], killAfterMs: number | null) {
  return runCommand(words, killAfterMs === null ? null : () => sleep(clock, killAfterMs));
}
