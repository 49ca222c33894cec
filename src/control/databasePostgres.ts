import { Kysely, Migrator, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { backoffDelayMs } from '../runtime/backoff.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { ConfigError, NewerDataError, StoreUnavailableError } from '../runtime/errors.ts';
import { appliedMigrations, requireKnownMigrations } from './appliedMigrations.ts';
import type { Database, Migrations, Schema } from './schema.ts';

/** Connections of one process; PostgreSQL allows 100 in total by default. */
const MAX_CONNECTIONS = 10;
/** A request that gets no connection within this time is answered 502. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Statements take milliseconds; this limits one that waits for a lock. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Beyond the server's own limit: a server whose process or machine is stopped does not apply it. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1_000;
const IDLE_TIMEOUT_MS = 30_000;
/** At a start the database may be starting too: ten tries, about fifteen seconds in total. */
const START_TRIES = 10;
const START_LIMIT_MS = 15_000;
const START_BACKOFF = { firstMs: 200, maxMs: 2_000 };

const BIGINT_OID = 20;
/**
 * SQLSTATE classes and codes of failures that a retry may cure: connection exceptions, a server that became a read-only
 * replica, a transaction that was rolled back because of others (deadlock), insufficient resources, operator
 * intervention, errors of its disk. The other retryable errors are network errors of Node.
 */
const UNAVAILABLE = /^(?:08|25006|40|53|57|58)/;
const NETWORK = /^(?:ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/;

/**
 * Opens a PostgreSQL database and runs its migrations; of several processes that start at once one migrates and the
 * others wait.
 * @throws {ConfigError} When the URL is not PostgreSQL's.
 * @throws {StoreUnavailableError} When it cannot be reached after bounded retries, refuses, or cannot be migrated.
 * @throws {NewerDataError} When a newer release migrated it.
 */
export async function openPostgres(
  url: string,
  { migrations, clock, onWait }: { migrations: Migrations; clock: Clock; onWait: (line: string) => void },
): Promise<Database> {
  const { host, pathname } = new URL(url);
  const db = connectPostgres(url);
  const place = `control database ${host}${pathname}`;
  try {
    await migrateOnceReachable(db, { migrations, clock, place }, (reason, attempt) =>
      onWait(
        `waiting for the database ${host}${pathname} (${reason}); attempt ${attempt} of ${START_TRIES}, at most ${(START_LIMIT_MS + CONNECT_TIMEOUT_MS) / 1000} s in all`,
      ),
    );
    return db;
  } catch (cause) {
    await db.destroy();
    if (cause instanceof NewerDataError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    // Never the whole URL: it may contain a password.
    throw new StoreUnavailableError(`${place} cannot be opened: ${reason}`, { cause });
  }
}

/** A database without its migrations: nothing is changed. @throws {ConfigError} When the URL is not PostgreSQL's. */
export function connectPostgres(url: string): Database {
  if (!/^postgres(?:ql)?:$/.test(new URL(url).protocol))
    throw new ConfigError('DATABASE_URL must start with postgres://');
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: createPool(url) }) });
}

async function migrateOnceReachable(
  db: Database,
  { migrations, clock, place }: { migrations: Migrations; clock: Clock; place: string },
  onWait: (reason: string, attempt: number) => void,
): Promise<void> {
  const startedMs = clock.monotonic();
  for (let attempt = 0; ; attempt++) {
    const error = await migratePostgres(db, { migrations, place });
    if (error === undefined) return;
    if (!(error instanceof StoreUnavailableError) || attempt + 1 >= START_TRIES) throw error;
    const delayMs = backoffDelayMs(START_BACKOFF, attempt, () => 1);
    if (clock.monotonic() - startedMs + delayMs > START_LIMIT_MS) throw error;
    onWait(error.message, attempt + 1);
    await sleep(clock, delayMs);
  }
}

/** @returns Why it failed. */
async function migratePostgres(
  db: Database,
  { migrations, place }: { migrations: Migrations; place: string },
): Promise<unknown> {
  try {
    requireKnownMigrations(place, { applied: await appliedMigrations(db), known: Object.keys(migrations) });
  } catch (error) {
    return error;
  }
  // The query layer takes an advisory lock around the run and rolls a failed one back whole.
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  return (await migrator.migrateToLatest()).error;
}

/**
 * The driver's pool; network failures become `StoreUnavailableError`, so that the API answers 502 and does not report a
 * bug.
 */
function createPool(connectionString: string): PostgresPool {
  const pool = new pg.Pool({
    connectionString,
    application_name: 'underround',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // Times and counts are far below 2^53; the driver would return them as text.
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format as 'text'),
    },
  });
  // A broken connection is dropped, and its current or next user gets the error. Without a listener, the same event
  // would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return {
    connect: async () => guarded(await pool.connect().catch(rethrow)),
    end: () => pool.end(),
  } as PostgresPool;
}

function guarded(client: pg.PoolClient): PostgresPoolClient {
  let broken = false;
  return {
    query: (text: string, parameters: unknown[]) =>
      client.query(text, parameters.map(storable)).catch((error: unknown) => {
        const outward = outwardForm(error);
        broken ||= outward instanceof StoreUnavailableError;
        throw outward;
      }),
    // A broken connection may not be detected yet; back in the pool it would fail the next query too.
    release: () => client.release(broken),
  } as unknown as PostgresPoolClient;
}

/**
 * PostgreSQL has no U+0000 in its texts and refuses a statement with one, such as the look-up of an id from a path. No
 * id and no address has the character that replaces it, so nothing is found, as in SQLite.
 */
function storable(parameter: unknown): unknown {
  return typeof parameter === 'string' ? parameter.replaceAll('\0', '\ufffd') : parameter;
}

function rethrow(error: unknown): never {
  throw outwardForm(error);
}

function outwardForm(cause: unknown): unknown {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  const unavailable =
    typeof code === 'string'
      ? UNAVAILABLE.test(code) || NETWORK.test(code)
      : /timeout|terminated|not queryable/i.test(String(message));
  return unavailable ? new StoreUnavailableError(String(message || code), { cause }) : cause;
}
