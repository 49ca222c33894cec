/**
 * The statements that create the tables, in two forms: tables of one engine, and tables of a cluster, where each node
 * has a replicated table with the suffix `_local` and, under the plain name, a distributed table over all of them.
 * Queries and inserts name the plain table in both forms.
 */
import type { ClickHouseStorage } from '../../config.ts';
import { FoundObjects, type SchemaObject } from './foundObjects.ts';
import { STORE_MIGRATIONS, STORE_VERSION, versionComment } from './migrations.ts';
import { PROJECTIONS } from './rollups.ts';
import {
  type ColumnDefinition,
  DATABASE,
  TABLE_NAMES,
  TABLES,
  type Table,
  type TableName,
} from './schema.ts';

export interface TableForm {
  /** Name of the cluster; null: one engine. */
  readonly cluster: string | null;
  readonly storage: ClickHouseStorage;
}

/** The tables of the embedded engine. */
export const EMBEDDED_FORM: TableForm = {
  cluster: null,
  storage: { policy: null, coldAfterDays: null, deleteAfterDays: null },
};

/** Lists every `SchemaObject` of the node that answers. */
export const SCHEMA_QUERY = `SELECT table, name FROM system.columns WHERE database = '${DATABASE}'
  UNION ALL SELECT table, name FROM system.projections WHERE database = '${DATABASE}'
  UNION ALL SELECT name AS table, extract(engine_full, ' (TTL .*) SETTINGS ') AS name FROM system.tables
    WHERE database = '${DATABASE}' AND engine_full LIKE '% TTL %'
  UNION ALL SELECT '' AS table, d.comment AS name FROM system.databases AS d WHERE d.name = '${DATABASE}'`;

export function databaseStatement(form: TableForm): string {
  return `CREATE DATABASE IF NOT EXISTS ${DATABASE}${onCluster(form)} COMMENT '${versionComment(STORE_VERSION)}'`;
}

/** Records the store's version where a reader finds it without a table. */
export function versionStatement(form: TableForm, version: number): string {
  return `ALTER DATABASE ${DATABASE}${onCluster(form)} MODIFY COMMENT '${versionComment(version)}'`;
}

/** Waits until each active replica of a table's shards has every row. */
export function syncStatement(table: string, cluster: string): string {
  const form = { ...EMBEDDED_FORM, cluster };
  return `SYSTEM SYNC REPLICA${onCluster(form)} ${DATABASE}.${storedName(table, form)} LIGHTWEIGHT`;
}

/**
 * Removes a day of a table of the embedded engine: whole parts, without a rewrite.
 * @param day As `yyyy-mm-dd`.
 */
export function dropDayStatement(table: TableName, day: string): string {
  return `ALTER TABLE ${DATABASE}.${table} DROP PARTITION '${day}'`;
}

/**
 * Statements that create the missing parts of the schema; safe to repeat. Statements of one stage may run concurrently,
 * each stage after the previous one. Existing parts are not touched: even an `ALTER` without effect rewrites its
 * table's definition, which on a full disk leaves an empty file. Each migration is a stage of its own, so that a store
 * whose start was killed is at the number of one migration and not between two.
 */
export function schemaStages(form: TableForm, objects: readonly SchemaObject[] = []): string[][] {
  const found = new FoundObjects(objects);
  const stages = [
    TABLE_NAMES.filter((name) => !found.hasTable(storedName(name, form))).map((name) =>
      createStatement(TABLES[name], form),
    ),
    ...STORE_MIGRATIONS.flatMap(({ number }) => migrationStages(number, form, found)),
    ...(form.cluster === null ? [] : [distributedStatements(form.cluster, form, found)]),
    TABLE_NAMES.flatMap((name) => ageStatements(TABLES[name], form, found)),
  ];
  return stages.filter((stage) => stage.length > 0);
}

/** The statements of one migration that a store lacks; in one engine it is at most one statement. */
export function migrationStages(number: number, form: TableForm, found: FoundObjects): string[][] {
  const add = (nameOf: (name: TableName) => string) =>
    TABLE_NAMES.flatMap((name) => addStatement(TABLES[name], nameOf(name), form, { number, found }));
  const projections = PROJECTIONS.filter(
    ({ table, name, added }) => added === number && !found.has(storedName(table, form), name),
  ).map(
    ({ table, name, select }) =>
      `ALTER TABLE ${DATABASE}.${storedName(table, form)}${onCluster(form)} ADD PROJECTION IF NOT EXISTS ${name} (${select})`,
  );
  // The stored tables first: a distributed column without a stored one would refuse every read.
  const stages = [add((name) => storedName(name, form)), projections];
  return form.cluster === null ? stages : [...stages, add((name) => name)];
}

/** Name of the table that has the rows of one node. */
export function storedName(table: string, { cluster }: TableForm): string {
  return cluster === null ? table : `${table}_local`;
}

function onCluster({ cluster }: TableForm): string {
  return cluster === null ? '' : ` ON CLUSTER '${cluster}'`;
}

function createStatement(table: Table, form: TableForm): string {
  const columns = table.columns.map(columnDefinition);
  return [
    `CREATE TABLE IF NOT EXISTS ${DATABASE}.${storedName(table.name, form)}${onCluster(form)} (${columns.join(', ')})`,
    engineClauses(table, form),
  ].join('\n');
}

/** The distributed tables that are missing. */
function distributedStatements(cluster: string, form: TableForm, found: FoundObjects): string[] {
  return TABLE_NAMES.filter((name) => !found.hasTable(name)).map((name) => {
    const { columns, orderBy } = TABLES[name];
    // A codec belongs to the stored table.
    const plain = columns.map(({ codec: _, ...column }) => columnDefinition(column));
    return [
      `CREATE TABLE IF NOT EXISTS ${DATABASE}.${name}${onCluster(form)} (${plain.join(', ')})`,
      // All rows of a market, or of a ticker's prices, are on one shard: a replaced row meets its newer one there.
      `ENGINE = Distributed('${cluster}', '${DATABASE}', '${storedName(name, form)}', cityHash64(${orderBy[0]}))`,
    ].join('\n');
  });
}

/** Adds the missing columns of a migration to a table of an earlier release. */
function addStatement(
  table: Table,
  name: string,
  form: TableForm,
  { number, found }: { number: number; found: FoundObjects },
): string[] {
  if (!found.hasTable(name)) return [];
  const added = table.columns.filter((column) => column.added === number && !found.has(name, column.name));
  if (added.length === 0) return [];
  const isStored = name === storedName(table.name, form);
  const clauses = added.map(({ codec, ...column }) => {
    const definition = columnDefinition(isStored && codec ? { ...column, codec } : column);
    return `ADD COLUMN IF NOT EXISTS ${definition}`;
  });
  return [`ALTER TABLE ${DATABASE}.${name}${onCluster(form)} ${clauses.join(', ')}`];
}

/** Whole days are deleted; their rows are not rewritten one merge after the other. */
const WHOLE_PARTS = 'ttl_only_drop_parts = 1';
/** A rule of age that this module wrote; any other one is the operator's own. */
const OWN_AGE_RULE =
  /^TTL toDateTime\(ts\) \+ toIntervalDay\(\d+\)(?: TO VOLUME 'cold'(?:, toDateTime\(ts\) \+ toIntervalDay\(\d+\))?)?$/;

/** Changes the rule of age of an existing table to the configured one. */
function ageStatements(table: Table, form: TableForm, found: FoundObjects): string[] {
  const name = storedName(table.name, form);
  if (!found.hasTable(name)) return [];
  const rule = found.ageRule(name);
  const wanted = ageRule(table, form);
  if (rule === wanted || (wanted === null && rule !== null && !OWN_AGE_RULE.test(rule))) return [];
  const changes = wanted === null ? ['REMOVE TTL'] : [`MODIFY SETTING ${WHOLE_PARTS}`, `MODIFY ${wanted}`];
  return changes.map((change) => `ALTER TABLE ${DATABASE}.${name}${onCluster(form)} ${change}`);
}

/** In the engine's own spelling, so that it can be compared. Null without one; markets and gaps never have one. */
function ageRule(table: Table, { storage }: TableForm): string | null {
  const { coldAfterDays, deleteAfterDays } = storage;
  if (table.replacingBy !== null) return null;
  const after = (days: number) => `toDateTime(ts) + toIntervalDay(${days})`;
  const rules = [
    coldAfterDays === null ? [] : `${after(coldAfterDays)} TO VOLUME 'cold'`,
    deleteAfterDays === null ? [] : after(deleteAfterDays),
  ].flat();
  return rules.length === 0 ? null : `TTL ${rules.join(', ')}`;
}

/** The text of the embedded engine's metadata file of a table: the result of `CREATE TABLE`, with the table's id. */
export function tableMetadata(table: Table, uuid: string): string {
  const projections = PROJECTIONS.filter((projection) => projection.table === table.name);
  const members = [
    ...table.columns.map(columnDefinition),
    ...projections.map(({ name, select }) => `PROJECTION ${name} (${select})`),
  ];
  return `ATTACH TABLE _ UUID '${uuid}'\n(\n    ${members.join(',\n    ')}\n)\n${engineClauses(table, EMBEDDED_FORM)}\n`;
}

function columnDefinition({ name, type, codec, defaultExpression }: ColumnDefinition): string {
  return `${name} ${type}${defaultExpression ? ` DEFAULT ${defaultExpression}` : ''}${codec ? ` CODEC(${codec})` : ''}`;
}

/** Number of recent inserts whose tokens the engine remembers, so that they may be retried after a crash. */
const DEDUPLICATION_WINDOW = 1_000;
/** A shard of a cluster remembers the tokens of several writers. */
const REPLICATED_WINDOW = 10_000;

function engineClauses(table: Table, form: TableForm): string {
  const age = ageRule(table, form);
  return [
    `ENGINE = ${engine(table, form)}`,
    ...(table.replacingBy ? [] : ['PARTITION BY toDate(ts)']),
    `ORDER BY (${table.orderBy.join(', ')})`,
    ...(age === null ? [] : [age]),
    `SETTINGS ${tableSettings(form, age !== null).join(', ')}`,
  ].join('\n');
}

function engine({ name, replacingBy }: Table, { cluster }: TableForm): string {
  const family = replacingBy === null ? 'MergeTree' : 'ReplacingMergeTree';
  // The server replaces the names in braces by its own shard and replica.
  const replication =
    cluster === null ? [] : [`'/clickhouse/tables/{shard}/${DATABASE}/${name}'`, "'{replica}'"];
  const options = [...replication, ...(replacingBy === null ? [] : [replacingBy])];
  const prefix = cluster === null ? '' : 'Replicated';
  return `${prefix}${family}${options.length === 0 ? '' : `(${options.join(', ')})`}`;
}

function tableSettings({ cluster, storage }: TableForm, hasAge: boolean): string[] {
  return [
    // Small granules, because most reads need a few rows of one market.
    'index_granularity = 1024',
    cluster === null
      ? `non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW}`
      : `replicated_deduplication_window = ${REPLICATED_WINDOW}`,
    // Off by default; an acknowledged batch must survive a power cut.
    'fsync_after_insert = 1',
    'fsync_part_directory = 1',
    ...(storage.policy === null ? [] : [`storage_policy = '${storage.policy}'`]),
    ...(hasAge ? [WHOLE_PARTS] : []),
  ];
}
