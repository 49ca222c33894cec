import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgresServer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the URL of the run's PostgreSQL, or with 503 and the reason why there is none. */
    readonly postgresDoor: string;
  }
}

/**
 * One PostgreSQL for a whole run: test files are separate processes and run concurrently. It starts at the first
 * request, so that a run without such tests does not wait for it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | null = null;
  const door = createServer((_request, response) => {
    server ??= startPostgres();
    server.then(
      ({ url }) => response.end(url),
      (error: Error) => response.writeHead(503).end(error.message),
    );
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  project.provide('postgresDoor', `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.close();
    door.closeAllConnections();
    await server?.then(
      ({ stop }) => stop().catch(failRun),
      () => undefined,
    );
  };
}

/** Vitest only prints a teardown's exception, and ends with the status of the tests. */
function failRun(error: unknown): never {
  process.exitCode = 1;
  throw error;
}
