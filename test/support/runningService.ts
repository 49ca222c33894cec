import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/ops/log.ts';
import { VenueModel } from '../../src/simulator/model.ts';
import { VenueServer } from '../../src/simulator/server.ts';
import { underround } from './builtCommand.ts';

const COMMAND = join(import.meta.dirname, '../../bin/underround.mjs');
const START_LIMIT_MS = 30_000;
const POLL_MS = 20;

/** The stand-in venues on a free port of this machine, in real time from now. */
export async function startVenues(options: { density?: number } = {}): Promise<VenueServer> {
  const model = new VenueModel({
    seed: 'test',
    startTimeMs: systemClock.now() - 1000,
    density: options.density ?? 0.05,
  });
  const venues = new VenueServer({ model, clock: systemClock, logger: silentLogger });
  await venues.start();
  return venues;
}

/** Calls `look` until it answers something; rejects after `limitMs`, saying what was waited for. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | false | undefined>,
  limitMs = 20_000,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const found = await look().catch(() => null);
    if (found) return found;
    if (performance.now() - start > limitMs) throw new Error(`${limitMs} ms passed without: ${what}`);
    await new Promise<void>((resolve) => void systemClock.after(POLL_MS, resolve));
  }
}

export interface RunningService {
  readonly url: string;
  readonly child: ChildProcess;
  /** From spawn to the `ready` line. */
  readonly startedInMs: number;
  log(): string;
  /** GET with the key; rejects unless 200. */
  get<T>(path: string): Promise<T>;
  /** Signals and waits for the end; the exit code, null after a kill. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Starts the built `underround serve` as a user would, and makes a key for it. */
export async function startService(dataDir: string, venues: VenueServer): Promise<RunningService> {
  const environment = {
    UNDERROUND_DATA_DIR: dataDir,
    UNDERROUND_PORT: '0',
    UNDERROUND_RATE_LIMITS: 'off',
    ...venues.urls(),
  };
  const begun = performance.now();
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    env: { PATH: process.env.PATH ?? '', ...environment },
  });
  let [out, log] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (log += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await eventually(
    'ready line',
    async () => /ready (http\S+)/.exec(out)?.[1],
    START_LIMIT_MS,
  ).catch((error) => {
    child.kill('SIGKILL');
    throw new Error(`${error.message}; log: ${log.slice(-2000)}`);
  });
  const startedInMs = performance.now() - begun;
  const words = [
    'keys',
    'create',
    '--email',
    'test@example.com',
    '--tier',
    'premium',
    '--label',
    'test',
    '--json',
  ];
  const { key } = JSON.parse(await underround(words, environment));
  return {
    url,
    child,
    startedInMs,
    log: () => log,
    get: async <T>(path: string): Promise<T> => {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as T;
    },
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}
