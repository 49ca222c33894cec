/** A connection to the tables, without a writer: for processes that read, and for `PartitionWriter`. */
import type { Config } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import { StoreRefusedError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { printNotice } from '../runtime/printNotice.ts';
import type { EngineAccess } from './engine/access.ts';
import { StoreClient, type StoreRetry } from './engine/client.ts';
import { serverAccess, serverWaitLine } from './engine/serverAccess.ts';
import type { StoreReader } from './reader.ts';
import { FoundObjects, type SchemaObject } from './tables/foundObjects.ts';
import { STORE_VERSION } from './tables/migrations.ts';
import {
  databaseStatement,
  EMBEDDED_FORM,
  SCHEMA_QUERY,
  schemaStages,
  storedName,
  type TableForm,
  versionStatement,
} from './tables/statements.ts';

/** The settings of a ClickHouse server; the embedded engine has none of them. */
export type ServerSettings = Pick<Config, 'clickhouseUrl' | 'clickhouseCluster' | 'clickhouseStorage'>;

export interface StoreConnection extends StoreReader {
  /** For inserts. */
  readonly client: StoreClient;
  close(): Promise<void>;
}

/**
 * Opens the store of a ClickHouse server or of a shared embedded engine. It keeps no journal, locks no data directory
 * and needs none. Any number of processes may do so.
 * @param options.expectTables The tables must exist; by default the missing ones are created.
 * @throws {StoreUnavailableError} When no server answers.
 */
export async function openServerStore(
  options: Omit<ServerSettings, 'clickhouseUrl'> & {
    readonly clickhouseUrl: string;
    readonly clock: Clock;
    readonly log: Logger;
    readonly expectTables?: boolean;
  },
): Promise<StoreConnection> {
  const { clickhouseUrl, clock, log, expectTables = false } = options;
  const access = serverAccess(clickhouseUrl, clock);
  const client = expectTables
    ? new StoreClient({ access, clock, log, cluster: options.clickhouseCluster })
    : await openTables({ access, clock, log }, options);
  return connectionOf(client, access);
}

/** A client with its access to the engine, as one connection. */
export function connectionOf(client: StoreClient, access: EngineAccess): StoreConnection {
  return {
    client,
    rows: (query, params, readOptions) => client.rows(query, params, readOptions),
    stream: (query, params, readOptions) => client.stream(query, params, readOptions),
    close: async () => {
      await client.close();
      await access.close();
    },
  };
}

/** What a store has, before `openTables` changes anything. */
export async function readSchema(
  parts: { access: EngineAccess; clock: Clock; log: Logger },
  onRetry: (retry: StoreRetry) => void = () => undefined,
): Promise<readonly SchemaObject[]> {
  const plain = new StoreClient({ ...parts, database: 'default', onRetry });
  try {
    return await plain.rows<SchemaObject>(SCHEMA_QUERY);
  } finally {
    await plain.close();
  }
}

export function tableForm({
  clickhouseUrl,
  clickhouseCluster,
  clickhouseStorage,
}: ServerSettings): TableForm {
  return clickhouseUrl === null ? EMBEDDED_FORM : { cluster: clickhouseCluster, storage: clickhouseStorage };
}

/**
 * A client of a database that has every table and column. The version is recorded after the last migration: a start that
 * was killed leaves the earlier number, and the next one continues.
 * @throws {NewerDataError} If a newer release wrote the store.
 */
export async function openTables(
  parts: { access: EngineAccess; clock: Clock; log: Logger },
  settings: ServerSettings,
): Promise<StoreClient> {
  const { clickhouseUrl } = settings;
  const form = tableForm(settings);
  // A server may be starting too, as in a compose file.
  const objects = await readSchema(parts, (retry) => {
    if (clickhouseUrl !== null) printNotice(serverWaitLine(clickhouseUrl, retry));
  });
  const found = new FoundObjects(objects);
  found.requireKnown(clickhouseUrl === null ? 'the data directory' : 'the store of CLICKHOUSE_URL');
  const client = new StoreClient({ ...parts, cluster: form.cluster });
  try {
    if (objects.length === 0) await createDatabase(parts, form);
    const from = found.completeVersion((table) => storedName(table, form));
    const isOld = from !== null && found.recordedVersion !== STORE_VERSION;
    if (isOld && found.recordedVersion === null) await recordVersion(client, form, from, parts.log);
    // Statements of one stage run concurrently: a restart waits for this.
    for (const stage of schemaStages(form, objects))
      await Promise.all(stage.map((statement) => client.command(statement)));
    if (isOld) await recordVersion(client, form, STORE_VERSION, parts.log);
    if (isOld && from !== STORE_VERSION) parts.log.info({ from, to: STORE_VERSION }, 'store.migrated');
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function createDatabase(
  parts: { access: EngineAccess; clock: Clock; log: Logger },
  form: TableForm,
): Promise<void> {
  const plain = new StoreClient({ ...parts, database: 'default' });
  await plain.command(databaseStatement(form));
  await plain.close();
}

async function recordVersion(
  client: StoreClient,
  form: TableForm,
  version: number,
  log: Logger,
): Promise<void> {
  try {
    await client.command(versionStatement(form, version));
  } catch (error) {
    // A server's user may lack the right, or the server the statement: its version then follows from its columns.
    if (!(error instanceof StoreRefusedError)) throw error;
    log.warn({ err: error, version }, 'store.version_not_recorded');
  }
}
