import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { repositorySuite } from '../../test/accounts/repositorySuite.ts';
import { sessionSuite } from '../../test/accounts/sessionSuite.ts';
import { valueSuite } from '../../test/accounts/valueSuite.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { MIGRATIONS, openControlDatabase } from '../controlDatabase.ts';
import type { Clock } from '../runtime/clock.ts';
import { ConfigError, StoreUnavailableError } from '../runtime/errors.ts';

const postgres = await openTestPostgres();
const openAt = (databaseUrl: string) => openControlDatabase({ dataDir: '/nonexistent', databaseUrl });

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    repositorySuite('PostgreSQL', async () => openAt(await postgres.createDatabase()));
    sessionSuite('PostgreSQL', async () => openAt(await postgres.createDatabase()));
    valueSuite('PostgreSQL', async () => openAt(await postgres.createDatabase()));

    it('times and counts are numbers', async () => {
      const db = await openAt(await postgres.createDatabase());
      const { rows } = await sql`select 1795219200123::bigint as ms, count(*) as n from users`.execute(db);
      expect(rows).toEqual([{ ms: 1795219200123, n: 0 }]);
      await db.destroy();
    });

    it('of many processes that start at once one migrates, and none is refused', async () => {
      const url = await postgres.createDatabase();
      const opened = await Promise.all(Array.from({ length: 6 }, () => openAt(url)));
      const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
        opened[0] as (typeof opened)[0],
      );
      expect(rows.map(({ name }) => name)).toEqual(Object.keys(MIGRATIONS));
      await Promise.all(opened.map((db) => db.destroy()));
    });

    it('a failed migration leaves no tables behind', async () => {
      const url = await postgres.createDatabase();
      const client = new pg.Client(url);
      await client.connect();
      await client.query('CREATE TABLE api_keys (x int)');
      const refused = openAt(url);
      await expect(refused).rejects.toThrow(/cannot be opened: relation "api_keys" already exists$/);
      await expect(refused).rejects.toBeInstanceOf(StoreUnavailableError);
      const { rows } = await client.query("select 1 from pg_tables where tablename = 'users'");
      expect(rows).toEqual([]);
      await client.end();
    });

    it('a refused password is reported at once, without the password', async () => {
      const url = new URL(await postgres.createDatabase());
      url.password = 'hunter2-not-this';
      const error = await openAt(url.href).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect((error as Error).message).toMatch(
        /^control database 127\.0\.0\.1:\d+\/\w+ cannot be opened: password authentication failed/,
      );
      expect(String((error as Error).stack)).not.toContain('hunter2');
    });

    it('a connection that breaks is a store failure, and the next one works', async () => {
      const url = await postgres.createDatabase();
      const db = await openAt(url);
      const killed = sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
      await expect(killed).rejects.toBeInstanceOf(StoreUnavailableError);
      await expect(db.selectFrom('users').selectAll().execute()).resolves.toEqual([]);
      await db.destroy();
    });

    it('a server process that stops in the middle is a store failure, and the next connection works', async () => {
      const db = await openAt(await postgres.createDatabase());
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
      const { pid } = rows[0] as { pid: number };
      process.kill(pid, 'SIGSTOP');
      try {
        await expect(sql`select 1`.execute(db)).rejects.toBeInstanceOf(StoreUnavailableError);
        await expect(db.selectFrom('users').selectAll().execute()).resolves.toEqual([]);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await db.destroy();
    });

    it('a change on a server that became read-only is a store failure', async () => {
      const db = await openAt(await postgres.createDatabase());
      const change = db.transaction().execute(async (transaction) => {
        await sql`set transaction read only`.execute(transaction);
        await transaction.deleteFrom('settings').execute();
      });
      await expect(change).rejects.toBeInstanceOf(StoreUnavailableError);
      await db.destroy();
    });

    it('a transaction that ends because of a deadlock is a store failure', async () => {
      const db = await openAt(await postgres.createDatabase());
      const rows = ['a', 'b'].map((name) => ({ name, value: 'null', updated_ms: 0 }));
      await db.insertInto('settings').values(rows).execute();
      let both = 0;
      let begin: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const lock = (names: readonly string[]) =>
        db.transaction().execute(async (transaction) => {
          for (const name of names) {
            await transaction
              .updateTable('settings')
              .set({ value: 'true' })
              .where('name', '=', name)
              .execute();
            if (++both === 2) begin();
            await begun;
          }
        });
      const outcomes = await Promise.allSettled([lock(['a', 'b']), lock(['b', 'a'])]);
      const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(reasons).toEqual([new StoreUnavailableError('deadlock detected')]);
      await db.destroy();
    });

    it('a statement that the database refuses is not reported as an absent database', async () => {
      const db = await openAt(await postgres.createDatabase());
      const wrong = sql`select * from no_such_table`.execute(db);
      await expect(wrong).rejects.toMatchObject({ code: '42P01' });
      await db.destroy();
    });
  },
);

describe('an absent PostgreSQL', () => {
  it('is tried a limited number of times, then reported with its address and no password', async () => {
    const fake = new FakeClock();
    const waitsMs: number[] = [];
    const clock: Clock = {
      now: () => fake.now(),
      monotonic: () => fake.monotonic(),
      after: (delayMs, run) => {
        waitsMs.push(delayMs);
        return fake.after(delayMs, run);
      },
    };
    const databaseUrl = 'postgres://u:hunter2@127.0.0.1:1/accounts';
    const lines: string[] = [];
    const onWait = (line: string) => lines.push(line);
    const opening = openControlDatabase({ dataDir: '/nonexistent', databaseUrl }, { clock, onWait });
    await expect(fake.advanceUntil(opening, 2_000)).rejects.toThrow(
      new StoreUnavailableError(
        'control database 127.0.0.1:1/accounts cannot be opened: connect ECONNREFUSED 127.0.0.1:1',
      ),
    );
    expect(waitsMs).toEqual([200, 400, 800, 1_600, 2_000, 2_000, 2_000, 2_000, 2_000]);
    expect(lines).toEqual(
      waitsMs.map(
        (_, at) =>
          `waiting for the database 127.0.0.1:1/accounts (connect ECONNREFUSED 127.0.0.1:1); attempt ${at + 1} of 10, at most 20 s in all`,
      ),
    );
  });

  it('a URL of another database is a configuration error', async () => {
    await expect(openAt('mysql://localhost/x')).rejects.toThrow(
      new ConfigError('DATABASE_URL must start with postgres://'),
    );
  });
});
