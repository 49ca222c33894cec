import { existsSync } from 'node:fs';
import type { BackupStorage } from '../backup/backupStorage.ts';
import { drillBackup } from '../backup/drill.ts';
import { recordingId } from '../backup/engineSnapshot.ts';
import { contentBytes, type Manifest, readManifest } from '../backup/manifest.ts';
import { openBackupStorage, type StorageOptions } from '../backup/openStorage.ts';
import { restoreBackup } from '../backup/restoreBackup.ts';
import { verifyBackup } from '../backup/verifyBackup.ts';
import { writeBackup } from '../backup/writeBackup.ts';
import type { Config } from '../config.ts';
import { noteBackup, noteProof } from '../ops/backupRecord.ts';
import { MIB } from '../runtime/byteUnits.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { counted } from '../runtime/counted.ts';
import { BackupDamagedError, InvalidInputError } from '../runtime/errors.ts';
import { createLogger } from '../runtime/log.ts';
import { OWNER_ONLY_UMASK } from '../store/engine/ownerOnly.ts';
import { printFailure } from './failure.ts';
import { Progress } from './progress.ts';
import { readSettings } from './settings.ts';

export interface BackupCommandOptions extends StorageOptions {
  readonly at?: string;
  readonly check?: boolean;
  readonly verify?: boolean;
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** `underround backup PLACE`. */
export async function runBackup(place: string, options: BackupCommandOptions): Promise<void> {
  await running(async () => {
    const config = await readSettings({ dataDir: options.dataDir, use: 'read directory' });
    const storage = storageOf(place, options);
    const progress = new Progress('backup');
    const result = await writeBackup({
      ...{ config, storage, clock, log: createLogger(config.logLevel) },
      onProgress: ({ bytes, totalBytes, parts, totalParts }) =>
        progress.update(
          bytes / totalBytes,
          `${sizes(bytes, totalBytes)}, ${parts} of ${counted(totalParts, 'new part')}`,
        ),
    });
    progress.done();
    const { manifest, writtenBytes, newParts, reusedParts } = result;
    await noteBackup(config.dataDir, { written: entryOf(manifest, storage) });
    if (options.verify) await verify(manifest, storage, config);
    const facts = { new_parts: newParts, reused_parts: reusedParts, written_bytes: writtenBytes };
    print(options, { ...summary(manifest), ...facts, verified: options.verify === true }, [
      `backup ${manifest.id} in ${storage.name}: ${markText(manifest)}`,
      `${counted(newParts, 'new part')}, ${reusedParts} from earlier backups, ${mib(writtenBytes)} written`,
      ...notes(manifest),
    ]);
  });
}

/** `underround restore PLACE --data-dir NEW`, or with `--check` the drill. */
export async function runRestore(place: string, options: BackupCommandOptions): Promise<void> {
  await running(async () => {
    const { dataDir, at: id = null } = options;
    const config = await readSettings({ dataDir, use: 'make accounts' });
    if (options.check) return await check(storageOf(place, options), config, options);
    if (dataDir === undefined)
      throw new InvalidInputError('restore needs --data-dir with a new directory, or --check');
    const storage = storageOf(place, options);
    const onProgress = progressOf('restore');
    const { databaseUrl } = config;
    const manifest = await restoreBackup({ storage, id, dataDir, databaseUrl, clock, onProgress });
    print(options, { ...summary(manifest), data_dir: dataDir }, [
      `restored backup ${manifest.id} into ${dataDir}: ${markText(manifest)}`,
      ...notes(manifest),
      `start it with: underround serve --data-dir ${dataDir}`,
    ]);
  });
}

/** `underround verify PLACE`. */
export async function runVerifyBackup(place: string, options: BackupCommandOptions): Promise<void> {
  await running(async () => {
    const config = await readSettings({ dataDir: options.dataDir, use: 'make accounts' });
    const storage = storageOf(place, options);
    const manifest = await readManifest(storage, options.at ?? null);
    const { files } = await verify(manifest, storage, config);
    print(options, { ...summary(manifest), files, verified: true }, [
      `backup ${manifest.id} in ${storage.name} is complete: ${counted(files, 'file')}, ${mib(contentBytes(manifest))}`,
    ]);
  });
}

async function check(storage: BackupStorage, config: Config, options: BackupCommandOptions): Promise<void> {
  const parts = { storage, id: options.at ?? null, clock, log: createLogger('warn') };
  const { manifest, rows, problems } = await drillBackup({ ...parts, onProgress: progressOf('restore') });
  if (problems.length > 0)
    throw new BackupDamagedError(`backup ${manifest.id} cannot be used: ${problems.join('; ')}`);
  await noteProven(manifest, storage, config);
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  print(options, { ...summary(manifest), rows, restorable: true }, [
    `backup ${manifest.id} in ${storage.name} can be restored: ${counted(total, 'row')}, ${markText(manifest)}`,
  ]);
}

/** @throws {BackupDamagedError} With every problem. */
async function verify(manifest: Manifest, storage: BackupStorage, config: Config) {
  const result = await verifyBackup(storage, manifest, progressOf('verify'));
  if (result.problems.length > 0)
    throw new BackupDamagedError(`backup ${manifest.id} is damaged: ${result.problems.join('; ')}`);
  await noteProven(manifest, storage, config);
  return result;
}

/** Notes the check in the data directory, if the backup is of its recording. */
async function noteProven(manifest: Manifest, storage: BackupStorage, { dataDir }: Config): Promise<void> {
  const { recording_id: id } = manifest;
  if (!existsSync(dataDir) || (id !== null && id !== (await recordingId(dataDir)))) return;
  const made_ms = Date.parse(manifest.started_at);
  await noteProof(dataDir, { ...entryOf(manifest, storage), made_ms }, clock.now());
}

function entryOf({ id }: Manifest, { name }: BackupStorage) {
  return { id, place: name, time_ms: clock.now() };
}

function storageOf(place: string, options: StorageOptions): BackupStorage {
  return openBackupStorage(place, options, { variables: process.env, clock, random: Math.random });
}

async function running(run: () => Promise<void>): Promise<void> {
  process.umask(OWNER_ONLY_UMASK);
  try {
    await run();
  } catch (error) {
    printFailure(error);
    process.exitCode = 1;
  }
}

function progressOf(label: string): (progress: { bytes: number; totalBytes: number }) => void {
  const progress = new Progress(label);
  return ({ bytes, totalBytes }) => {
    progress.update(totalBytes === 0 ? 1 : bytes / totalBytes, sizes(bytes, totalBytes));
    if (bytes === totalBytes) progress.done();
  };
}

function print({ json }: BackupCommandOptions, facts: object, lines: readonly string[]): void {
  if (json) console.log(JSON.stringify(facts));
  else for (const line of lines) console.log(line);
}

function summary(manifest: Manifest) {
  const { id, release, started_at, finished_at, mark, engine, control, secret_key } = manifest;
  return {
    id,
    release,
    started_at,
    finished_at,
    mark,
    engine,
    control,
    secret_key,
    bytes: contentBytes(manifest),
  };
}

function markText({ mark, journal_rows }: Manifest): string {
  if (mark.seq === null) return 'no rows';
  return `rows up to seq ${mark.seq}, ${journal_rows} of them in the journal`;
}

/** What the operator must do beside the backup. */
function notes({ engine, control, secret_key }: Manifest): string[] {
  const lines: string[] = [];
  if (engine === 'server')
    lines.push(
      'the recorded rows are on the server of CLICKHOUSE_URL and not in this backup: use its BACKUP',
    );
  if (control === 'postgres') lines.push('the accounts are a copy of the database of DATABASE_URL');
  if (secret_key === 'variable')
    lines.push('the secret key is not in this backup: keep the value of UNDERROUND_SECRET_KEY');
  return lines;
}

function sizes(bytes: number, totalBytes: number): string {
  return `${mib(bytes)} of ${mib(totalBytes)}`;
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
