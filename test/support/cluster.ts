import { randomBytes } from 'node:crypto';
import type { VenueServer } from '../../src/simulator/server.ts';
import { commandAbsent } from './builtCommand.ts';
import { freePort } from './freePort.ts';
import { type NatsServer, natsAbsent, startNats } from './natsServer.ts';
import { openTestPostgres } from './postgres.ts';
import { type RunningCommand, startCommand } from './runningService.ts';
import { makeServiceKey } from './serviceKey.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

type WhenOver = (end: () => Promise<void>) => void;

const postgres = await openTestPostgres();
/** Why no cluster can run here; null where it can. */
export const clusterAbsent =
  postgres.absent ?? (natsAbsent ? 'needs nats-server' : commandAbsent ? 'needs `npm run build`' : null);

/** The servers that the processes of a cluster share, each real, on a free port of this machine. */
export interface ClusterServers {
  readonly nats: NatsServer;
  /** One embedded engine in place of a ClickHouse server. */
  readonly store: RunningCommand;
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly whenOver: WhenOver;
}

export async function startClusterServers(whenOver: WhenOver): Promise<ClusterServers> {
  const directory = () => temporaryDirectory((end) => whenOver(async () => end()));
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  const [nats, databaseUrl, store] = await Promise.all([
    startNats({ whenOver }),
    postgres.createDatabase(),
    startCommand(
      ['store', '--listen', `127.0.0.1:${port}`],
      { UNDERROUND_DATA_DIR: directory(), UNDERROUND_STORE_PASSWORD: password },
      whenOver,
    ),
  ]);
  const environment = {
    NATS_URL: nats.url,
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: `http://underround:${password}@127.0.0.1:${port}`,
    UNDERROUND_SECRET_KEY: '5a'.repeat(32),
    UNDERROUND_RATE_LIMITS: 'off',
  };
  return { nats, store, databaseUrl, environment, whenOver };
}

/** Starts one process of a cluster. @param name Also its name among the others. */
export function startNode(
  servers: ClusterServers,
  {
    name,
    roles,
    venues,
    variables = {},
  }: {
    name: string;
    roles: string;
    venues: Pick<VenueServer, 'urls'>;
    variables?: Readonly<Record<string, string>>;
  },
): Promise<RunningCommand> {
  const { environment, whenOver } = servers;
  const own = {
    UNDERROUND_DATA_DIR: temporaryDirectory((end) => whenOver(async () => end())),
    UNDERROUND_NODE: name,
  };
  return startCommand(
    ['serve', '--roles', roles],
    { ...own, ...environment, ...venues.urls(), ...variables },
    whenOver,
  );
}

/** A key that every API node of the cluster accepts. */
export function makeClusterKey({ databaseUrl, whenOver }: ClusterServers): Promise<string> {
  return makeServiceKey(
    temporaryDirectory((end) => whenOver(async () => end())),
    databaseUrl,
  );
}

/** GET with a key; rejects unless the status is 200. */
export async function getJson<T>(node: RunningCommand, key: string, path: string): Promise<T> {
  const answer = await fetch(node.url + path, { headers: { authorization: `Bearer ${key}` } });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
