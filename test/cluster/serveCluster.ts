/**
 * Runs one command of the project as a cluster: `serve` starts the shared servers, every role and a load balancer, and
 * prints `ready http://...` like one process. Every other command runs with the cluster's settings. So a check that
 * runs `npx --no-install underround ...` in the project's root runs against a cluster unchanged when a file `npx` of
 * these lines is first in `PATH`:
 *
 *     #!/bin/sh
 *     shift 2
 *     exec node scripts/withNode.mjs test/cluster/serveCluster.ts "$@"
 *
 * `UNDERROUND_DATA_DIR` and `UNDERROUND_PORT` must be set.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../support/freePort.ts';
import { NatsServer } from '../support/natsProcess.ts';
import { startPostgres } from '../support/postgresServer.ts';
import { startRoundRobin } from '../support/roundRobinProxy.ts';

type Variables = Readonly<Record<string, string>>;

const COMMAND = join(import.meta.dirname, '../../bin/underround.mjs');
/** The roles of each process, by its name. */
const PROCESSES: Variables = {
  collector1: 'collect',
  collector2: 'collect',
  writer: 'write',
  detector: 'signals',
  worker: 'paper,webhooks,backtest',
  api1: 'api',
  api2: 'api',
};
const dataDir = process.env.UNDERROUND_DATA_DIR ?? '';
/** The settings of a running cluster, for the commands beside it. */
const SETTINGS = join(dataDir, 'cluster.json');

function start(words: readonly string[], variables: Variables): ChildProcess {
  const env = { ...process.env, ...variables };
  return spawn(process.execPath, [COMMAND, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Resolves with the address that a command prints. */
async function ready(child: ChildProcess, name: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    if (child.stdout === null) throw new TypeError('its output is a pipe');
    createInterface(child.stdout).on('line', (line) => {
      const url = /^ready (http\S+)/.exec(line)?.[1];
      if (url === undefined) process.stdout.write(`${line}\n`);
      else resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
  });
}

function directory(name: string): string {
  const path = join(dataDir, name);
  mkdirSync(path, { recursive: true });
  return path;
}

async function serve(): Promise<void> {
  const password = randomBytes(12).toString('hex');
  const [natsPort, storePort] = [await freePort(), await freePort()];
  const nats = new NatsServer(natsPort, directory('nats'), []);
  const store = start(['store', '--listen', `127.0.0.1:${storePort}`], {
    UNDERROUND_DATA_DIR: directory('store'),
    UNDERROUND_STORE_PASSWORD: password,
    UNDERROUND_DISK_RESERVE: '16MiB',
  });
  const [postgres] = await Promise.all([startPostgres(), nats.start(), ready(store, 'the store')]);
  const shared = {
    NATS_URL: nats.url,
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: `http://underround:${password}@127.0.0.1:${storePort}`,
    UNDERROUND_SECRET_KEY: '5a'.repeat(32),
  };
  writeFileSync(SETTINGS, JSON.stringify(shared));
  const children = [store];
  const starting = Promise.all(
    Object.entries(PROCESSES).map(async ([name, roles]) => {
      const own = { UNDERROUND_NODE: name, UNDERROUND_DATA_DIR: directory(name), UNDERROUND_PORT: '0' };
      const child = start(['serve', '--roles', roles], { ...shared, ...own });
      children.push(child);
      return { roles, url: await ready(child, name) };
    }),
  );
  const nodes = starting.then((all) => all.filter(({ roles }) => roles === 'api').map(({ url }) => url));
  // Commands work from here on, and the load balancer keeps requests until every process is ready.
  const proxy = await startRoundRobin(nodes, Number(process.env.UNDERROUND_PORT ?? 0));
  process.stdout.write(`ready ${proxy.url}\n`);
  const stop = async () => {
    await proxy.stop();
    const roles = children.slice(1);
    await Promise.all(roles.map((child) => ended(child)));
    await ended(store);
    await postgres.stop();
    await nats.kill();
    process.exit();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}

const words = process.argv.slice(2);
if (words[0] === 'serve') await serve();
else {
  const shared = existsSync(SETTINGS) ? JSON.parse(readFileSync(SETTINGS, 'utf8')) : {};
  const child = spawn(process.execPath, [COMMAND, ...words], {
    env: { ...process.env, ...shared },
    stdio: 'inherit',
  });
  child.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
