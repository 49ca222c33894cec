import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './freePort.ts';

const PROGRAM = join(import.meta.dirname, 'postgresProcess.mjs');

/** A server whose user may create databases. */
export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on a free port of this machine, in a child process that ends with this one.
 * @throws {Error} Where it cannot run, with the reason.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const child = spawn(process.execPath, [PROGRAM, String(await freePort())], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  const lines = createInterface(child.stdout);
  const [line] = await Promise.race([
    once(lines, 'line'),
    closed.then(() => ['{"error":"PostgreSQL cannot start here: its process ended"}']),
  ]);
  const { url, error } = JSON.parse(line);
  if (error !== undefined) throw new Error(error);
  return {
    url,
    stop: async () => {
      child.stdin.end();
      const [code, signal] = await closed;
      if (code !== 0) throw new Error(`PostgreSQL did not stop in order: ${signal ?? `status ${code}`}`);
    },
  };
}
