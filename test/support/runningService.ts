import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import type { Ticker } from '../../src/schema/market.ts';
import { VenueModel } from '../../src/simulator/model.ts';
import { VenueServer } from '../../src/simulator/server.ts';
import { makeServiceKey } from './serviceKey.ts';
import { WAIT_MS_MAX } from './waitLimit.ts';

const COMMAND = join(import.meta.dirname, '../../bin/underround.mjs');
const POLL_MS = 20;

/** The stand-in venues on a free port of this machine, in real time from now. */
export async function startVenues(
  options: { density?: number; tickers?: readonly Ticker[] } = {},
): Promise<VenueServer> {
  const model = new VenueModel({
    seed: 'test',
    startTimeMs: systemClock.now() - 1000,
    ...{ ...options, density: options.density ?? 0.05 },
  });
  const venues = new VenueServer({ model, clock: systemClock, logger: silentLogger });
  await venues.start();
  return venues;
}

/** Calls `look` until it returns a value; otherwise rejects, names the awaited event, and has the last error as cause. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | false | undefined>,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    let cause: unknown;
    const found = await look().catch((error: unknown) => {
      cause = error;
    });
    if (found) return found;
    if (performance.now() - start > WAIT_MS_MAX)
      throw new Error(`${WAIT_MS_MAX} ms passed without: ${what}`, { cause });
    await new Promise<void>((resolve) => void systemClock.after(POLL_MS, resolve));
  }
}

/** Whether a process still runs, on Linux: an ended process stays listed until its parent reaps it. */
export function isRunning(processId: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${processId}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** A running command of this project that serves until it is stopped. */
export interface RunningCommand {
  readonly url: string;
  readonly child: ChildProcess;
  /** Standard output and standard error so far. */
  out(): string;
  log(): string;
  /** Sends the signal and waits for the end; resolves with the exit code, null after a kill. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/**
 * Starts the built command like a user, and waits until it is ready.
 * @param whenOver Receives the function that ends it; by default it runs after the running test.
 */
export function startCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  whenOver: (end: () => Promise<void>) => void = onTestFinished,
): Promise<RunningCommand> {
  return startProgram([process.execPath, COMMAND, ...words], environment, whenOver);
}

/** The same for any copy of the command. */
export async function startProgram(
  [program = '', ...words]: readonly string[],
  environment: Readonly<Record<string, string>>,
  whenOver: (end: () => Promise<void>) => void = onTestFinished,
): Promise<RunningCommand> {
  const env = {
    PATH: process.env.PATH ?? '',
    UNDERROUND_PORT: '0',
    UNDERROUND_DISK_RESERVE: '16MiB',
    ...environment,
  };
  const child = spawn(program, words, { env });
  let [out, log] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  // The engine has standard error too. It writes for a moment after the command ended, and is the last to close it.
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  whenOver(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const ready = eventually('ready line', async () => /ready (http\S+)/.exec(out)?.[1]);
  const early = ended.then((code) => {
    throw new Error(`exit ${code} before it was ready`);
  });
  const url = await Promise.race([ready, early]).catch((error) => {
    child.kill('SIGKILL');
    throw new Error(`${error.message}; log: ${log.slice(-2000)}`);
  });
  return {
    url,
    child,
    out: () => out,
    log: () => log,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Process id of the embedded engine that a command started last. */
export function enginePidOf(command: Pick<RunningCommand, 'log'>): number {
  const line = command
    .log()
    .split('\n')
    .findLast((text) => text.includes('store.host.ready'));
  const pid = Number(/"pid":(\d+)/.exec(line ?? '')?.[1]);
  if (!(pid > 0)) throw new Error(`no process id in ${line}`);
  return pid;
}

/** Token of the setup link that `serve` prints while there is no operator. */
export function setupTokenOf(command: Pick<RunningCommand, 'out'>): Promise<string> {
  return eventually('setup line', async () => /^setup \S+\?setup=([\w-]+)/m.exec(command.out())?.[1]);
}

export interface RunningService extends RunningCommand {
  /** Key of a user of the highest tier. */
  readonly key: string;
  /** GET with the key; rejects unless the status is 200. */
  get<T>(path: string): Promise<T>;
}

/** Starts the built `underround serve` against the stand-in venues, and creates a key for it. */
export async function startService(
  dataDir: string,
  venues: VenueServer,
  variables: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const own = { UNDERROUND_DATA_DIR: dataDir, UNDERROUND_RATE_LIMITS: 'off' };
  const environment = { ...own, ...venues.urls(), ...variables };
  const command = await startCommand(['serve'], environment);
  const key = await makeServiceKey(dataDir);
  return {
    ...command,
    key,
    get: async <T>(path: string): Promise<T> => {
      const answer = await fetch(command.url + path, { headers: { authorization: `Bearer ${key}` } });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as T;
    },
  };
}
