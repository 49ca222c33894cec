/**
 * Backups of a data directory that a service may be using. A backup is a manifest and the pieces that it names; the
 * manifest is written last, so a backup that was cut does not exist. Pieces are stored under the hash of their content,
 * and the engine's parts never change, so a further backup writes only what is new.
 */
import { lstat, mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { SECRET_KEY_FILE_NAME } from '../control/secretBox.ts';
import { SQLITE_FILE_NAME } from '../control/sqliteFile.ts';
import type { Clock } from '../runtime/clock.ts';
import { isDiskFull } from '../runtime/diskFull.ts';
import { InvalidInputError, StoreUnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { nullIfAbsent } from '../runtime/nullIfAbsent.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import { API_VERSION } from '../schema/version.ts';
import { StoreClient } from '../store/engine/client.ts';
import { readDiskSpace, reserveBytes } from '../store/engine/diskGuard.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { claimDirectory } from '../store/journal/claimDirectory.ts';
import { isClaim, isUnseenClaim } from '../store/journal/runClaim.ts';
import { type BackupStorage, backupPieceName, PIECE_PREFIX } from './backupStorage.ts';
import { type ControlSnapshot, snapshotControl } from './controlSnapshot.ts';
import { type EngineSnapshot, engineFreezeName, removeFrozen, snapshotEngine } from './engineSnapshot.ts';
import { JournalCollector, type JournalSnapshot } from './journalSnapshot.ts';
import {
  BACKUP_FORMAT,
  encodeManifest,
  type Manifest,
  manifestName,
  newestReadableManifest,
  nextBackupId,
  type Pack,
} from './manifest.ts';
import { type FileSource, writePack } from './pack.ts';
import { plainFiles } from './plainFiles.ts';

/** Links and copies in the data directory while a backup runs. */
const STAGE = 'backup-stage';
const [JOURNAL, DEFINITIONS, PLAIN] = ['journal', 'definitions', 'plain'];
/** A copy is repeated if a table was changed or a segment was missed meanwhile. */
const ATTEMPTS_MAX = 10;
/** Bytes a backup may need beyond its files: manifest, directories. */
const SPARE_BYTES = 16 * 1024 * 1024;

interface BackupOptions {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl' | 'clickhouseUrl' | 'secretKey' | 'diskReserve'>;
  readonly storage: BackupStorage;
  readonly clock: Clock;
  readonly log: Logger;
  /** Entry of the engine's host, for a data directory that no service uses. */
  readonly hostEntry?: string;
  readonly onProgress?: (progress: BackupProgress) => void;
}

interface BackupProgress {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly parts: number;
  readonly totalParts: number;
}

interface BackupResult {
  readonly manifest: Manifest;
  /** Size of what this backup added to the storage, without the manifest. */
  readonly writtenBytes: number;
  readonly newParts: number;
  readonly reusedParts: number;
}

/** Everything a backup will have, held by links and copies. */
interface Snapshot {
  readonly control: ControlSnapshot;
  readonly engine: EngineSnapshot | null;
  readonly journal: JournalSnapshot;
  readonly plain: readonly FileSource[];
}

/**
 * Writes a backup.
 * @throws {InvalidInputError} If another backup runs, or the disk or storage has too little space.
 * @throws {StoreUnavailableError} If the engine does not answer.
 */
export async function writeBackup(options: BackupOptions): Promise<BackupResult> {
  const { config, storage, clock, log } = options;
  // It is written all the same: a backup there is better than none.
  if (await storage.isWithin(config.dataDir)) log.warn({ place: storage.name }, 'backup.in_data_directory');
  const stage = join(config.dataDir, STAGE);
  await mkdir(stage, { recursive: true, mode: 0o700 });
  const own = await claimDirectory(stage, `backs up ${config.dataDir}`);
  try {
    const claim = await storage.claim();
    try {
      const startedMs = clock.now();
      const id = await nextBackupId(options, startedMs);
      await clearStage(config.dataDir, stage);
      const snapshot = await takeSnapshot(options, { id, stage });
      return await store(options, { id, startedMs, snapshot });
    } catch (error) {
      if (isDiskFull((error as Error).cause)) await claim.discard().catch(() => undefined);
      throw error;
    } finally {
      await claim.release();
    }
  } catch (cause) {
    // The storage names itself; this is a link or copy in the data directory.
    if (!isDiskFull(cause)) throw cause;
    const message = `the disk of ${config.dataDir} is full; free space there and back up again`;
    throw new InvalidInputError(message, { cause });
  } finally {
    // The next backup removes what this one cannot; that must not hide why this one failed.
    await clearStage(config.dataDir, stage).catch((err: unknown) => log.warn({ err }, 'backup.stage_left'));
    await own.release();
    // Not with its files: another backup may have claimed it meanwhile.
    await rmdir(stage).catch(() => undefined);
  }
}

/** Removes links and copies, but no claim. */
async function clearStage(dataDir: string, stage: string): Promise<void> {
  for (const name of (await readdir(stage)).filter((entry) => !isClaim(entry) && !isUnseenClaim(entry)))
    await rm(join(stage, name), { recursive: true, force: true });
  await removeFrozen(dataDir);
}

async function takeSnapshot(
  options: BackupOptions,
  { id, stage }: { id: string; stage: string },
): Promise<Snapshot> {
  const { config } = options;
  const copy = join(stage, SQLITE_FILE_NAME);
  await requireCopySpace(config);
  // Before the recording: a start catches up with rows that are newer than the control database, not the reverse.
  const control = await snapshotControl(config, copy);
  const { engine, journal, plain } = await snapshotRecording(options, { id, stage });
  const database: FileSource[] =
    control.kind === 'none' ? [] : [{ path: SQLITE_FILE_NAME, source: copy, bytes: (await stat(copy)).size }];
  return { control, engine, journal, plain: [...database, ...plain] };
}

/** @throws {InvalidInputError} If the copy of the control database would use the disk reserve. */
async function requireCopySpace({ dataDir, diskReserve }: BackupOptions['config']): Promise<void> {
  const bytes = (await nullIfAbsent(stat(join(dataDir, SQLITE_FILE_NAME))))?.size ?? 0;
  const { freeBytes, totalBytes } = await readDiskSpace(dataDir);
  const neededBytes = bytes + reserveBytes(diskReserve, totalBytes);
  if (freeBytes < neededBytes)
    throw new InvalidInputError(
      `the disk of ${dataDir} has ${mib(freeBytes)} free and a backup needs ${mib(neededBytes)}, its reserve included; free space`,
    );
}

async function snapshotRecording(
  { config, clock, log, hostEntry }: BackupOptions,
  { id, stage }: { id: string; stage: string },
): Promise<Omit<Snapshot, 'control'>> {
  const { dataDir } = config;
  const hasEngine =
    config.clickhouseUrl === null && (await nullIfAbsent(lstat(join(dataDir, 'engine')))) !== null;
  const entry = hostEntry === undefined ? {} : { hostEntry };
  const reach = { dataDir, clickhouseUrl: null, diskReserve: config.diskReserve, clock, log };
  const access = hasEngine ? await reachEngine({ ...reach, metrics: new Metrics(), ...entry }) : null;
  const client = access === null ? null : new StoreClient({ access, clock, log });
  try {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const journalDir = join(dataDir, 'journal');
      const stageDir = join(stage, JOURNAL, String(attempt));
      const collector = new JournalCollector({ journalDir, stageDir });
      try {
        await collector.begin(clock);
        const copy = {
          dataDir,
          name: engineFreezeName(id, attempt),
          stage: join(stage, DEFINITIONS, String(attempt)),
        };
        const engine = client === null ? null : await snapshotEngine(client, copy);
        // After the engine: a loss that its copy has is noted in a file, or its gap is in the journal. Before the end of
        // the journal: a file that is noted as imported has all its rows in the copies.
        const plain = await plainFiles(dataDir, join(stage, PLAIN, String(attempt)));
        const journal = await collector.finish();
        if (journal !== null && (client === null || engine !== null)) return { engine, journal, plain };
      } finally {
        await collector.stop();
      }
      log.warn({ attempt }, 'backup.copy_repeated');
      await removeFrozen(dataDir);
    }
  } finally {
    await client?.close();
    await access?.close();
  }
  throw new StoreUnavailableError(`no consistent copy in ${ATTEMPTS_MAX} attempts; run the backup again`);
}

async function store(
  { config, storage, clock, log, onProgress = () => undefined }: BackupOptions,
  { id, startedMs, snapshot }: { id: string; startedMs: number; snapshot: Snapshot },
): Promise<BackupResult> {
  const stored = new Map(await storage.list(PIECE_PREFIX));
  const known = await knownPacks({ storage, log }, stored);
  const parts = snapshot.engine?.parts ?? [];
  const newParts = parts.filter(({ identity }) => !known.has(identity));
  const others = [snapshot.plain, snapshot.journal.files, snapshot.engine?.definitions ?? []];
  const toWrite = [...newParts, ...others.map((files) => ({ identity: null, files }))];
  const totalBytes = toWrite.reduce((sum, { files }) => sum + sizeOf(files), 0);
  await requireSpace(storage, totalBytes);
  const before = sumOf(stored);
  const packs: Pack[] = parts.flatMap(({ identity }) => known.get(identity) ?? []);
  let [bytes, done] = [0, 0];
  for (const { identity, files } of toWrite) {
    if (files.length === 0) continue;
    packs.push(await writePack({ storage, stored }, { identity, files }));
    bytes += sizeOf(files);
    if (identity !== null) done++;
    onProgress({ bytes, totalBytes, parts: done, totalParts: newParts.length });
  }
  const manifest = describe(config, { id, startedMs, finishedMs: clock.now(), snapshot, packs });
  await storage.write(manifestName(id), encodeManifest(manifest));
  const reusedParts = parts.length - newParts.length;
  return { manifest, writtenBytes: sumOf(stored) - before, newParts: newParts.length, reusedParts };
}

/** Packs of the newest readable backup by identity, where all of their pieces are still stored. */
async function knownPacks(
  parts: Pick<BackupOptions, 'storage' | 'log'>,
  stored: ReadonlyMap<string, number>,
): Promise<Map<string, Pack>> {
  const known = new Map<string, Pack>();
  for (const pack of (await newestReadableManifest(parts))?.packs ?? []) {
    const isStored = pack.pieces.every(({ sha256, bytes }) => stored.get(backupPieceName(sha256)) === bytes);
    if (pack.identity !== null && isStored) known.set(pack.identity, pack);
  }
  return known;
}

async function requireSpace(storage: BackupStorage, bytes: number): Promise<void> {
  const freeBytes = await storage.freeBytes();
  if (freeBytes === null || freeBytes >= bytes + SPARE_BYTES) return;
  throw new InvalidInputError(
    `${storage.name} has ${mib(freeBytes)} free and this backup adds up to ${mib(bytes + SPARE_BYTES)}; free space or name another place`,
  );
}

function describe(
  config: BackupOptions['config'],
  options: { id: string; startedMs: number; finishedMs: number; snapshot: Snapshot; packs: readonly Pack[] },
): Manifest {
  const { id, startedMs, finishedMs, snapshot, packs } = options;
  const { engine, journal, control, plain } = snapshot;
  const seqs = [engine?.seqMax ?? null, journal.seqMax].filter((seq) => seq !== null);
  const hasKeyFile = plain.some(({ path }) => path === SECRET_KEY_FILE_NAME);
  return {
    format: BACKUP_FORMAT,
    id,
    release: API_VERSION,
    started_at: formatTime(startedMs),
    finished_at: formatTime(finishedMs),
    schema: { control: [...control.migrations], tables: { ...engine?.columns } },
    mark: { seq: seqs.length === 0 ? null : Math.max(...seqs), time: formatTimeOrNull(journal.lastTimeMs) },
    engine_rows: { ...engine?.rows },
    journal_rows: journal.rows,
    engine: config.clickhouseUrl !== null ? 'server' : engine === null ? 'none' : 'embedded',
    control: control.kind,
    secret_key: config.secretKey !== null ? 'variable' : hasKeyFile ? 'file' : 'none',
    recording_id: engine?.recordingId ?? null,
    links: [...(engine?.links ?? [])],
    packs: [...packs],
  };
}

function sizeOf(files: readonly FileSource[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function sumOf(objects: ReadonlyMap<string, number>): number {
  return [...objects.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}
