/** The manifest of a backup: which files it has, where their bytes are, and the state that they form together. */
import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { z } from 'zod';
import { BackupDamagedError, InvalidInputError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { formatTime } from '../schema/time.ts';
import { API_VERSION } from '../schema/version.ts';
import { type BackupStorage, MANIFEST_PREFIX, sha256Of } from './backupStorage.ts';

/** Grows with every change that an earlier release cannot read. */
export const BACKUP_FORMAT = 1;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const size = z.number().int().nonnegative();
/** A path below the data directory, which cannot lead out of it. */
const path = z.string().refine((text) => {
  const plain = posix.normalize(text) === text && !posix.isAbsolute(text) && !text.includes('\0');
  return plain && text !== '.' && text !== '..' && !text.startsWith('../');
}, 'must stay in the data directory');

const packSchema = z.object({
  /** Equal for equal content of an engine's part; null for all other files. */
  identity: z.string().nullable(),
  /** The bytes of all files, one after the other, cut into pieces. */
  pieces: z.array(z.object({ sha256: hash, bytes: size })),
  files: z.array(z.object({ path, sha256: hash, bytes: size })),
});
export type Pack = z.output<typeof packSchema>;

const manifestSchema = z.object({
  format: z.literal(BACKUP_FORMAT),
  id: z.string(),
  /** Release that wrote the backup. */
  release: z.string(),
  started_at: z.string(),
  finished_at: z.string(),
  schema: z.object({
    /** Names of the control database's migrations, in their order. */
    control: z.array(z.string()),
    /** Columns of each table of the engine. */
    tables: z.record(z.string(), z.array(z.string())),
  }),
  /** Where the recording ends. */
  mark: z.object({ seq: z.number().nullable(), time: z.string().nullable() }),
  /** Rows of each table in the engine's parts; rows that wait in the journal are not counted. */
  engine_rows: z.record(z.string(), size),
  /** Rows in the journal; the engine's parts may have some of them too. */
  journal_rows: size,
  /** `server`: the rows are on a ClickHouse server and not in this backup. */
  engine: z.enum(['embedded', 'server', 'none']),
  control: z.enum(['sqlite', 'postgres', 'none']),
  /** `variable`: the key is not in the backup; `UNDERROUND_SECRET_KEY` has it. */
  secret_key: z.enum(['file', 'variable', 'none']),
  /** Id of the engine's database: equal in all backups of one recording. */
  recording_id: z.string().nullable(),
  links: z.array(
    z.object({ path, target: z.string().regex(/^(?:\.\.\/)*store\/[0-9a-f]{3}\/[0-9a-f-]{36}\/?$/) }),
  ),
  packs: z.array(packSchema),
});
export type Manifest = z.output<typeof manifestSchema>;

interface LoggedStorage {
  readonly storage: BackupStorage;
  readonly log: Logger;
}

const envelope = z.object({ sha256: hash, manifest: z.unknown() });

export function encodeManifest(manifest: Manifest): Buffer {
  return Buffer.from(JSON.stringify({ sha256: sha256Of(JSON.stringify(manifest)), manifest }));
}

/**
 * @throws {BackupDamagedError} If the text is not the one that was written.
 * @throws {InvalidInputError} If a newer release wrote it.
 */
function decodeManifest(bytes: Buffer, name: string): Manifest {
  const damaged = (cause?: unknown) => new BackupDamagedError(`manifest ${name} is damaged`, { cause });
  let content: z.output<typeof envelope>;
  try {
    content = envelope.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw damaged(cause);
  }
  if (sha256Of(JSON.stringify(content.manifest)) !== content.sha256) throw damaged();
  const { format, release } = content.manifest as { format?: unknown; release?: unknown };
  if (Number(format) > BACKUP_FORMAT)
    throw new InvalidInputError(
      `backup ${name} was written by release ${String(release)} in format ${String(format)}; this release ${API_VERSION} reads format ${BACKUP_FORMAT}: use the newer release`,
    );
  const parsed = manifestSchema.safeParse(content.manifest);
  if (!parsed.success) throw damaged(parsed.error);
  const { id } = parsed.data;
  if (id !== name) throw new BackupDamagedError(`manifest ${name} is that of backup ${id}`);
  return parsed.data;
}

/** An id in any format of a manifest: the time up to the millisecond, and random digits. */
const ID = /^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d)(\d{3})Z-[0-9a-f]{6}$/;

/**
 * Ids of the complete backups, the oldest first. Another name, as of a copy that a person or a program made of a
 * manifest, is no backup: sorted last, it would be taken for the newest one.
 */
export async function backupIds(storage: BackupStorage): Promise<string[]> {
  const names = [...(await storage.list(MANIFEST_PREFIX)).keys()].filter((name) => name.endsWith('.json'));
  const ids = names.map((name) => name.slice(MANIFEST_PREFIX.length, -'.json'.length));
  return ids.filter((id) => ID.test(id)).sort();
}

/**
 * Ids sort by time, and the last one is the newest backup. Where the clock was set back, the time in the id is one
 * millisecond after the newest one's: a restore must not prefer an older backup.
 */
export async function nextBackupId({ storage, log }: LoggedStorage, timeMs: number): Promise<string> {
  const newestMs = Math.max(...(await backupIds(storage)).map(timeInId));
  if (timeMs <= newestMs) log.warn({ newest: formatTime(newestMs) }, 'backup.clock_behind');
  const time = formatTime(Math.max(timeMs, newestMs + 1));
  const digits = time.slice(0, 'yyyy-mm-ddThh:mm:ss.sss'.length).replaceAll(/[-:.]/g, '');
  return `${digits}Z-${randomBytes(3).toString('hex')}`;
}

/** Before all times for digits that are no time. */
function timeInId(id: string): number {
  return Date.parse(id.replace(ID, '$1-$2-$3:$4:$5.$6Z')) || Number.NEGATIVE_INFINITY;
}

/** Null where no manifest is readable: a damaged one of an earlier backup must not prevent the next backup. */
export async function newestReadableManifest({ storage, log }: LoggedStorage): Promise<Manifest | null> {
  for (const id of (await backupIds(storage)).reverse()) {
    try {
      return await readManifest(storage, id);
    } catch (error) {
      if (!(error instanceof BackupDamagedError || error instanceof InvalidInputError)) throw error;
      log.warn({ reason: error.message }, 'backup.earlier_unreadable');
    }
  }
  return null;
}

/**
 * Reads the manifest of a backup; without an id, of the newest.
 * @throws {InvalidInputError} If there is no such backup.
 */
export async function readManifest(storage: BackupStorage, id: string | null): Promise<Manifest> {
  const ids = await backupIds(storage);
  if (ids.length === 0)
    throw new InvalidInputError(
      `there is no complete backup in ${storage.name}; \`underround backup\` writes one`,
    );
  const wanted = id ?? (ids.at(-1) as string);
  if (!ids.includes(wanted))
    throw new InvalidInputError(`there is no backup ${wanted} in ${storage.name}; it has ${ids.join(', ')}`);
  return decodeManifest(await storage.read(manifestName(wanted)), wanted);
}

export function manifestName(id: string): string {
  return `${MANIFEST_PREFIX}${id}.json`;
}

/** Total size of the files. */
export function contentBytes({ packs }: Pick<Manifest, 'packs'>): number {
  return packs.reduce((sum, { files }) => sum + files.reduce((bytes, file) => bytes + file.bytes, 0), 0);
}
