/**
 * Rewrites the engine's metadata files of the database and its tables where a full disk or a crash left them empty, cut
 * off or missing: with one such file the engine does not start. Their text follows from the schema; a table's id is the
 * name of the directory that holds its rows. Runs before the engine opens the directory.
 */
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, readlink, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { orAtLimit } from '../../../runtime/atLimit.ts';
import { replaceFile } from '../../../runtime/durableFile.ts';
import type { Logger } from '../../../runtime/log.ts';
import { DATABASE, TABLE_NAMES, TABLES, type Table } from '../../tables/schema.ts';
import { tableMetadata } from '../../tables/statements.ts';

const WHOLE_TABLE = /^ATTACH TABLE _ UUID '([0-9a-f-]{36})'\s[\s\S]*\nENGINE = [\s\S]*\nSETTINGS .*\n$/;
const WHOLE_DATABASE =
  /^ATTACH DATABASE \w+ UUID '([0-9a-f-]{36})'\s+ENGINE = Atomic\s*(?:COMMENT '[^'\n]*'\s*)?$/;
/** The engine writes this file once for each table and reads it at every start. */
const FORMAT_VERSION = { name: 'format_version.txt', text: '1' };

export async function repairMetadata(engineDir: string, log: Logger): Promise<void> {
  const databaseUuid = await linkedUuid(join(engineDir, 'metadata', DATABASE));
  // This directory never held our database; the engine will create it.
  if (databaseUuid === null) return;
  const databaseFile = join(engineDir, 'metadata', `${DATABASE}.sql`);
  if (!WHOLE_DATABASE.test(await textOf(databaseFile))) {
    const text = `ATTACH DATABASE _ UUID '${databaseUuid}'\nENGINE = Atomic\n`;
    await replaceFile(databaseFile, text);
    log.error({ file: databaseFile }, 'store.host.metadata_rewritten');
  }
  const owners = new Map<string, string>();
  for (const name of TABLE_NAMES) {
    const uuid = WHOLE_TABLE.exec(await textOf(tableFile(engineDir, databaseUuid, name)))?.[1];
    if (uuid !== undefined) owners.set(name, uuid);
  }
  for (const name of TABLE_NAMES) {
    if (!owners.has(name)) await repairTable(engineDir, { databaseUuid, name, owners, log });
    const uuid = owners.get(name);
    if (uuid !== undefined) await repairFormatVersion(storeDir(engineDir, uuid), log);
  }
}

async function repairTable(
  engineDir: string,
  {
    databaseUuid,
    name,
    owners,
    log,
  }: {
    databaseUuid: string;
    name: (typeof TABLE_NAMES)[number];
    /** Table ids by name; the repaired table is added. */
    owners: Map<string, string>;
    log: Logger;
  },
): Promise<void> {
  const file = tableFile(engineDir, databaseUuid, name);
  const linked = await linkedUuid(join(engineDir, 'data', DATABASE, name));
  const hasRows = linked !== null && existsSync(storeDir(engineDir, linked));
  const uuid = hasRows ? linked : await uuidByColumns(engineDir, TABLES[name], new Set(owners.values()));
  if (uuid !== null) {
    await replaceFile(file, tableMetadata(TABLES[name], uuid));
    owners.set(name, uuid);
    log.error({ table: name, uuid, file }, 'store.host.metadata_rewritten');
  } else if (existsSync(file)) {
    await unlink(file);
    log.error({ table: name, file }, 'store.host.metadata_removed');
  }
}

/** Finds the directory that holds parts with exactly this table's columns, where its link is lost too. */
async function uuidByColumns(
  engineDir: string,
  table: Table,
  taken: ReadonlySet<string>,
): Promise<string | null> {
  const wanted = table.columns.map(({ name }) => name).sort();
  for (const prefix of await namesIn(join(engineDir, 'store'))) {
    for (const uuid of await namesIn(join(engineDir, 'store', prefix))) {
      if (taken.has(uuid)) continue;
      for (const part of await namesIn(storeDir(engineDir, uuid))) {
        const columns = await textOf(join(storeDir(engineDir, uuid), part, 'columns.txt'));
        const names = [...columns.matchAll(/^`([^`]+)` /gm)].map(([, name]) => name);
        if (names.length > 0 && names.sort().join() === wanted.join()) return uuid;
      }
    }
  }
  return null;
}

async function repairFormatVersion(directory: string, log: Logger): Promise<void> {
  const file = join(directory, FORMAT_VERSION.name);
  if (!existsSync(directory) || (await textOf(file)).trim() === FORMAT_VERSION.text) return;
  await replaceFile(file, FORMAT_VERSION.text);
  log.error({ file }, 'store.host.metadata_rewritten');
}

function storeDir(engineDir: string, uuid: string): string {
  return join(engineDir, 'store', uuid.slice(0, 3), uuid);
}

function tableFile(engineDir: string, databaseUuid: string, name: string): string {
  return join(storeDir(engineDir, databaseUuid), `${name}.sql`);
}

/** The id in the target of one of the engine's symbolic links; null without a link. */
async function linkedUuid(path: string): Promise<string | null> {
  const isLink = await lstat(path).then(
    (stat) => stat.isSymbolicLink(),
    () => false,
  );
  return isLink ? basename(await readlink(path)) : null;
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(orAtLimit(''));
}

function namesIn(path: string): Promise<string[]> {
  return readdir(path).catch(orAtLimit<string[]>([]));
}
