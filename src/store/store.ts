import type { EngineAccess } from './access.ts';
import { StoreClient } from './client.ts';
import { type EngineOptions, reachEngine } from './engineAccess.ts';
import type { StoreReader } from './reader.ts';
import { DATABASE, schemaStages } from './schema.ts';
import { StoreWriter } from './writer.ts';

export type { StoreReader } from './reader.ts';

export interface Store extends StoreReader {
  readonly writer: StoreWriter;
  /** Process id of the embedded engine's host, where this process started it and it lives. */
  enginePid(): number | null;
  /** Brings what was written into the engine, lets go of it, and ends it where it is ours. */
  close(): Promise<void>;
}

export interface StoreOptions extends EngineOptions {
  /** The engine where it is being reached already; else it is reached now. */
  engine?: Promise<EngineAccess>;
  /** Names this writer's journal, so that the previous run of `serve` is not confused with one of `import`. */
  writerName?: string;
}

/**
 * Opens the time-series store: engine, tables, and the writer with what a crash left in its journal.
 * @throws {StoreUnavailableError} When no engine answers.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const access = await (options.engine ?? reachEngine(options));
  try {
    const parts = { access, clock: options.clock, log: options.log };
    const plain = new StoreClient({ ...parts, database: 'default' });
    await plain.command(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`);
    await plain.close();
    const client = new StoreClient(parts);
    // At once where they can: a restart waits for this.
    for (const stage of schemaStages({ kind: 'single' })) {
      await Promise.all(stage.map((statement) => client.command(statement)));
    }
    const writer = await StoreWriter.open({ ...options, client });
    let closing: Promise<void> | null = null;
    const close = async () => {
      await writer.close();
      await client.close();
      await access.close();
    };
    return {
      writer,
      enginePid: () => access.hostPid,
      rows: (query, params, readOptions) => client.rows(query, params, readOptions),
      stream: (query, params, readOptions) => client.stream(query, params, readOptions),
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await access.close();
    throw error;
  }
}
