import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const PROGRAM = ['/usr/sbin/nats-server', '/usr/bin/nats-server', '/usr/local/bin/nats-server'].find(
  existsSync,
);
/** Of Debian's util-linux: ends the server with the process that started it, even when that is killed. */
const WRAPPER = '/usr/bin/setpriv';
export const isNatsInstalled = PROGRAM !== undefined && existsSync(WRAPPER);

/** A NATS server with JetStream on a port of this machine, with a storage of its own. */
export class NatsServer {
  readonly storage: string;
  readonly #port: number;
  readonly #arguments: readonly string[];
  #child: ChildProcess | null = null;

  constructor(port: number, storage: string, extra: readonly string[]) {
    this.storage = storage;
    this.#port = port;
    this.#arguments = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', storage, ...extra];
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** Null while it does not run. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
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

/** The options with which servers of these storage numbers form one cluster. @param routes Addresses, one a server. */
export function natsClusterOptions(routes: readonly string[], index: number): readonly string[] {
  const own = ['-n', `node${index}`, '--cluster', routes[index] ?? ''];
  return ['--cluster_name', 'test', '--routes', routes.join(','), ...own];
}
