/** Turns a backup into a data directory: complete under its name, or absent. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SQLITE_FILE_NAME } from '../control/sqliteFile.ts';
import { MIGRATIONS } from '../controlDatabase.ts';
import type { Clock } from '../runtime/clock.ts';
import { isDiskFull } from '../runtime/diskFull.ts';
import { syncDirectory } from '../runtime/durableFile.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { makeDurableDirectories } from '../runtime/makeDirectories.ts';
import { API_VERSION } from '../schema/version.ts';
import { readDiskSpace } from '../store/engine/diskGuard.ts';
import { claimDirectory } from '../store/journal/claimDirectory.ts';
import { TABLES } from '../store/tables/schema.ts';
import type { BackupStorage } from './backupStorage.ts';
import { contentBytes, type Manifest, readManifest } from './manifest.ts';
import { namedWrite } from './namedAccess.ts';
import { readPack } from './pack.ts';
import { endRestore, fillPostgres } from './postgresCopy.ts';

interface RestoreOptions {
  readonly storage: BackupStorage;
  /** Null: the newest. */
  readonly id: string | null;
  /** The new data directory: absent or empty. */
  readonly dataDir: string;
  /** An empty PostgreSQL database that gets the control database's rows; null: they stay in the directory. */
  readonly databaseUrl: string | null;
  readonly clock: Clock;
  readonly onProgress?: (progress: { bytes: number; totalBytes: number }) => void;
}

/**
 * Restores a backup.
 * @throws {InvalidInputError} If the directory is in use, the disk is too small, or the backup is of a newer release.
 * @throws {BackupDamagedError} If a byte of the backup differs. The directory is not created.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const dataDir = resolve(options.dataDir);
  requireUnused(dataDir);
  const manifest = await readManifest(options.storage, options.id);
  const newer = newerThanThis(manifest);
  if (newer !== null) throw new InvalidInputError(newer);
  const draft = join(dirname(dataDir), `.${basename(dataDir)}.restoring`);
  makeDurableDirectories(draft);
  const claim = await claimDirectory(draft, `restores into ${dataDir}`);
  const content = join(draft, 'content');
  try {
    // A restore that was killed leaves its files.
    await rm(content, { recursive: true, force: true });
    await requireSpace(dirname(dataDir), contentBytes(manifest));
    await writeFiles(content, manifest, options);
    await moveControl(content, manifest, options);
    requireUnused(dataDir);
    await moveInto(content, dataDir);
    if (options.databaseUrl !== null && manifest.control !== 'none') await endRestore(options.databaseUrl);
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause;
    const message = `the disk of ${dirname(dataDir)} is full; free space there and restore again`;
    throw new InvalidInputError(message, { cause });
  } finally {
    // The next restore removes what this one cannot; that must not hide why this one failed.
    await rm(content, { recursive: true, force: true }).catch(() => undefined);
    await claim.release();
    // Not with its files: another restore may have claimed it meanwhile.
    await rmdir(draft).catch(() => undefined);
  }
  return manifest;
}

/** Why this release cannot use a backup; null where it can. */
export function newerThanThis({ id, release, schema }: Manifest): string | null {
  const migrations = schema.control.filter((name) => !(name in MIGRATIONS));
  const tables = Object.entries(schema.tables).flatMap(([table, columns]) => {
    const known: readonly { readonly name: string }[] = TABLES[table as keyof typeof TABLES]?.columns ?? [];
    return columns
      .filter((column) => !known.some(({ name }) => name === column))
      .map((column) => `${table}.${column}`);
  });
  const unknown = [...migrations, ...tables];
  if (unknown.length === 0 && !isNewer(release, API_VERSION)) return null;
  const because = unknown.length === 0 ? '' : ` (unknown here: ${unknown.join(', ')})`;
  return `backup ${id} was written by release ${release}, which is newer than this release ${API_VERSION}${because}: use the newer release`;
}

function isNewer(release: string, than: string): boolean {
  const [a, b] = [release, than].map((text) => text.split(/[.-]/).slice(0, 3).map(Number)) as [
    number[],
    number[],
  ];
  const place = a.findIndex((number, index) => number !== b[index]);
  return place >= 0 && (a[place] as number) > (b[place] ?? 0);
}

/** @throws {InvalidInputError} If the path is anything else than an empty directory that a rename can replace. */
function requireUnused(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const stats = statSync(dataDir);
  if (!stats.isDirectory() || readdirSync(dataDir).length > 0)
    throw new InvalidInputError(`--data-dir ${dataDir} is in use; name a directory that is absent or empty`);
  if (stats.dev !== statSync(dirname(dataDir)).dev) throw mountPoint(dataDir);
}

function mountPoint(dataDir: string, cause?: unknown): InvalidInputError {
  const message = `--data-dir ${dataDir} is a mount point; name a new directory below it`;
  return new InvalidInputError(message, { cause });
}

/** Moves the restored directory to its name. */
async function moveInto(content: string, dataDir: string): Promise<void> {
  try {
    await rename(content, dataDir);
  } catch (cause) {
    // A directory of the same disk that is mounted at this name.
    if (['EBUSY', 'EXDEV'].includes((cause as NodeJS.ErrnoException).code ?? ''))
      throw mountPoint(dataDir, cause);
    throw cause;
  }
  await syncDirectory(dirname(dataDir));
}

/** @throws {InvalidInputError} */
async function requireSpace(parent: string, bytes: number): Promise<void> {
  const { freeBytes } = await readDiskSpace(parent);
  if (freeBytes >= bytes) return;
  const [free, needed] = [freeBytes, bytes].map((count) => Math.ceil(count / 1024 / 1024));
  throw new InvalidInputError(
    `${parent} has ${free} MiB free and the backup needs ${needed} MiB; free space`,
  );
}

async function writeFiles(directory: string, manifest: Manifest, options: RestoreOptions): Promise<void> {
  const totalBytes = contentBytes(manifest);
  const directories = new Set([directory]);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let bytes = 0;
  let file: FileHandle | null = null;
  let name = '';
  const written = <T>(writing: Promise<T>) => namedWrite(`${name} of ${options.dataDir}`, writing);
  const receiver = {
    onFile: async (path: string) => {
      name = path;
      const target = join(directory, path);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      for (let at = dirname(target); at.length > directory.length; at = dirname(at)) directories.add(at);
      file = await written(open(target, 'wx', 0o600));
    },
    onBytes: async (part: Buffer) => {
      if (file !== null) await written(file.writeFile(part));
      bytes += part.length;
    },
    onFileEnd: async () => {
      if (file !== null) await written(file.sync());
      await file?.close();
      file = null;
    },
  };
  try {
    for (const pack of manifest.packs) {
      await readPack(options.storage, pack, receiver);
      options.onProgress?.({ bytes, totalBytes });
    }
  } finally {
    await (file as FileHandle | null)?.close();
  }
  for (const { path, target } of manifest.links) {
    const link = join(directory, path);
    await mkdir(dirname(link), { recursive: true, mode: 0o700 });
    directories.add(dirname(link));
    await symlink(target, link);
  }
  for (const made of directories) await syncDirectory(made);
}

/** Moves the control database's rows to PostgreSQL where the restored service will use it. */
async function moveControl(
  directory: string,
  manifest: Manifest,
  { databaseUrl, clock }: RestoreOptions,
): Promise<void> {
  if (databaseUrl === null || manifest.control === 'none') return;
  const path = join(directory, SQLITE_FILE_NAME);
  await fillPostgres(databaseUrl, { path, backupId: manifest.id, nowMs: clock.now() });
  for (const ending of ['', '-wal', '-shm']) await rm(path + ending, { force: true });
}
