import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openTables, type ServerSettings } from './connection.ts';
import type { EngineAccess } from './engine/access.ts';
import type { StoreClient } from './engine/client.ts';
import { DiskGuard, readDiskSpace, reserveBytes } from './engine/diskGuard.ts';
import { type EngineOptions, reachEngine } from './engine/engineAccess.ts';
import { PartWatch } from './engine/partWatch.ts';
import { JournalReserve, journalReserveBytes } from './journal/journalReserve.ts';
import { type JournalScan, releaseRuns, scanJournals } from './journal/journalScan.ts';
import type { WaitingRowIndex } from './journal/waitingRowIndex.ts';
import { StoreWriter } from './journal/writer.ts';
import type { WriterOptions } from './journal/writerOptions.ts';
import type { StoreReader } from './reader.ts';
import { removeThinningDraft, thinBooks } from './retention/thinBooks.ts';
import type { TableName } from './tables/schema.ts';
import { dropDayStatement, EMBEDDED_FORM } from './tables/statements.ts';

export interface Store extends StoreReader {
  readonly writer: StoreWriter;
  /** Rows of dead runs that a start needs and recovery has not inserted yet. */
  readonly waiting: WaitingRowIndex;
  readonly guard: DiskGuard;
  readonly parts: PartWatch;
  /** Removes all rows of a table with a `ts` on this UTC day, e.g. `2026-11-23`. */
  removeDay(table: TableName, day: string): Promise<void>;
  /**
   * Keeps the last book of each market and second of this UTC day; false where the day has another number of rows by now.
   */
  thinBooks(day: string, options: { readonly rows: number; readonly signal?: AbortSignal }): Promise<boolean>;
  /** Frees the space of a thinning that failed or was killed. None may be under way. */
  removeThinningDraft(): Promise<void>;
  /** Process id of the embedded engine's host, if this process started it and it is alive. */
  enginePid(): number | null;
  /** Inserts all written rows, disconnects from the engine, and stops it if this process started it. */
  close(): Promise<void>;
}

export interface StoreOptions
  extends EngineOptions,
    Partial<Omit<ServerSettings, 'clickhouseUrl'>>,
    Pick<WriterOptions, 'writerName' | 'recovery' | 'onRecovery' | 'mayInsert'> {
  /** The engine, if a connection was already started; else this call starts one. */
  engine?: Promise<EngineAccess>;
}

/** The engine's default refuses to drop more than 50 GB. */
const DROP_ANY_SIZE = { max_partition_size_to_drop: 0 };

/** Where the caller has no settings of a server's tables. */
const PLAIN_TABLES = { clickhouseCluster: null, clickhouseStorage: EMBEDDED_FORM.storage };

/**
 * Opens the time-series store: engine, tables, and the writer with the journals of crashed runs.
 * @throws {StoreUnavailableError} When no engine answers.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  // Both take some time and are independent.
  const scan = scanJournals(options);
  scan.catch(() => undefined);
  const access = await reach(options, scan);
  try {
    const parts = { access, clock: options.clock, log: options.log };
    const client = await openTables(parts, { ...PLAIN_TABLES, ...options });
    const journalReserve = await openReserve(options);
    const guard = await openGuard(options, { client, journalReserve });
    const watch = new PartWatch({ ...options, access });
    const letGo = async () => {
      watch.stop();
      await guard.stop();
      await journalReserve?.close();
      await client.close();
    };
    const opening = StoreWriter.open({
      ...options,
      client,
      scan,
      readableUpTo: () => watch.readableUpToMs(),
      mayInsert: () => guard.mayInsert() && (options.mayInsert?.() ?? true),
      makeRoom: async (bytes) => {
        void guard.poll();
        return (await journalReserve?.free(bytes)) ?? false;
      },
    });
    const writer = await opening.catch(async (error: unknown) => {
      await letGo();
      throw error;
    });
    let closing: Promise<void> | null = null;
    const close = async () => {
      watch.stop();
      await writer.close();
      await letGo();
      await access.close();
    };
    return {
      writer,
      waiting: writer.waiting,
      guard,
      parts: watch,
      enginePid: () => access.hostPid,
      removeDay: (table, day) => client.command(dropDayStatement(table, day), DROP_ANY_SIZE),
      thinBooks: (day, options) => thinBooks(client, day, options),
      removeThinningDraft: () => removeThinningDraft(client),
      rows: (query, params, readOptions) => client.rows(query, params, readOptions),
      stream: (query, params, readOptions) => client.stream(query, params, readOptions),
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await releaseRuns(scan);
    await access.close();
    throw error;
  }
}

async function reach(options: StoreOptions, scan: Promise<JournalScan>): Promise<EngineAccess> {
  try {
    return await (options.engine ?? reachEngine(options));
  } catch (error) {
    await releaseRuns(scan);
    throw error;
  }
}

/** Opens the journal's disk reserve. Only one writer per data directory has it: the recorder. */
async function openReserve(options: StoreOptions): Promise<JournalReserve | null> {
  const { dataDir, diskReserve = null, writerName = 'main', log } = options;
  if (writerName !== 'main') return null;
  const journalDir = join(dataDir, 'journal');
  await mkdir(journalDir, { recursive: true, mode: 0o700 });
  const { totalBytes } = await readDiskSpace(dataDir);
  const targetBytes = journalReserveBytes(reserveBytes(diskReserve, totalBytes));
  return await JournalReserve.open(journalDir, { targetBytes, log });
}

function openGuard(
  options: StoreOptions,
  { client, journalReserve }: { client: StoreClient; journalReserve: JournalReserve | null },
): Promise<DiskGuard> {
  const { dataDir, diskReserve = null, clickhouseUrl, clock, log, metrics } = options;
  // A server's disk is managed by its operator; this process's disk still has the journal.
  const setMerges =
    clickhouseUrl === null
      ? (running: boolean) => client.command(`SYSTEM ${running ? 'START' : 'STOP'} MERGES`)
      : null;
  const readSpace = () => readDiskSpace(dataDir);
  return DiskGuard.open({ readSpace, reserve: diskReserve, journalReserve, setMerges, clock, log, metrics });
}
