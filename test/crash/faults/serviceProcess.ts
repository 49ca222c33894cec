/** The built service as a process that a fault run starts, queries and kills. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';

/** A hundred times the duration of a start on an idle machine: a machine with forty busy processes needs a minute. */
export const READY_LIMIT_MS = 180_000;
const ANSWER_LIMIT_MS = 30_000;
const LOG_CHARACTERS_MAX = 20_000;

export interface Reply {
  /** 0: no answer at all. */
  readonly status: number;
  readonly body: string;
}

export class ServiceProcess {
  readonly dataDir: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #key: string;
  readonly #words: readonly string[];
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();
  #out = '';
  #log = '';
  #isOver = false;

  /** @param options.words The command and its options. */
  constructor(options: {
    dataDir: string;
    environment: Readonly<Record<string, string>>;
    key: string;
    words?: readonly string[];
  }) {
    this.dataDir = options.dataDir;
    this.#environment = options.environment;
    this.#key = options.key;
    this.#words = options.words ?? ['serve'];
  }

  get isRunning(): boolean {
    return this.#child !== null;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The address at which it accepts requests; null until it has printed it. */
  get url(): string | null {
    return /ready (http\S+)/.exec(this.#out)?.[1] ?? null;
  }

  /** The link for its first account; null until it has printed it, and with an operator. */
  get setupLink(): string | null {
    return /setup (http\S+)/.exec(this.#out)?.[1] ?? null;
  }

  /** The end of its log since its last start. */
  get log(): string {
    return this.#log;
  }

  /** Does nothing once the run is over: its directory is about to be removed. */
  start(): void {
    if (this.#isOver) return;
    const environment = {
      PATH: process.env.PATH ?? '',
      UNDERROUND_PORT: '0',
      UNDERROUND_DATA_DIR: this.dataDir,
      UNDERROUND_RATE_LIMITS: 'off',
      ...this.#environment,
    };
    const command = join(process.cwd(), 'bin/underround.mjs');
    const child = spawn(process.execPath, [command, ...this.#words], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    [this.#out, this.#log, this.#child] = ['', '', child];
    child.stdout.on('data', (chunk) => {
      this.#out = (this.#out + chunk).slice(-LOG_CHARACTERS_MAX);
    });
    child.stderr.on('data', (chunk) => {
      this.#log = (this.#log + chunk).slice(-LOG_CHARACTERS_MAX);
    });
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        if (this.#child === child) this.#child = null;
        resolve();
      });
    });
  }

  /** @returns Whether it accepts requests; false if it ended first, or the limit passed. */
  async whenReady(limitMs = READY_LIMIT_MS): Promise<boolean> {
    const deadline = clock.monotonic() + limitMs;
    while (this.url === null && this.isRunning && clock.monotonic() < deadline) await sleep(clock, 10);
    return this.url !== null && this.isRunning;
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#child?.kill(signal);
    await this.#ended;
  }

  /** Processes of the storage engine on the data directory, including those of killed services. */
  enginePids(): number[] {
    return readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      const words = commandLineOf(name);
      const at = words.indexOf('--data-dir');
      const isEngine = words.some((word) => word.endsWith('/store/engine/host/main.js'));
      return isEngine && words[at + 1] === this.dataDir ? [Number(name)] : [];
    });
  }

  signalEngines(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.enginePids()) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // It has ended by itself meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  get(path: string, limitMs = ANSWER_LIMIT_MS): Promise<Reply> {
    return this.#ask(path, { method: 'GET' }, limitMs);
  }

  post(path: string, body: object, limitMs = ANSWER_LIMIT_MS): Promise<Reply> {
    return this.#ask(path, { method: 'POST', body: JSON.stringify(body) }, limitMs);
  }

  async #ask(path: string, sent: { method: string; body?: string }, limitMs: number): Promise<Reply> {
    const type = sent.body === undefined ? {} : { 'content-type': 'application/json' };
    try {
      const answer = await fetch(`${this.url}${path}`, {
        ...sent,
        headers: { authorization: `Bearer ${this.#key}`, ...type },
        signal: AbortSignal.timeout(limitMs),
      });
      return { status: answer.status, body: await answer.text() };
    } catch (error) {
      return { status: 0, body: String(error) };
    }
  }

  /** Ends everything permanently: an interrupted run may be about to start the service again. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.killAll();
  }

  /** Kills the service and every engine on its directory. */
  async killAll(): Promise<void> {
    await this.end('SIGKILL');
    const deadline = clock.monotonic() + READY_LIMIT_MS;
    while (this.enginePids().length > 0 && clock.monotonic() < deadline) {
      this.signalEngines('SIGKILL');
      await sleep(clock, 20);
    }
  }
}

function commandLineOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // It ended while the list was read.
    return [];
  }
}
