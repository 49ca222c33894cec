/** Starts the embedded engine's host, finds a running one, and restarts it when it dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { ConfigError, StoreUnavailableError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { PartCheck } from '../journal/lostPart.ts';
import { type EngineAccess, type SharedListening, STREAM_CONNECTIONS_MAX } from './access.ts';
import { endHolder, engineHolder } from './engineHolder.ts';
import { prepareSocketDirectory, socketPath } from './paths.ts';

/** libuv threads of the host: one for each engine session and some for files. The default of 4 starves queries. */
const HOST_THREADS = 16;
const SOCKETS_MAX = 64;
const PING_TIMEOUT_MS = 1_000;
/** Time limit of the first start: the host of a process that just died may still hold the directory's lock. */
const START_LIMIT_MS = 20_000;
/** One round reads 256 MiB, or one larger part. */
const CHECK_TIMEOUT_MS = 600_000;
const BACKOFF_MS_MIN = 50;
const BACKOFF_MS_MAX = 5_000;
/** All refused logins are counted; one of this time is logged. */
const REFUSAL_LOG_MS = 10_000;

interface SupervisorOptions {
  dataDir: string;
  /** The host's compiled entry. */
  entry: string;
  /** The engine starts no work that would leave less free space. */
  keepFreeBytes?: number;
  /** Where the host also listens. It must then be this process's own host: another one does not listen there. */
  listen?: SharedListening;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

export class Supervisor implements EngineAccess {
  readonly url = 'http://engine.local';
  readonly agent: Agent;
  readonly streamAgent: Agent;
  readonly #options: SupervisorOptions;
  readonly #socket: string;
  readonly #restarts;
  readonly #refusedLogins;
  #child: ChildProcess | null = null;
  #starting: Promise<boolean> | null = null;
  #closed = false;
  /** Where the host listens: a restarted one has the same port. */
  #port: number | null;
  #refusalLoggedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#socket = socketPath(options.dataDir);
    const reach = { keepAlive: true, ...{ socketPath: this.#socket } };
    this.agent = new Agent({ ...reach, maxSockets: SOCKETS_MAX });
    this.streamAgent = new Agent({ ...reach, maxSockets: STREAM_CONNECTIONS_MAX });
    this.#restarts = options.metrics.counter(
      'underround_store_engine_restarts_total',
      'Times the embedded engine was started again after it ended on its own',
    );
    this.#refusedLogins = options.metrics.counter(
      'underround_store_refused_logins_total',
      'Requests to the shared embedded engine that were refused because of their user or password',
    );
    this.#port = options.listen?.port ?? null;
  }

  /** @throws {StoreUnavailableError} When no engine answers within the start limit. */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    const supervisor = new Supervisor(options);
    if (await supervisor.#ensure(START_LIMIT_MS)) return supervisor;
    await supervisor.close();
    throw await supervisor.#startFailure();
  }

  async #startFailure(): Promise<StoreUnavailableError> {
    const { dataDir } = this.#options;
    const pid = await engineHolder(dataDir);
    if (pid !== null && (await this.#ping()))
      return new StoreUnavailableError(
        `process ${pid} runs the engine of ${dataDir} already, for another process of this service; stop that one first`,
      );
    if (pid !== null)
      return new StoreUnavailableError(
        `process ${pid} holds the engine of ${dataDir} and does not answer; ${endHolder(pid)}`,
      );
    return new StoreUnavailableError(
      `the embedded engine did not start within ${START_LIMIT_MS} ms; its own reason is in the lines before this one. ` +
        `Free space if the disk is full and start again; if the reason is a lock, end the process that holds it, perhaps in ` +
        `another container; else move what the reason names out of ${dataDir}/engine`,
    );
  }

  /** Process id of the host that this process started; null while it uses another's. */
  get hostPid(): number | null {
    return this.#child?.pid ?? null;
  }

  get port(): number | null {
    return this.#port;
  }

  async whenReady(limitMs: number): Promise<void> {
    if (this.#closed) return;
    await Promise.race([this.#ensure(START_LIMIT_MS), sleep(this.#options.clock, limitMs)]);
  }

  checkParts(acknowledged: readonly string[]): Promise<PartCheck> {
    return new Promise((resolve, reject) => {
      const options = { socketPath: this.#socket, path: '/check-parts', method: 'POST' };
      const check = request({ ...options, timeout: CHECK_TIMEOUT_MS }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if (response.statusCode === 200) resolve(JSON.parse(text) as PartCheck);
          else reject(new StoreUnavailableError(`parts could not be checked: ${text.trim()}`));
        });
      });
      check.once('timeout', () => check.destroy(new Error('no answer')));
      check.once('error', reject);
      check.end(JSON.stringify(acknowledged));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.agent.destroy();
    this.streamAgent.destroy();
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.stdin?.end();
    await gone;
  }

  /** Concurrent calls share one start; true once an engine answers. */
  #ensure(limitMs: number): Promise<boolean> {
    this.#starting ??= this.#findOrStart(limitMs).finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #findOrStart(limitMs: number): Promise<boolean> {
    const { clock, log } = this.#options;
    const deadline = clock.monotonic() + limitMs;
    for (let backoffMs = BACKOFF_MS_MIN; !this.#closed; backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX)) {
      if (await this.#tryOnce()) return true;
      if (clock.monotonic() + backoffMs > deadline) return false;
      log.warn({ backoffMs }, 'store.engine.start_retried');
      await sleep(clock, backoffMs);
    }
    return false;
  }

  /** @throws {ConfigError} When another user may have created the socket's directory. */
  async #tryOnce(): Promise<boolean> {
    try {
      prepareSocketDirectory(this.#options.dataDir, this.#socket);
      if (this.#mayUseFound() && (await this.#ping())) return true;
      return await this.#spawn();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      // Without a descriptor left neither file nor process can be opened. A later try may.
      this.#options.log.error({ err: error }, 'store.engine.not_started');
      return false;
    }
  }

  /** Whether a host that answers is good enough, whoever started it. */
  #mayUseFound(): boolean {
    return this.#options.listen === undefined || this.#child !== null;
  }

  /** Starts a host; true when it reported `ready`, false when it ended before (the lock is held, or it failed). */
  #spawn(): Promise<boolean> {
    const { dataDir, entry, log } = this.#options;
    const args = [entry, '--data-dir', dataDir, '--socket', this.#socket, '--log-level', log.level];
    if (this.#options.keepFreeBytes) args.push('--keep-free', String(this.#options.keepFreeBytes));
    const { listen } = this.#options;
    if (listen) args.push('--listen-host', listen.host, '--listen-port', String(this.#port));
    const child = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      // None of the service's environment: its secrets stay here. The password is no argument, which all users may read.
      env: {
        ...{ UV_THREADPOOL_SIZE: String(HOST_THREADS), TZ: 'UTC' },
        ...(listen ? { UNDERROUND_STORE_PASSWORD: listen.password.reveal() } : {}),
      },
    });
    const { stdout } = child;
    // Node makes no pipe where the process may open no further file; it then reports only an error.
    if (!stdout) return new Promise((_, reject) => child.once('error', reject));
    this.#child = child;
    child.stdin?.on('error', () => undefined);
    return new Promise((resolve) => {
      let ready = false;
      createInterface({ input: stdout }).on('line', (line) => {
        const [word, value] = line.split(' ');
        if (word === 'listening') this.#port = Number(value);
        if (word === 'refused') this.#onRefusedLogin();
        if (word !== 'ready') return;
        ready = true;
        resolve(true);
      });
      child.once('error', () => resolve(false));
      child.once('exit', (exitCode, signal) => {
        if (this.#child === child) this.#child = null;
        resolve(false);
        if (!ready || this.#closed) return;
        this.#restarts.inc();
        log.error({ exitCode, signal }, 'store.engine.died');
        this.#ensure(START_LIMIT_MS).catch((err: unknown) => log.error({ err }, 'store.engine.not_started'));
      });
    });
  }

  #onRefusedLogin(): void {
    this.#refusedLogins.inc();
    const { clock, log } = this.#options;
    if (clock.monotonic() - this.#refusalLoggedAtMs < REFUSAL_LOG_MS) return;
    this.#refusalLoggedAtMs = clock.monotonic();
    log.warn({}, 'store.login_refused');
  }

  #ping(): Promise<boolean> {
    return new Promise((resolve) => {
      const ping = request(
        { socketPath: this.#socket, path: '/ping', timeout: PING_TIMEOUT_MS },
        (response) => {
          response.resume();
          resolve(response.statusCode === 200);
        },
      );
      ping.once('timeout', () => ping.destroy(new Error('no answer')));
      ping.once('error', () => resolve(false));
      ping.end();
    });
  }
}
