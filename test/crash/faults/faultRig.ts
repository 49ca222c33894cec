/**
 * The basis of every fault run: one venue for the whole run, its record, seeded randomness, CPU load, and cleanup that
 * always runs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../../src/core/random.ts';
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { VenueModel } from '../../../src/simulator/model.ts';
import { VenueServer } from '../../../src/simulator/server.ts';
import { makeServiceKey } from '../../support/serviceKey.ts';
import { addCounts, COUNTS_NONE, type Counts, compareMarket } from './compareRecord.ts';
import { endpointsOf, readGaps, readMarket, ServedError } from './servedMarket.ts';
import { ServiceProcess } from './serviceProcess.ts';
import { type MarketRecord, VenueRecord } from './venueRecord.ts';

/** The current and the next window of 5 kinds and 3 tickers. */
const MARKETS_IN_PLAY = 30;
const TRUSTED_LIMIT_MS = 30_000;
/** Time limit for inserting dead runs' rows: beside twenty busy processes it takes ten seconds. */
const RECOVERY_LIMIT_MS = 900_000;
/** A store with a lag below this has inserted all rows of dead runs. */
const RECOVERED_LAG_SECONDS = 5;
/** Time limit for serving rows that are on their way into the store. */
const SETTLE_LIMIT_MS = 90_000;
const SETTLE_PAUSE_MS = 2_000;
const POLL_MS = 50;
const EXAMPLES_MAX = 10;
/** Length of the service's log that is printed when rows are missing. */
const LOG_CHARACTERS_MAX = 6_000;
/** Counters of `/metrics` that show how a row may have been lost. */
const COUNTERS_OF_LOSS =
  /^underround_(mismatches|book_audits|frames|actions|gaps|feed_handover|feed_lag|clob|store_dropped|store_insert_retries|journal)/;
/** Checks its parent regularly, so that it ends with the parent even after a kill. */
const SPIN = 'const p=process.ppid;for(;;){for(let i=0;i<2e8;i++);if(process.ppid!==p)process.exit()}';

export interface FaultOptions {
  readonly rounds: number;
  readonly seed: string;
  /** Live book changes as a share of the real venue's. */
  readonly density: number;
  readonly progress: (line: string) => void;
}

/** Results of a run besides its counts; the `bad` members must be 0. */
export type FaultResult = Counts & Readonly<Record<string, number | string>>;

export class FaultRig {
  readonly random: Random;
  readonly record: VenueRecord;
  readonly venue: VenueServer;
  startsFailed = 0;
  endpointErrors = 0;
  readonly #options: FaultOptions;
  readonly #undo: (() => unknown)[] = [];
  readonly #saidGaps = new Set<string>();
  #closing: Promise<void> | null = null;

  private constructor(options: FaultOptions) {
    this.#options = options;
    this.random = new Random(`crash/${options.seed}`);
    this.record = new VenueRecord();
    const { seed, density } = options;
    const model = new VenueModel({ seed, density, startTimeMs: clock.now() - 1000 });
    this.venue = new VenueServer({ model, clock, logger: silentLogger, observer: this.record });
  }

  /** Runs `work` with a rig, and cleans up at its end and on SIGINT and SIGTERM. */
  static async with<T>(options: FaultOptions, work: (rig: FaultRig) => Promise<T>): Promise<T> {
    const rig = new FaultRig(options);
    const stop = (signal: NodeJS.Signals) => {
      rig.say(`${signal}: stopping`);
      void rig.#close().finally(() => process.exit(130));
    };
    process.once('SIGINT', stop).once('SIGTERM', stop);
    try {
      await rig.venue.start();
      rig.whenOver(() => rig.venue.stop());
      return await work(rig);
    } finally {
      await rig.#close();
      process.off('SIGINT', stop).off('SIGTERM', stop);
    }
  }

  say(line: string): void {
    this.#options.progress(line);
  }

  /** Registers a cleanup function; the newest runs first. */
  whenOver(undo: () => unknown): void {
    this.#undo.push(undo);
  }

  /** An empty directory that is removed after the run. */
  temporaryDirectory(): string {
    const path = mkdtempSync(join(tmpdir(), 'underround-fault-'));
    this.whenOver(() => rmSync(path, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 }));
    return path;
  }

  /** A service on a data directory, with a key; not started yet. */
  async service(
    dataDir: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<ServiceProcess> {
    const key = await makeServiceKey(dataDir);
    const log = { UNDERROUND_LOG_LEVEL: 'warn' };
    const service = new ServiceProcess({
      dataDir,
      key,
      environment: { ...log, ...this.venue.urls(), ...environment },
    });
    this.whenOver(() => service.close());
    return service;
  }

  /** Keeps processes busy until the run is over; one per core if `count` is null. */
  loadCpu(count: number | null): void {
    const children: ChildProcess[] = [];
    for (let i = 0; i < (count ?? availableParallelism()); i++)
      children.push(spawn(process.execPath, ['-e', SPIN], { stdio: 'ignore' }));
    this.whenOver(() => {
      for (const child of children) child.kill('SIGKILL');
    });
  }

  /** Starts a service and waits until it accepts requests; counts a failed start. */
  async start(service: ServiceProcess): Promise<boolean> {
    service.start();
    if (await service.whenReady()) return true;
    this.startsFailed++;
    this.say(`a start failed: ${service.log.slice(-1500)}`);
    await service.killAll();
    return false;
  }

  /** Waits until every current market is followed and no gap is open. @returns Whether that happened in time. */
  async whenTrusted(service: ServiceProcess, limitMs = TRUSTED_LIMIT_MS): Promise<boolean> {
    const deadline = clock.monotonic() + limitMs;
    while (clock.monotonic() < deadline && service.isRunning) {
      const { status, body } = await service.get('/metrics');
      const open = /^underround_gaps_open(?:\{[^}]*\})? (\d+)/m.exec(body)?.[1];
      if (status === 200 && open === '0' && this.record.followed >= MARKETS_IN_PLAY) return true;
      await sleep(clock, POLL_MS);
    }
    return false;
  }

  /**
   * Requests a row of each market whose recording is not confirmed. A starved service receives frames seconds after
   * they were sent, so only a served row shows that recording has begun.
   * @returns Whether every market has one.
   */
  async settle(service: ServiceProcess): Promise<boolean> {
    for (const marketId of this.record.unsettled()) {
      const { status, body } = await service.get(`/v1/snapshots?market_id=${marketId}&limit=1`);
      const rows = status === 200 ? (JSON.parse(body) as { snapshots: unknown[] }).snapshots : [];
      if (rows.length > 0) this.record.settle(marketId);
    }
    return this.record.unsettled().length === 0;
  }

  /** Repeats `settle` until every current market has a row; a market without one then counts from its first row on. */
  async whenSettled(service: ServiceProcess, limitMs = TRUSTED_LIMIT_MS): Promise<void> {
    const deadline = clock.monotonic() + limitMs;
    while (!(await this.settle(service)) && clock.monotonic() < deadline && service.isRunning)
      await sleep(clock, SETTLE_PAUSE_MS / 4);
  }

  /**
   * Compares everything the venue has sent so far with the API's data, and retries while rows are missing: they may be
   * on their way.
   */
  async compare(service: ServiceProcess): Promise<Counts> {
    await this.#whenRecovered(service);
    let open = this.record.markets();
    let whole = COUNTS_NONE;
    const examples: string[] = [];
    const deadline = clock.monotonic() + SETTLE_LIMIT_MS;
    // A pass over all markets may take longer than the limit: rows that it misses are requested once more after it.
    for (let isLast = false; ; ) {
      const found = await this.#compareOnce(service, open);
      whole = addCounts(whole, found.whole);
      open = found.open;
      examples.push(...found.examplesOfWhole);
      if (open.length === 0 || isLast || !service.isRunning) {
        for (const line of [...found.errors, ...found.examples, ...examples].slice(0, EXAMPLES_MAX))
          this.say(line);
        if (found.rest.missing > 0) await this.#sayWhatIsKnown(service);
        this.endpointErrors += found.errors.length;
        return addCounts(whole, found.rest);
      }
      isLast = clock.monotonic() > deadline;
      await sleep(clock, SETTLE_PAUSE_MS);
    }
  }

  /** Prints each served gap once. */
  async sayGaps(service: ServiceProcess): Promise<void> {
    for (const { marketId } of this.record.markets())
      for (const { gap_id, cause, start, end } of await readGaps(service, marketId)) {
        if (this.#saidGaps.has(gap_id)) continue;
        this.#saidGaps.add(gap_id);
        this.say(`gap ${cause} from ${start} to ${end ?? 'now'} in ${marketId}`);
      }
  }

  /** Prints data for finding the cause of missing rows: counters, and the end of the service's log. */
  async #sayWhatIsKnown(service: ServiceProcess): Promise<void> {
    const { body } = await service.get('/metrics');
    for (const line of body.split('\n')) if (COUNTERS_OF_LOSS.test(line)) this.say(line);
    this.say(`the service's log ends: ${service.log.slice(-LOG_CHARACTERS_MAX)}`);
  }

  /** Waits until the service is ready and the store has the rows of dead runs: until then it reports a lag. */
  async #whenRecovered(service: ServiceProcess): Promise<void> {
    const deadline = clock.monotonic() + RECOVERY_LIMIT_MS;
    let [lag, readiness] = ['unknown', 'unknown'];
    while (clock.monotonic() < deadline && service.isRunning) {
      const { status, body } = await service.get('/metrics');
      lag = /^underround_store_lag_seconds(?:\{[^}]*\})? (\S+)/m.exec(body)?.[1] ?? 'unknown';
      const ready = await service.get('/readyz');
      readiness = ready.body;
      if (status === 200 && Number(lag) <= RECOVERED_LAG_SECONDS && ready.status === 200) return;
      await sleep(clock, SETTLE_PAUSE_MS);
    }
    this.say(`the store is still behind: underround_store_lag_seconds ${lag}; /readyz ${readiness}`);
  }

  /** @returns The final counts, and the markets with missing rows, which must be compared again. */
  async #compareOnce(service: ServiceProcess, records: readonly MarketRecord[]) {
    let [whole, rest] = [COUNTS_NONE, COUNTS_NONE];
    const open: MarketRecord[] = [];
    const [examples, examplesOfWhole, errors]: [string[], string[], string[]] = [[], [], []];
    for (const record of records) {
      try {
        const served = (await readMarket(service, record.marketId)) ?? { books: [], trades: [], gaps: [] };
        const compared = compareMarket(record, served, this.record.statesOf(record.marketId));
        const isWhole = compared.missing === 0;
        (isWhole ? examplesOfWhole : examples).push(...compared.examples);
        if (isWhole) whole = addCounts(whole, compared);
        else rest = addCounts(rest, compared);
        if (!isWhole) open.push(record);
      } catch (error) {
        if (!(error instanceof ServedError)) throw error;
        errors.push(error.message);
        open.push(record);
      }
    }
    return { whole, rest, open, examples, examplesOfWhole, errors };
  }

  /** Requests every endpoint once. @returns Those with a status that is not allowed, with their answers. */
  async askAll(
    service: ServiceProcess,
    allowed: (status: number, path: string) => boolean,
  ): Promise<string[]> {
    const market = this.record.busiest();
    if (market === null) return ['the venue has sent nothing'];
    const wrong: string[] = [];
    for (const path of endpointsOf(market, clock.now())) {
      const { status, body } = await service.get(path);
      if (!allowed(status, path)) wrong.push(`${path}: ${status} ${body.slice(0, 200)}`);
    }
    return wrong;
  }

  async #close(): Promise<void> {
    this.#closing ??= (async () => {
      for (const undo of this.#undo.toReversed()) {
        try {
          await undo();
        } catch (error) {
          this.say(`could not be undone: ${String(error)}`);
        }
      }
    })();
    await this.#closing;
  }
}
