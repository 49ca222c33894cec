/**
 * Makes the store slow for some time and then releases it: `stall` stops the engine with SIGSTOP, `starve` limits
 * service and engine to a share of one core, `slow-disk` freezes the file system of the data directory again and again,
 * and kills and starts the service on it. The lag must be reported, and be gone within 15 s; no row may be lost, and no
 * backtest that the service accepted meanwhile.
 */
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import type { FaultRunOptions } from '../command.ts';
import { AcceptedJobs } from './acceptedJobs.ts';
import { addCounts, COUNTS_NONE, type Counts } from './compareRecord.ts';
import { CpuGroup } from './cpuGroup.ts';
import { type FaultOptions, type FaultResult, FaultRig } from './faultRig.ts';
import { LimitedFileSystem } from './limitedFileSystem.ts';
import type { ServiceProcess } from './serviceProcess.ts';
import { SlowDisk } from './slowDisk.ts';
import { notReady, storedLagMs } from './storedLag.ts';

const POLL_MS = 500;
/** The lag from which the service must report that it is not ready, and the time limit for that report. */
const LAG_LIMIT_MS = 10_000;
const SHOWN_WITHIN_MS = 10_000;
const CURRENT_WITHIN_MS = 15_000;
/** Beyond the limit, to report the real duration. */
const CURRENT_WAIT_MS = 300_000;
/** Normally rows reach the store within a second or two. */
const CURRENT_LAG_MS = 3_000;
/** How long the answer to a backtest may take: as long as a slow disk is frozen. */
const JOB_LIMIT_MS = 5_000;
const DISK_MIB = 1_024;
const DISK_RESERVE = '64MiB';

interface Slowness {
  /** Runs before the release, while the store is still slow. */
  atEnd?(): Promise<void>;
  release(): void | Promise<void>;
}

/** Where the services of a run have their data. */
interface Place {
  dataDirOf(rig: FaultRig): string;
  readonly environment: Readonly<Record<string, string>>;
}

type Slow = (rig: FaultRig, service: ServiceProcess) => Slowness;
type Options = FaultOptions & FaultRunOptions;

export function runStallRounds(options: Options): Promise<FaultResult> {
  return runSlowRounds(options, (rig, service) => {
    service.signalEngines('SIGSTOP');
    const release = () => service.signalEngines('SIGCONT');
    rig.whenOver(release);
    return { release };
  });
}

export function runStarveRounds(options: Options): Promise<FaultResult> {
  return runSlowRounds(options, (rig, service) => {
    const group = CpuGroup.create(`underround-crash-${process.pid}`, options.percent);
    rig.whenOver(() => group.remove());
    group.add([service.pid ?? 0, ...service.enginePids()]);
    return { release: () => group.remove() };
  });
}

export async function runSlowDiskRounds(options: Options): Promise<FaultResult> {
  let files: LimitedFileSystem;
  const dataDirOf = (rig: FaultRig) => {
    files = LimitedFileSystem.mount('ext4', DISK_MIB);
    rig.whenOver(() => files.unmount());
    return files.dataDir;
  };
  const slow: Slow = (rig, service) => {
    const disk = new SlowDisk(files, rig.random);
    rig.whenOver(() => disk.release());
    const atEnd = async () => {
      await service.killAll();
      await rig.start(service);
    };
    return { atEnd, release: () => disk.release() };
  };
  return await runSlowRounds(options, slow, {
    dataDirOf,
    environment: { UNDERROUND_DISK_RESERVE: DISK_RESERVE },
  });
}

interface Round {
  readonly framesPerSecond: number;
  /** The largest lag observed while the store was slow. */
  readonly lagMsMax: number;
  /** From a lag of 10 s to the first `/readyz` with 503; null: it never happened, or was not required. */
  readonly shownAfterMs: number | null;
  readonly isShownLate: boolean;
  /** From the end of the fault until stored data was current and `/readyz` was 200; null: not within minutes. */
  readonly currentAfterMs: number | null;
  /** Backtests accepted while the store was slow, and those of them that never ended. */
  readonly jobs: number;
  readonly jobsLost: number;
}

async function runSlowRounds(
  options: Options,
  slow: Slow,
  place: Place = { dataDirOf: (rig) => rig.temporaryDirectory(), environment: {} },
): Promise<FaultResult> {
  return FaultRig.with(options, async (rig) => {
    let counts: Counts = COUNTS_NONE;
    let [notInTime, jobs, jobsLost] = [0, 0, 0];
    const rounds: Round[] = [];
    for (let n = 1; n <= options.rounds; n++) {
      rig.record.forgetAll();
      const service = await rig.service(place.dataDirOf(rig), place.environment);
      if (!(await rig.start(service))) continue;
      const round = await runRound(rig, service, { slow, seconds: options.seconds ?? 0 });
      counts = addCounts(counts, await rig.compare(service));
      rig.endpointErrors += (await rig.askAll(service, (status) => status === 200)).length;
      await service.end('SIGTERM');
      jobs += round.jobs;
      jobsLost += round.jobsLost;
      if (round.isShownLate) notInTime++;
      if (round.currentAfterMs === null || round.currentAfterMs > CURRENT_WITHIN_MS) notInTime++;
      rounds.push(round);
      rig.say(
        `${n} of ${options.rounds}: ${JSON.stringify(round)}, ${counts.missing} of ${counts.rows} rows missing`,
      );
    }
    const { startsFailed, endpointErrors } = rig;
    return { ...counts, ...worstOf(rounds), notInTime, jobs, jobsLost, startsFailed, endpointErrors };
  });
}

async function runRound(
  rig: FaultRig,
  service: ServiceProcess,
  { slow, seconds }: { slow: Slow; seconds: number },
): Promise<Round> {
  await rig.whenTrusted(service);
  await rig.whenSettled(service);
  const [framesBefore, startMs] = [rig.record.framesSent, clock.monotonic()];
  const { atEnd, release } = slow(rig, service);
  const jobs = new AcceptedJobs();
  const shown = await watchSlow(rig, service, { jobs, untilMs: startMs + seconds * 1_000 });
  const framesPerSecond = ((rig.record.framesSent - framesBefore) * 1_000) / (clock.monotonic() - startMs);
  await atEnd?.();
  await release();
  const currentAfterMs = await whenCurrent(rig, service);
  rig.say(`current ${currentAfterMs} ms after the fault ended`);
  const ended = { currentAfterMs, jobs: jobs.accepted, jobsLost: await jobs.lost(service) };
  return { framesPerSecond: Math.round(framesPerSecond), ...shown, ...ended };
}

/**
 * Polls the lag and the service's report of it. The lag of a store that does not answer is its last lag plus the time
 * since the first unanswered request.
 */
async function watchSlow(
  rig: FaultRig,
  service: ServiceProcess,
  { jobs, untilMs }: { jobs: AcceptedJobs; untilMs: number },
) {
  const started = clock.monotonic();
  let measured = { lagMs: 0, atMs: started };
  let [lagMsMax, behindAtMs, shownAtMs]: [number, number | null, number | null] = [0, null, null];
  const ask = unlessRunning(async () => {
    const atMs = clock.monotonic();
    const lagMs = await storedLagMs(service, rig.record);
    if (lagMs !== null) measured = { lagMs, atMs };
  });
  const offer = unlessRunning(() => jobs.offer(service, JOB_LIMIT_MS));
  while (clock.monotonic() < untilMs) {
    ask();
    offer();
    const { isShown, reasons } = notReady(await service.get('/readyz', POLL_MS * 4));
    const nowMs = clock.monotonic();
    const silentMs = nowMs - measured.atMs;
    const lagMs = measured.lagMs + (silentMs > 2 * POLL_MS ? silentMs : 0);
    lagMsMax = Math.max(lagMsMax, lagMs);
    if (behindAtMs === null && lagMs > LAG_LIMIT_MS) behindAtMs = nowMs;
    if (isShown && shownAtMs === null) {
      shownAtMs = nowMs;
      rig.say(
        `not ready after ${Math.round((nowMs - started) / 1_000)} s, ${Math.round(lagMs)} ms behind: ${reasons}`,
      );
    }
    await sleep(clock, POLL_MS);
  }
  const shownAfterMs = shownAtMs === null ? null : Math.round(shownAtMs - (behindAtMs ?? shownAtMs));
  const hadTime = behindAtMs !== null && untilMs - behindAtMs > SHOWN_WITHIN_MS;
  const isShownLate = hadTime && (shownAfterMs === null || shownAfterMs > SHOWN_WITHIN_MS);
  return { lagMsMax: Math.round(lagMsMax), shownAfterMs, isShownLate };
}

/** A function that starts the call, unless the one before it has not ended. */
function unlessRunning(call: () => Promise<void>): () => void {
  let isRunning = false;
  return () => {
    if (isRunning) return;
    isRunning = true;
    void call().finally(() => {
      isRunning = false;
    });
  };
}

async function whenCurrent(rig: FaultRig, service: ServiceProcess): Promise<number | null> {
  const started = clock.monotonic();
  while (clock.monotonic() - started < CURRENT_WAIT_MS) {
    const lagMs = await storedLagMs(service, rig.record);
    const { status } = await service.get('/readyz');
    if (lagMs !== null && lagMs <= CURRENT_LAG_MS && status === 200)
      return Math.round(clock.monotonic() - started);
    await sleep(clock, POLL_MS);
  }
  return null;
}

/** In seconds, the worst of all rounds; -1: never. */
function worstOf(rounds: readonly Round[]): Record<string, number> {
  const seconds = (ms: number | null) => (ms === null ? -1 : Math.round(ms / 100) / 10);
  const worst = (values: readonly (number | null)[]) =>
    values.includes(null) || values.length === 0 ? -1 : seconds(Math.max(...values.map(Number)));
  return {
    framesPerSecond: Math.min(...rounds.map(({ framesPerSecond }) => framesPerSecond)),
    lagSecondsMax: worst(rounds.map(({ lagMsMax }) => lagMsMax)),
    shownAfterSeconds: worst(rounds.map(({ shownAfterMs }) => shownAfterMs)),
    currentAfterSeconds: worst(rounds.map(({ currentAfterMs }) => currentAfterMs)),
  };
}
