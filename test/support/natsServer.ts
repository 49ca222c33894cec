import { onTestFinished } from 'vitest';
import { freePort } from './freePort.ts';
import { isNatsInstalled, NatsServer, natsClusterOptions } from './natsProcess.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export type { NatsServer } from './natsProcess.ts';

/** Without the server, tests are skipped with this reason; in CI they fail. */
export const natsAbsent = !isNatsInstalled && process.env.CI === undefined;

type WhenOver = (end: () => Promise<void>) => void;

/** Starts a server that ends after the running test. */
export async function startNats({
  extra = [],
  whenOver = onTestFinished,
}: {
  readonly extra?: readonly string[];
  readonly whenOver?: WhenOver;
} = {}): Promise<NatsServer> {
  const storage = temporaryDirectory((end) => whenOver(async () => end()));
  const server = new NatsServer(await freePort(), storage, extra);
  whenOver(() => server.kill());
  await server.start();
  return server;
}

/** Starts three servers that form one cluster. */
export async function startNatsCluster(): Promise<readonly NatsServer[]> {
  const routes = await Promise.all(
    Array.from({ length: 3 }, async () => `nats://127.0.0.1:${await freePort()}`),
  );
  return Promise.all(routes.map((_, index) => startNats({ extra: natsClusterOptions(routes, index) })));
}
