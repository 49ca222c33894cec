/** The only store driver: `@clickhouse/client` over whichever connection reaches the engine. */
import type { Socket } from 'node:net';
import { addAbortSignal, Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Clock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/clock.ts';
import { StoreRefusedError, StoreUnavailableError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import { inSpan } from '../../runtime/tracing/tracer.ts';
import type { StoreReader } from '../reader.ts';
import { DATABASE } from '../tables/schema.ts';
import { syncStatement } from '../tables/statements.ts';
import { type EngineAccess, STREAM_CONNECTIONS_MAX, STREAMED_ANSWER_HEADER } from './access.ts';

type Settings = Readonly<Record<string, string | number>>;

/** Engine errors that say "not now" rather than "not this". */
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  // Timeout, too many queries, socket timeout, network, memory, disk, too many parts, cancelled.
  ...['159', '202', '209', '210', '241', '243', '252', '394'],
  // Of a cluster: no connection, no Keeper, read-only without Keeper, replica not active, no connection to any
  // replica, too few replicas, quorum not reached (three), outcome unknown, all replicas lost, Keeper's own error.
  ...['203', '225', '242', '254', '279', '285', '286', '289', '319', '415', '999'],
]);

/**
 * Settings of every request to a server. They change nothing where the tables are not distributed:
 * - A table inside another query's IN or JOIN is read on all shards.
 * - An insert answers once the shards have its rows.
 * - A statement ON CLUSTER waits for the nodes that are up.
 */
const SERVER_SETTINGS: Settings = {
  distributed_product_mode: 'global',
  distributed_foreground_insert: 1,
  distributed_ddl_output_mode: 'none_only_active',
};

/**
 * The operating system's words for a full or failing disk, and for too many open files or too little memory: the engine
 * has many codes for what fails because of one. It is the same for every row, so no row may be set aside for it.
 */
const MACHINE_FAULT = new RegExp(
  [
    'No space left on device|ENOSPC|NOT_ENOUGH_SPACE|Disk quota exceeded|EDQUOT',
    'Input/output error|EIO|Read-only file system|EROFS|Stale file handle|ESTALE|Permission denied|EACCES|EPERM',
    'Too many open files|EMFILE|ENFILE|Cannot allocate memory|ENOMEM|bad_alloc',
  ].join('|'),
);

/** Delays between the tries of a call that found no engine: 3 s in all, ten times the duration of a restart. */
const RETRY_DELAYS_MS: readonly number[] = [50, 150, 400, 800, 1_600];
/**
 * A read is retried only within this time of its first try. That covers every quick failure above. It allows no retry
 * of an engine that hangs, because each of those tries lasts as long as the timeout below.
 */
const READ_RETRIES_WITHIN_MS = 10_000;
/** Longest silence of the engine within one call. */
const REQUEST_TIMEOUT_MS = 60_000;
/** How long a failed insert waits for an engine before the caller gets the error and retries. */
const INSERT_RECOVERY_MS = 1_000;
const CONNECTIONS_MAX = 64;
/**
 * Rows in one block of a streamed answer. The engine's default of 65,409 would send nothing before a whole answer of
 * 10,000 books is ready. Smaller blocks bring the first byte sooner and keep single writes short.
 */
const STREAM_BLOCK_ROWS = 512;

/** A call that found no engine and is tried again. */
export interface StoreRetry {
  readonly reason: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly attemptsMax: number;
}

export class StoreClient implements StoreReader {
  readonly #client: ClickHouseClient;
  /** For streamed answers, which hold a connection until they are read. */
  readonly #streams: ClickHouseClient;
  readonly #access: EngineAccess;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onRetry: (retry: StoreRetry) => void;
  readonly #cluster: string | null;

  constructor(options: {
    access: EngineAccess;
    clock: Clock;
    log: Logger;
    database?: string;
    /** The cluster that has the tables; null or absent: one engine. */
    cluster?: string | null;
    onRetry?: (retry: StoreRetry) => void;
  }) {
    this.#onRetry = options.onRetry ?? (() => undefined);
    this.#cluster = options.cluster ?? null;
    this.#access = options.access;
    this.#clock = options.clock;
    this.#log = options.log;
    const { access, database = DATABASE } = options;
    this.#client = connect(access, { database, agent: access.agent, connectionsMax: CONNECTIONS_MAX });
    this.#streams = connect(access, {
      database,
      agent: access.streamAgent,
      connectionsMax: STREAM_CONNECTIONS_MAX,
      headers: { [STREAMED_ANSWER_HEADER]: '1' },
    });
  }

  async rows<T>(
    query: string,
    params: Record<string, unknown> = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<T[]> {
    return this.#reading(options.signal, async () => {
      const result = await this.#client.query({
        query,
        format: 'JSONEachRow',
        query_params: params,
        clickhouse_settings: { wait_end_of_query: 1 },
        ...(options.signal ? { abort_signal: options.signal } : {}),
      });
      return result.json<T>();
    });
  }

  async stream(
    query: string,
    params: Record<string, unknown>,
    options: { format: string; settings?: Settings; short?: boolean; signal?: AbortSignal },
  ): Promise<Readable> {
    const client = options.short ? this.#client : this.#streams;
    const stream = await this.#reading(options.signal, async () => {
      const result = await client.exec({
        query: `${query}\nFORMAT ${options.format}`,
        query_params: params,
        clickhouse_settings: {
          max_block_size: String(STREAM_BLOCK_ROWS),
          // The engine's binding starts a streamed answer on its host's only thread, and for a short answer that start
          // takes most of the time.
          ...(options.short ? { wait_end_of_query: 1 } : {}),
          ...options.settings,
        },
        ...(options.signal ? { abort_signal: options.signal } : {}),
      });
      return result.stream;
    });
    waitOnlyWhileRead(stream);
    // The client ignores the signal once the headers have arrived; the rest of the body must obey it too.
    return options.signal ? addAbortSignal(options.signal, stream) : stream;
  }

  /** Runs a statement without an answer. The statement must be safe to run twice: it is retried if the engine dies. */
  async command(query: string, settings: Settings = {}): Promise<void> {
    const run = () => this.#client.command({ query, clickhouse_settings: { ...settings } });
    await this.#retrying(run, { withinMs: Infinity });
  }

  /**
   * Runs a statement that has another effect if it runs twice.
   * @throws {StoreUnavailableError} When it is unknown whether it ran.
   * @throws {StoreRefusedError} When the engine refused it.
   */
  async commandOnce(query: string): Promise<void> {
    try {
      await this.#client.command({ query });
    } catch (error) {
      throw storeFailure(error);
    }
  }

  /**
   * Sends rows once; the caller retries with the same bytes and the same token.
   * @throws {StoreUnavailableError} When it is unknown whether the rows were stored.
   * @throws {StoreRefusedError} When the engine refused the rows.
   */
  async insert(options: {
    target: string;
    format: string;
    data: Uint8Array;
    token: string;
    signal?: AbortSignal;
  }): Promise<void> {
    try {
      const result = await this.#client.exec({
        query: `INSERT INTO ${options.target} FORMAT ${options.format}`,
        values: Readable.from([options.data], { objectMode: true }),
        clickhouse_settings: { insert_deduplication_token: options.token, async_insert: 0 },
        ...(options.signal ? { abort_signal: options.signal } : {}),
      });
      result.stream.resume();
    } catch (error) {
      const failure = storeFailure(error);
      // The caller that meets the silence gets an engine started: the last one may have been another process's.
      if (failure instanceof StoreUnavailableError) await this.#access.whenReady(INSERT_RECOVERY_MS);
      throw failure;
    }
  }

  /**
   * Resolves when every active replica has the rows inserted so far: a look-up on one that lags would miss them. Does
   * nothing without a cluster.
   */
  async syncReplicas(table: string): Promise<void> {
    if (this.#cluster === null) return;
    await this.command(syncStatement(table, this.#cluster));
  }

  /** Closes its own connections. Connections to the embedded engine belong to its access: other clients use them too. */
  async close(): Promise<void> {
    if (this.#access.agent !== null) return;
    await Promise.all([this.#client.close(), this.#streams.close()]);
  }

  #reading<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    // The text of a query is no attribute: it may hold a user's values.
    return inSpan('store.query', { 'db.system.name': 'clickhouse' }, () =>
      this.#retrying(call, { withinMs: READ_RETRIES_WITHIN_MS, signal }),
    );
  }

  async #retrying<T>(
    call: () => Promise<T>,
    { withinMs, signal }: { withinMs: number; signal?: AbortSignal | undefined },
  ): Promise<T> {
    const startedMs = this.#clock.monotonic();
    for (let attempt = 0; ; attempt++) {
      try {
        signal?.throwIfAborted();
        return await call();
      } catch (error) {
        signal?.throwIfAborted();
        const failure = storeFailure(error);
        const delayMs = RETRY_DELAYS_MS[attempt];
        if (!(failure instanceof StoreUnavailableError) || delayMs === undefined) throw failure;
        if (this.#clock.monotonic() - startedMs > withinMs) throw failure;
        this.#log.warn({ err: failure, attempt, delayMs }, 'store.call_retried');
        const attemptsMax = RETRY_DELAYS_MS.length + 1;
        this.#onRetry({ reason: failure.message, attempt: attempt + 1, attemptsMax });
        await sleep(this.#clock, delayMs, signal);
        await this.#access.whenReady(delayMs);
      }
    }
  }
}

function connect(
  { url, isServer }: EngineAccess,
  options: {
    database: string;
    agent: EngineAccess['agent'];
    connectionsMax: number;
    headers?: Record<string, string>;
  },
): ClickHouseClient {
  const { database, agent, connectionsMax, headers = {} } = options;
  return createClient({
    url,
    // The agent closes idle connections itself, as late as the engine allows. The client would close them by a timer of
    // its own, even while another client on the same agent uses them.
    ...(agent ? { http_agent: agent, keep_alive: { idle_socket_ttl: 0 } } : {}),
    application: 'underround',
    database,
    http_headers: headers,
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: connectionsMax,
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 0,
      ...(isServer ? SERVER_SETTINGS : {}),
    },
    log: { level: ClickHouseLogLevel.OFF },
  });
}

/** Pauses the timeout for engine silence while an answer is not read: its reader may be slow. */
function waitOnlyWhileRead(stream: Readable & { readonly socket?: Socket }): void {
  const { socket } = stream;
  if (!socket) return;
  stream.on('pause', () => socket.setTimeout(0));
  stream.on('resume', () => socket.setTimeout(REQUEST_TIMEOUT_MS));
}

/** Sorts what a call threw into the two classes callers can act on. */
function storeFailure(error: unknown): StoreRefusedError | StoreUnavailableError {
  if (error instanceof StoreRefusedError || error instanceof StoreUnavailableError) return error;
  if (
    error instanceof ClickHouseError &&
    !TRANSIENT_CODES.has(error.code) &&
    !MACHINE_FAULT.test(error.message)
  ) {
    const text = `the store refused: ${error.message} (code ${error.code})`;
    return new StoreRefusedError(text, { storeCode: error.code, cause: error });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new StoreUnavailableError(`the store did not answer: ${text}`, { cause: error });
}
