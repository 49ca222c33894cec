import pg from 'pg';
import { inject } from 'vitest';

/** Databases for one test file. */
interface TestPostgres {
  /** Why there are none; null: there are. Tests are skipped with this reason; in CI they fail. */
  readonly absent: string | null;
  /** The URL of a new, empty database. */
  createDatabase(): Promise<string>;
}

/**
 * Databases on the run's own server, or on the one of `UNDERROUND_TEST_DATABASE_URL`, whose user must be allowed to
 * create databases; they are not removed there. Call it at the top of a test file.
 */
export async function openTestPostgres(): Promise<TestPostgres> {
  const given = process.env.UNDERROUND_TEST_DATABASE_URL;
  if (given !== undefined) return databasesOn(given);
  const answer = await fetch(inject('postgresDoor'));
  const text = await answer.text();
  if (answer.ok) return databasesOn(text);
  if (process.env.CI !== undefined) throw new Error(text);
  return { absent: text, createDatabase: () => Promise.reject(new Error(text)) };
}

function databasesOn(url: string): TestPostgres {
  let made = 0;
  return {
    absent: null,
    createDatabase: async () => {
      const name = `underround_test_${process.pid}_${++made}`;
      const client = new pg.Client(url);
      await client.connect();
      await client.query(`DROP DATABASE IF EXISTS ${name}`);
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return Object.assign(new URL(url), { pathname: `/${name}` }).href;
    },
  };
}
