/** Proves that a backup can be restored: restores it, starts the store on it, and compares the rows. */
import { link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../control/databaseSqlite.ts';
import { storedSecretKey } from '../control/secretBox.ts';
import { SQLITE_FILE_NAME, SqliteFile } from '../control/sqliteFile.ts';
import { MIGRATIONS } from '../controlDatabase.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { namesIn } from '../runtime/namesIn.ts';
import { openTables } from '../store/connection.ts';
import type { StoreClient } from '../store/engine/client.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { missingRows } from '../store/journal/missingRows.ts';
import { finishRecovery } from '../store/journal/recovery.ts';
import { isClaim, RunClaim } from '../store/journal/runClaim.ts';
import { SegmentFile } from '../store/journal/segmentFile.ts';
import { DATABASE, TABLES, type TableName } from '../store/tables/schema.ts';
import { EMBEDDED_FORM } from '../store/tables/statements.ts';
import type { BackupStorage } from './backupStorage.ts';
import type { Manifest } from './manifest.ts';
import { restoreBackup } from './restoreBackup.ts';

const DRILL_PREFIX = 'underround-drill-';

interface DrillResult {
  readonly manifest: Manifest;
  /** Rows of each table after the journal was inserted. */
  readonly rows: Readonly<Record<string, number>>;
  /** One line for each difference from the manifest; empty: the backup can be restored. */
  readonly problems: readonly string[];
}

interface DrillOptions {
  readonly storage: BackupStorage;
  readonly id: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hostEntry?: string;
  readonly onProgress?: (progress: { bytes: number; totalBytes: number }) => void;
}

/**
 * Restores a backup into a temporary directory, and removes it.
 * @throws {BackupDamagedError} If a byte of the backup differs.
 */
export async function drillBackup(options: DrillOptions): Promise<DrillResult> {
  await removeDeadDrills();
  const parent = await mkdtemp(join(tmpdir(), DRILL_PREFIX));
  try {
    await RunClaim.orFail(parent);
    const dataDir = join(parent, 'data');
    const manifest = await restoreBackup({ ...options, dataDir, databaseUrl: null });
    const problems = await controlProblems(dataDir, manifest);
    const checked = manifest.engine === 'embedded' ? await checkRows(dataDir, manifest, options) : null;
    return { manifest, rows: checked?.rows ?? {}, problems: [...problems, ...(checked?.problems ?? [])] };
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

/** A drill that was killed leaves a copy of every recorded row and of the secret key. */
async function removeDeadDrills(): Promise<void> {
  for (const name of (await readdir(tmpdir())).filter((entry) => entry.startsWith(DRILL_PREFIX))) {
    const path = join(tmpdir(), name);
    // One that has no claim yet has just begun; one of another user cannot be claimed.
    const names = await namesIn(path).catch(() => []);
    if (!names.some(isClaim)) continue;
    if ((await RunClaim.of(path).catch(() => null)) !== null)
      await rm(path, { recursive: true, force: true });
  }
}

async function controlProblems(dataDir: string, manifest: Manifest): Promise<string[]> {
  const problems: string[] = [];
  if (manifest.secret_key === 'file' && storedSecretKey(dataDir) === null)
    problems.push('the secret key is missing');
  if (manifest.control === 'none') return problems;
  const path = join(dataDir, SQLITE_FILE_NAME);
  const file = new SqliteFile(path);
  const answers = file.rows<{ integrity_check: string }>('PRAGMA integrity_check');
  file.close();
  for (const { integrity_check: answer } of answers)
    if (answer !== 'ok') problems.push(`control database: ${answer}`);
  // As a start does: an older database is migrated.
  await (await openSqlite(path, MIGRATIONS)).destroy();
  return problems;
}

async function checkRows(
  dataDir: string,
  manifest: Manifest,
  { clock, log, hostEntry }: DrillOptions,
): Promise<{ rows: Record<string, number>; problems: string[] }> {
  const metrics = new Metrics();
  const segments = await keepSegments(dataDir);
  const entry = hostEntry === undefined ? {} : { hostEntry };
  const access = await reachEngine({ dataDir, clickhouseUrl: null, clock, log, metrics, ...entry });
  try {
    const settings = {
      clickhouseUrl: null,
      clickhouseCluster: null,
      clickhouseStorage: EMBEDDED_FORM.storage,
    };
    const client = await openTables({ access, clock, log }, settings);
    try {
      const problems = await partProblems(client, manifest);
      await finishRecovery({ dataDir, client, clock, log, metrics });
      problems.push(...(await journalProblems(client, segments)));
      const rows = await countRows(client, Object.keys(manifest.engine_rows));
      const newest = await newestSeq(client, Object.keys(rows));
      if (newest !== manifest.mark.seq)
        problems.push(`the newest seq is ${newest}, not ${manifest.mark.seq}`);
      return { rows, problems };
    } finally {
      await client.close();
    }
  } finally {
    await access.close();
  }
}

/** Links to the journal's segments: the recovery removes those that it has inserted. */
async function keepSegments(dataDir: string): Promise<string[]> {
  const [journal, kept] = [join(dataDir, 'journal'), join(dataDir, '..', 'segments')];
  await mkdir(kept, { recursive: true });
  const segments: string[] = [];
  for (const run of (await namesIn(journal)).filter((name) => name.includes('.'))) {
    for (const name of (await readdir(join(journal, run))).filter((file) => file.endsWith('.seg'))) {
      const path = join(kept, `${run}-${name}`);
      await link(join(journal, run, name), path);
      segments.push(path);
    }
  }
  return segments;
}

async function countRows(client: StoreClient, tables: readonly string[]): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of tables) {
    const [found] = await client.rows<{ n: number }>(`SELECT count() AS n FROM ${DATABASE}.${table}`);
    rows[table] = Number(found?.n ?? 0);
  }
  return rows;
}

async function newestSeq(client: StoreClient, tables: readonly string[]): Promise<number | null> {
  const seqs: number[] = [];
  for (const table of tables) {
    const [found] = await client.rows<{ seq: number; n: number }>(
      `SELECT max(seq) AS seq, count() AS n FROM ${DATABASE}.${table}`,
    );
    if (found !== undefined && Number(found.n) > 0) seqs.push(Number(found.seq));
  }
  return seqs.length === 0 ? null : Math.max(...seqs);
}

/** Merges may already have removed replaced rows of the tables that keep the newest row of each key. */
async function partProblems(client: StoreClient, manifest: Manifest): Promise<string[]> {
  const found = await countRows(client, Object.keys(manifest.engine_rows));
  return Object.entries(manifest.engine_rows).flatMap(([table, wanted]) => {
    const rows = found[table] ?? 0;
    const isReplacing = TABLES[table as TableName]?.replacingBy != null;
    const isRight = isReplacing ? rows <= wanted && rows > 0 === wanted > 0 : rows === wanted;
    return isRight ? [] : [`${table} has ${rows} rows in the engine instead of ${wanted}`];
  });
}

async function journalProblems(client: StoreClient, segments: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const path of segments) {
    const { tables } = await new SegmentFile(path).load();
    for (const [table, rows] of tables) {
      const missing = await missingRows(client, table, rows);
      if (missing.rows > 0) problems.push(`${missing.rows} rows of the journal are missing in ${table}`);
    }
  }
  return problems;
}
