import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { freePort } from './freePort.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const PROGRAM = ['/usr/sbin/nats-server', '/usr/bin/nats-server', '/usr/local/bin/nats-server'].find(
  existsSync,
);
/** Of Debian's util-linux: ends the server with the process that started it, even when that is killed. */
const WRAPPER = '/usr/bin/setpriv';
/** Without the server, tests are skipped with a reason; in CI they fail. */
export const natsAbsent = (PROGRAM === undefined || !existsSync(WRAPPER)) && process.env.CI === undefined;

type WhenOver = (end: () => Promise<void>) => void;

/** A NATS server with JetStream on a port of this machine, with a storage of its own. */
class NatsServer {
  readonly #port: number;
  readonly #arguments: readonly string[];
  #child: ChildProcess | null = null;

  constructor(port: number, storage: string, extra: readonly string[]) {
    this.#port = port;
    this.#arguments = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', storage, ...extra];
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** Starts it, also again with the storage of the last time. */
  async start(): Promise<void> {
    const command = ['--pdeathsig', 'KILL', PROGRAM ?? 'nats-server', ...this.#arguments];
    const child = spawn(WRAPPER, command, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    const log: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stderr).on('line', (line) => {
        log.push(line);
        if (line.includes('Server is ready')) resolve();
      });
      child.once('error', reject);
      child.once('close', () => reject(new Error(`nats-server ended:\n${log.join('\n')}`)));
    });
  }

  /** Ends it at once: what it did not write is lost. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  /** Stops its process; connections stay open. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }
}

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
  const cluster = ['--cluster_name', 'test', '--routes', routes.join(',')];
  return Promise.all(
    routes.map((route, index) =>
      startNats({ extra: [...cluster, '-n', `node${index}`, '--cluster', route] }),
    ),
  );
}
