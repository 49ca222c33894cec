/** A copy of the embedded engine's tables by hard links, which the engine makes while it runs. */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { namesIn } from '../runtime/namesIn.ts';
import { nullIfAbsent } from '../runtime/nullIfAbsent.ts';
import type { StoreClient } from '../store/engine/client.ts';
import { DATABASE, TABLES, type TableName } from '../store/tables/schema.ts';
import { engineLinks } from './engineLinks.ts';
import { namedRead } from './namedAccess.ts';
import type { FileSource } from './pack.ts';
import { linkFiles } from './plainFiles.ts';

/** Names in `engine/shadow` that this module made. The engine writes other characters than these in escapes. */
const FREEZE_PREFIX = 'underround_backup_';
const [CHECKSUMS, COUNT] = ['checksums.txt', 'count.txt'];

interface EngineTable {
  readonly name: string;
  readonly uuid: string;
}

/** One immutable part of a table. */
interface EnginePart {
  readonly table: string;
  readonly rows: number;
  /** The same part has the same identity in every backup. */
  readonly identity: string;
  readonly files: readonly FileSource[];
}

export interface EngineSnapshot {
  readonly parts: readonly EnginePart[];
  /** Definitions of the database and its tables. */
  readonly definitions: readonly FileSource[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly columns: Readonly<Record<string, string[]>>;
  readonly rows: Readonly<Record<string, number>>;
  readonly recordingId: string | null;
  /** Highest seq in the engine before the copy; null without rows. */
  readonly seqMax: number | null;
}

export function engineFreezeName(id: string, attempt: number): string {
  return `${FREEZE_PREFIX}${id}_${attempt}`.replaceAll('-', '_');
}

/** Removes the links of this and of cut backups. */
export async function removeFrozen(dataDir: string): Promise<void> {
  const shadow = join(dataDir, 'engine', 'shadow');
  for (const name of await namesIn(shadow))
    if (name.startsWith(FREEZE_PREFIX)) await rm(join(shadow, name), { recursive: true, force: true });
}

/**
 * Links every part of every table. The links of one table are made at once; the parts stay readable through them after
 * merges have replaced them.
 * @returns Null where a table's definition changed meanwhile, the engine died, or the copy is incomplete: try again
 * with another name.
 */
export async function snapshotEngine(
  client: Pick<StoreClient, 'rows' | 'commandOnce'>,
  { dataDir, name, stage }: { dataDir: string; name: string; stage: string },
): Promise<EngineSnapshot | null> {
  const tables = await client.rows<EngineTable>(
    `SELECT name, toString(uuid) AS uuid FROM system.tables
     WHERE database = '${DATABASE}' AND engine LIKE '%MergeTree' ORDER BY name`,
  );
  const columns: Record<string, string[]> = {};
  for (const row of await client.rows<{ table: string; name: string }>(
    `SELECT table, name FROM system.columns WHERE database = '${DATABASE}' ORDER BY table, position`,
  ))
    columns[row.table] = [...(columns[row.table] ?? []), row.name];
  const before = await tableStates(client, tables);
  const definitions = await linkFiles(await definitionFiles(dataDir, tables), stage);
  const definitionsBefore = await contentHash(definitions);
  if (!(await linkParts(client, { tables, name }))) return null;
  if ((await contentHash(await definitionFiles(dataDir, tables))) !== definitionsBefore) return null;
  const parts: EnginePart[] = [];
  for (const table of tables)
    parts.push(...(await frozenParts(join(dataDir, 'engine', 'shadow', name), table)));
  const rows: Record<string, number> = Object.fromEntries(tables.map((table) => [table.name, 0]));
  for (const part of parts) rows[part.table] = (rows[part.table] ?? 0) + part.rows;
  // Also true where the engine linked nothing: a copy must not be smaller than the table was.
  for (const { table, rows: known } of before) {
    const isReplacing = TABLES[table as TableName]?.replacingBy != null;
    if (!isReplacing && (rows[table] ?? 0) < known) return null;
  }
  const seqs = before.filter((table) => table.rows > 0).map(({ seq }) => seq);
  const seqMax = seqs.length === 0 ? null : Math.max(...seqs);
  const links = await engineLinks(dataDir);
  const found = { parts, definitions, links, columns, rows, seqMax };
  return { ...found, recordingId: await recordingId(dataDir) };
}

/**
 * False if the engine died: links may exist, and the engine would refuse to make them again.
 * @throws {StoreRefusedError} When the engine refused to make a link.
 */
async function linkParts(
  client: Pick<StoreClient, 'commandOnce'>,
  { tables, name }: { tables: readonly EngineTable[]; name: string },
): Promise<boolean> {
  try {
    for (const table of tables)
      await client.commandOnce(`ALTER TABLE ${DATABASE}.${table.name} FREEZE WITH NAME '${name}'`);
    return true;
  } catch (error) {
    if (error instanceof StoreUnavailableError) return false;
    throw error;
  }
}

/** Rows and newest seq of each table. */
async function tableStates(
  client: Pick<StoreClient, 'rows'>,
  tables: readonly EngineTable[],
): Promise<{ table: string; seq: number; rows: number }[]> {
  if (tables.length === 0) return [];
  const queries = tables.map(
    ({ name }) => `SELECT '${name}' AS table, max(seq) AS seq, count() AS rows FROM ${DATABASE}.${name}`,
  );
  return await client.rows(queries.join(' UNION ALL '));
}

async function frozenParts(frozen: string, { name, uuid }: EngineTable): Promise<EnginePart[]> {
  const place = tablePath(uuid);
  const directory = join(frozen, place);
  const parts: EnginePart[] = [];
  for (const entry of (await nullIfAbsent(readdir(directory, { withFileTypes: true }))) ?? []) {
    if (!entry.isDirectory()) continue;
    const path = join(directory, entry.name);
    const files = await filesIn(path, `engine/${place}/${entry.name}`);
    // The engine's checksums cover every file of the part.
    const identity = createHash('sha256').update(`${uuid}/${entry.name}\n`);
    const checksums = join(path, CHECKSUMS);
    identity.update(await namedRead(checksums, readFile(checksums)));
    for (const file of files) identity.update(`${file.path} ${file.bytes}\n`);
    const count = join(path, COUNT);
    const rows = Number(await namedRead(count, readFile(count, 'utf8')));
    parts.push({ table: name, rows, identity: identity.digest('hex'), files });
  }
  return parts;
}

async function filesIn(directory: string, path: string): Promise<FileSource[]> {
  const files: FileSource[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    const { size } = await lstat(source);
    files.push({ path: `${path}/${relative(directory, source)}`, source, bytes: size });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function tablePath(uuid: string): string {
  return `store/${uuid.slice(0, 3)}/${uuid}`;
}

async function definitionFiles(dataDir: string, tables: readonly EngineTable[]): Promise<FileSource[]> {
  const engine = join(dataDir, 'engine');
  const wanted = [join(engine, 'metadata', `${DATABASE}.sql`)];
  for (const { uuid } of tables) wanted.push(join(engine, tablePath(uuid), 'format_version.txt'));
  const database = join(engine, 'metadata', DATABASE);
  for (const name of await namesIn(database))
    if (name.endsWith('.sql')) wanted.push(join(engine, 'metadata', await readlink(database), name));
  const files: FileSource[] = [];
  for (const source of wanted) {
    const { size } = await lstat(source);
    files.push({ path: `engine/${relative(engine, source)}`, source, bytes: size });
  }
  return files;
}

async function contentHash(files: readonly FileSource[]): Promise<string> {
  const sum = createHash('sha256');
  for (const { path, source } of files) sum.update(path).update(await namedRead(source, readFile(source)));
  return sum.digest('hex');
}

/** Id of the database of a data directory's engine; null without one. */
export async function recordingId(dataDir: string): Promise<string | null> {
  const target = await nullIfAbsent(readlink(join(dataDir, 'engine', 'metadata', DATABASE)));
  return /[0-9a-f-]{36}/.exec(target ?? '')?.[0] ?? null;
}
