import { Kysely, Migrator, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { backoffDelayMs } from '../runtime/backoff.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { ConfigError, StoreUnavailableError } from '../runtime/errors.ts';
import type { Database, Migrations, Schema } from './schema.ts';

/** Connections of one process; PostgreSQL allows 100 in all unless told otherwise. */
const MAX_CONNECTIONS = 10;
/** A request that gets no connection within this is answered 502. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Every statement here takes milliseconds; this bounds one that waits for a lock. */
const STATEMENT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
/** At start the database may still be starting too: ten tries, about fifteen seconds in all. */
const START_TRIES = 10;
const START_BACKOFF = { firstMs: 200, maxMs: 2_000 };

const BIGINT_OID = 20;
/**
 * SQLSTATE classes and codes that say "not now" and nothing about the statement: connection exceptions, insufficient
 * resources, operator intervention. The rest are network errors of Node, or ours.
 */
const UNAVAILABLE = /^(?:08|53|57)/;
const NETWORK = /^(?:ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/;

/**
 * Opens a PostgreSQL database and brings its tables up to date; of several processes that start at once one migrates
 * and the others wait for it.
 * @throws {ConfigError} When the URL is of something else.
 * @throws {StoreUnavailableError} When it cannot be reached after bounded retries, refuses, or cannot be migrated.
 */
export async function openPostgres(
  url: string,
  { migrations, clock }: { migrations: Migrations; clock: Clock },
): Promise<Database> {
  const { protocol, host, pathname } = new URL(url);
  if (!/^postgres(?:ql)?:$/.test(protocol)) throw new ConfigError('DATABASE_URL must start with postgres://');
  const pool = createPool(url);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  try {
    await migrateOnceReachable(db, { migrations, clock });
    return db;
  } catch (cause) {
    await db.destroy();
    const reason = cause instanceof Error ? cause.message : String(cause);
    // Never the whole URL: it may hold a password.
    throw new StoreUnavailableError(`control database ${host}${pathname} cannot be opened: ${reason}`, {
      cause,
    });
  }
}

async function migrateOnceReachable(
  db: Database,
  { migrations, clock }: { migrations: Migrations; clock: Clock },
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    // The query layer takes an advisory lock around the run and rolls a failed one back whole.
    const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return;
    if (!(error instanceof StoreUnavailableError) || attempt + 1 >= START_TRIES) throw error;
    await sleep(
      clock,
      backoffDelayMs(START_BACKOFF, attempt, () => 1),
    );
  }
}

/** The driver's pool, whose network failures are ours: the API answers them 502 and not as a bug. */
function createPool(connectionString: string): PostgresPool {
  const pool = new pg.Pool({
    connectionString,
    application_name: 'underround',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // Times and counts are far below 2^53; the driver would give them as text.
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format as 'text'),
    },
  });
  // A connection that breaks is dropped; whoever uses it then, or asks for one next, is told. Unheard, the same event
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
      client.query(text, parameters).catch((error: unknown) => {
        const outward = outwardForm(error);
        broken ||= outward instanceof StoreUnavailableError;
        throw outward;
      }),
    // One that broke may not know it yet; back in the pool it would fail the next query too.
    release: () => client.release(broken),
  } as unknown as PostgresPoolClient;
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
