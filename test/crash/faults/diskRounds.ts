/**
 * Fills the file system of the data directory for some seconds, frees it, and lets the service continue or start again.
 */
import { request } from 'node:http';
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import { socketPath } from '../../../src/store/engine/paths.ts';
import { DATABASE, TABLES } from '../../../src/store/tables/schema.ts';
import type { FaultRunOptions, FileSystemKind } from '../command.ts';
import { FILE_SYSTEMS } from '../command.ts';
import { addCounts, COUNTS_NONE, type Counts } from './compareRecord.ts';
import { type FaultOptions, type FaultResult, FaultRig } from './faultRig.ts';
import { LimitedFileSystem } from './limitedFileSystem.ts';
import type { ServiceProcess } from './serviceProcess.ts';

const DISK_RESERVE = '8MiB';
const RECORD_MS = { low: 1_000, high: 4_000 };
const FULL_SECONDS = 10;
const FULL_LONG_SECONDS = 60;
const LONG_SHARE = 0.1;
const MERGE_MS_MAX = 50;
const ASK_PERIOD_MS = 1_000;
/** A disk that is full for this long must show in `/readyz`. */
const SHOWN_WITHIN_MS = 9_000;
/** After space is freed every endpoint must answer within this time. */
const ANSWER_LIMIT_MS = 30_000;
const EXAMPLES_MAX = 5;

const MOMENTS = ['running', 'merge', 'start'] as const;
type Moment = (typeof MOMENTS)[number];

export async function runDiskRounds(options: FaultOptions & FaultRunOptions): Promise<FaultResult> {
  return FaultRig.with(options, async (rig) => {
    const rounds = new DiskFaultRun(rig, options);
    for (let round = 1; round <= options.rounds; round++) await rounds.run(round);
    return rounds.result();
  });
}

class DiskFaultRun {
  readonly #rig: FaultRig;
  readonly #options: FaultOptions & FaultRunOptions;
  readonly #moments: Record<Moment, number> = { running: 0, merge: 0, start: 0 };
  #counts: Counts = COUNTS_NONE;
  #exits = 0;
  #notInTime = 0;
  #neverTrusted = 0;

  constructor(rig: FaultRig, options: FaultOptions & FaultRunOptions) {
    this.#rig = rig;
    this.#options = options;
  }

  result(): FaultResult {
    const { startsFailed, endpointErrors } = this.#rig;
    const { running, merge, start } = this.#moments;
    const moments = { filledRunning: running, filledInMerge: merge, filledAtStart: start };
    const faults = { exits: this.#exits, notInTime: this.#notInTime, neverTrusted: this.#neverTrusted };
    return { ...this.#counts, ...moments, ...faults, startsFailed, endpointErrors };
  }

  async run(round: number): Promise<void> {
    const { random } = this.#rig;
    const kind = this.#options.fileSystem ?? (FILE_SYSTEMS[round % FILE_SYSTEMS.length] as FileSystemKind);
    const moment = MOMENTS[random.below(MOMENTS.length)] as Moment;
    const drawn = random.chance(LONG_SHARE) ? FULL_LONG_SECONDS : FULL_SECONDS;
    const seconds = this.#options.seconds ?? drawn;
    this.#moments[moment]++;
    const files = LimitedFileSystem.mount(kind);
    this.#rig.whenOver(() => files.unmount());
    this.#rig.record.forgetAll();
    const service = await this.#rig.service(files.dataDir, { UNDERROUND_DISK_RESERVE: DISK_RESERVE });
    await this.#fillAndFree({ service, files, moment, seconds });
    await this.#judge(service);
    await service.killAll();
    await files.unmount();
    const { rows, missing, coveredByGaps } = this.#counts;
    const so = `${rows} rows, ${coveredByGaps} in gaps, ${missing} missing, ${this.#rig.startsFailed} failed starts`;
    this.#rig.say(
      `${round} of ${this.#options.rounds}: ${kind} full for ${seconds} s, ${moment}; ${so} so far`,
    );
  }

  async #fillAndFree(parts: {
    service: ServiceProcess;
    files: LimitedFileSystem;
    moment: Moment;
    seconds: number;
  }): Promise<void> {
    const { service, files, moment, seconds } = parts;
    const { random } = this.#rig;
    if (!(await this.#rig.start(service))) return;
    if (!(await this.#rig.whenTrusted(service))) this.#neverTrusted++;
    await this.#rig.whenSettled(service);
    await sleep(clock, random.uniform(RECORD_MS.low, RECORD_MS.high));
    if (moment === 'start') await service.end(random.chance(0.5) ? 'SIGKILL' : 'SIGTERM');
    if (moment === 'merge') {
      void mergeAll(service.dataDir);
      await sleep(clock, random.uniform(0, MERGE_MS_MAX));
    }
    files.fill();
    if (moment === 'start') service.start();
    await this.#watchFull(service, { moment, seconds });
    files.free();
    await this.#goOn(service, moment);
  }

  /** Requests every endpoint about once a second while the disk is full. */
  async #watchFull(
    service: ServiceProcess,
    { moment, seconds }: { moment: Moment; seconds: number },
  ): Promise<void> {
    const until = clock.monotonic() + seconds * 1_000;
    let isShown = false;
    const look = async () => {
      isShown ||= service.isRunning && (await service.get('/readyz')).status === 503;
    };
    while (clock.monotonic() < until) {
      if (service.isRunning && service.url !== null) {
        await look();
        this.#note(await this.#rig.askAll(service, (status) => [200, 404, 502, 503].includes(status)));
      }
      await sleep(clock, Math.min(ASK_PERIOD_MS, Math.max(0, until - clock.monotonic())));
    }
    // A start on a full disk may fail; a running service must continue.
    if (moment === 'start') return;
    // One more poll: on a busy machine all the endpoints together may have taken longer than the period.
    await look();
    if (!service.isRunning) {
      this.#exits++;
      this.#rig.say(`the service ended while the disk was full: ${service.log.slice(-800)}`);
    } else if (!isShown && seconds * 1_000 >= SHOWN_WITHIN_MS) {
      this.#notInTime++;
      this.#rig.say('/readyz was 200 all the time while the disk was full');
    }
  }

  /** After space was freed: the service continues, or a start must succeed. */
  async #goOn(service: ServiceProcess, moment: Moment): Promise<void> {
    const { random } = this.#rig;
    if (service.isRunning && moment === 'start') await service.whenReady();
    const isUp = service.isRunning && service.url !== null;
    if (isUp && random.chance(0.5)) return;
    if (isUp) await service.end(random.chance(0.5) ? 'SIGKILL' : 'SIGTERM');
    else await service.killAll();
    if (!(await this.#rig.start(service))) await this.#rig.start(service);
  }

  async #judge(service: ServiceProcess): Promise<void> {
    if (!service.isRunning) return;
    if (!(await this.#rig.whenTrusted(service))) this.#neverTrusted++;
    const deadline = clock.monotonic() + ANSWER_LIMIT_MS;
    let wrong = await this.#rig.askAll(service, (status) => status === 200);
    while (wrong.length > 0 && clock.monotonic() < deadline) {
      await sleep(clock, ASK_PERIOD_MS);
      wrong = await this.#rig.askAll(service, (status) => status === 200);
    }
    this.#note(wrong);
    this.#counts = addCounts(this.#counts, await this.#rig.compare(service));
  }

  #note(wrong: readonly string[]): void {
    this.#rig.endpointErrors += wrong.length;
    for (const line of wrong.slice(0, EXAMPLES_MAX)) this.#rig.say(line);
  }
}

/** Makes the engine merge its parts; never rejects, because the disk is filled meanwhile. */
async function mergeAll(dataDir: string): Promise<void> {
  for (const table of Object.keys(TABLES)) {
    await new Promise<void>((resolve) => {
      const asked = request(
        { socketPath: socketPath(dataDir), method: 'POST', path: '/', timeout: ANSWER_LIMIT_MS },
        (response) => response.resume().once('close', resolve),
      );
      asked.once('error', () => resolve()).once('timeout', () => asked.destroy());
      asked.end(`OPTIMIZE TABLE ${DATABASE}.${table} FINAL`);
    });
  }
}
