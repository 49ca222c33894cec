/** A connection to the tables, without a writer: for processes that read, and for `PartitionWriter`. */
import type { Config } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { printNotice } from '../runtime/printNotice.ts';
import type { EngineAccess } from './engine/access.ts';
import { StoreClient, type StoreRetry } from './engine/client.ts';
import { serverAccess, serverWaitLine } from './engine/serverAccess.ts';
import type { StoreReader } from './reader.ts';
import {
  databaseStatement,
  EMBEDDED_FORM,
  SCHEMA_QUERY,
  type SchemaObject,
  schemaStages,
  type TableForm,
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
export async function openConnection(
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

/** A client of a database that has every table and column. */
export async function openTables(
  parts: { access: EngineAccess; clock: Clock; log: Logger },
  settings: ServerSettings,
): Promise<StoreClient> {
  const { clickhouseUrl, clickhouseCluster: cluster } = settings;
  const form: TableForm =
    clickhouseUrl === null ? EMBEDDED_FORM : { cluster, storage: settings.clickhouseStorage };
  // A server may be starting too, as in a compose file.
  const onRetry = (retry: StoreRetry) => {
    if (clickhouseUrl !== null) printNotice(serverWaitLine(clickhouseUrl, retry));
  };
  const plain = new StoreClient({ ...parts, database: 'default', onRetry });
  const found = await plain.rows<SchemaObject>(SCHEMA_QUERY);
  if (found.length === 0) await plain.command(databaseStatement(form));
  await plain.close();
  const client = new StoreClient({ ...parts, cluster: form.cluster });
  // Statements of one stage run concurrently: a restart waits for this.
  for (const stage of schemaStages(form, found)) {
    await Promise.all(stage.map((statement) => client.command(statement)));
  }
  return client;
}
