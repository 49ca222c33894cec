/** Kills the service, its engine or both at random moments, and lets the service continue to record. */
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import type { FaultRunOptions } from '../command.ts';
import { COUNTS_NONE, type Counts, countsLine } from './compareRecord.ts';
import { type FaultOptions, type FaultResult, FaultRig } from './faultRig.ts';
import { READY_LIMIT_MS, type ServiceProcess } from './serviceProcess.ts';

/** How long a service records before it is killed, once its markets are trusted. */
const LIFE_MS_MAX = 1_200;
/** Share of kills that hit a service during its start. */
const EARLY_SHARE = 0.15;
const EARLY_MS_MAX = 1_500;
/** Reading everything takes seconds: it is done once per this many rounds, and at the end. */
const COMPARED_EVERY_ROUNDS = 50;
const ENGINE_POLL_MS = 20;

type Victim = 'service' | 'engine' | 'both' | 'starting';

export function runKillRounds(options: FaultOptions & FaultRunOptions): Promise<FaultResult> {
  return FaultRig.with(options, async (rig) => {
    rig.loadCpu(options.load);
    const service = await rig.service(rig.temporaryDirectory());
    const kills: Record<Victim, number> = { service: 0, engine: 0, both: 0, starting: 0 };
    let neverTrusted = 0;
    let counts: Counts = COUNTS_NONE;
    let isUp = await startAgain(rig, service);
    for (let round = 1; isUp && round <= options.rounds; round++) {
      if (await rig.whenTrusted(service)) {
        await rig.settle(service);
      } else neverTrusted++;
      await sleep(clock, rig.random.uniform(0, LIFE_MS_MAX));
      const victim = pickVictim(rig);
      kills[victim]++;
      await kill(rig, service, victim);
      if (victim === 'engine') await whenEngineAnswers(service);
      else isUp = await startAgain(rig, service);
      if (!isUp) break;
      const isCompared = round % COMPARED_EVERY_ROUNDS === 0 || round === options.rounds;
      if (isCompared) {
        if (!(await rig.whenTrusted(service))) neverTrusted++;
        counts = await rig.compare(service);
      }
      if (isCompared || round % 10 === 0)
        rig.say(progressLine(round, options.rounds, { counts, isCompared }));
    }
    if (isUp) rig.endpointErrors += (await rig.askAll(service, (status) => status === 200)).length;
    await service.end('SIGTERM');
    const { startsFailed, endpointErrors } = rig;
    const ofVictims = { killsService: kills.service, killsEngine: kills.engine, killsBoth: kills.both };
    return {
      ...counts,
      ...ofVictims,
      killsStarting: kills.starting,
      neverTrusted,
      startsFailed,
      endpointErrors,
    };
  });
}

function pickVictim(rig: FaultRig): Victim {
  if (rig.random.chance(EARLY_SHARE)) return 'starting';
  const draw = rig.random.next();
  return draw < 0.5 ? 'service' : draw < 0.75 ? 'engine' : 'both';
}

async function kill(rig: FaultRig, service: ServiceProcess, victim: Victim): Promise<void> {
  if (victim === 'engine') return service.signalEngines('SIGKILL');
  if (victim === 'both' && rig.random.chance(0.5)) service.signalEngines('SIGKILL');
  await service.end('SIGKILL');
  if (victim === 'both') service.signalEngines('SIGKILL');
  if (victim !== 'starting') return;
  service.start();
  await sleep(clock, rig.random.uniform(0, EARLY_MS_MAX));
  await service.end('SIGKILL');
}

/** @returns Whether it runs. Each failed start is counted, and the run ends when a second one fails too. */
async function startAgain(rig: FaultRig, service: ServiceProcess): Promise<boolean> {
  return (await rig.start(service)) || (await rig.start(service));
}

async function whenEngineAnswers(service: ServiceProcess): Promise<void> {
  const deadline = clock.monotonic() + READY_LIMIT_MS;
  while (clock.monotonic() < deadline) {
    if ((await service.get('/v1/markets?limit=1')).status === 200) return;
    await sleep(clock, ENGINE_POLL_MS);
  }
}

function progressLine(
  round: number,
  rounds: number,
  { counts, isCompared }: { counts: Counts; isCompared: boolean },
): string {
  const at = `${round} of ${rounds} kills`;
  if (!isCompared) return at;
  return `${at}: ${countsLine(counts)}`;
}
