/**
 * Lets service and engine open no further file (`descriptors`), or reserve little further memory (`memory`), while
 * every endpoint is asked. A process may end; no row may be lost without a gap, and afterwards everything works again.
 */
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import type { FaultRunOptions } from '../command.ts';
import { addCounts, COUNTS_NONE, type Counts } from './compareRecord.ts';
import { type FaultOptions, type FaultResult, FaultRig } from './faultRig.ts';
import { holdAtPresentUse } from './processLimit.ts';
import { endpointsOf } from './servedMarket.ts';
import type { ServiceProcess } from './serviceProcess.ts';
import { notReady } from './storedLag.ts';

const POLL_MS = 250;
/** A process at its limit may leave a request without an answer. */
const ASK_LIMIT_MS = 2_000;
const TRUSTED_WITHIN_MS = 60_000;
/** A process that cannot go on ends within this time. */
const END_MS = 2_000;
const LOG_CHARACTERS_MAX = 4_000;

type Options = FaultOptions & FaultRunOptions;

export function runLimitRounds(kind: 'descriptors' | 'memory', options: Options): Promise<FaultResult> {
  return FaultRig.with(options, async (rig) => {
    let counts: Counts = COUNTS_NONE;
    let [notInTime, serviceEnds, engineEnds, roundsReported] = [0, 0, 0, 0];
    for (let n = 1; n <= options.rounds; n++) {
      rig.record.forgetAll();
      const service = await rig.service(rig.temporaryDirectory());
      if (!(await rig.start(service))) continue;
      await rig.whenTrusted(service);
      await rig.whenSettled(service);
      const engines = service.enginePids();
      const release = holdAtPresentUse(
        () => [service.pid, ...service.enginePids()].filter((pid) => pid !== null),
        kind,
      );
      rig.whenOver(release);
      const reasons = await askUntil(rig, service, clock.monotonic() + (options.seconds ?? 0) * 1_000);
      release();
      await sleep(clock, END_MS);
      if (reasons.length > 0) roundsReported++;
      if (service.enginePids().every((pid) => !engines.includes(pid))) engineEnds++;
      if (!service.isRunning) {
        serviceEnds++;
        rig.say(`the service ended: ${service.log.slice(-LOG_CHARACTERS_MAX)}`);
        if (!(await rig.start(service))) continue;
      }
      if (!(await rig.whenTrusted(service, TRUSTED_WITHIN_MS))) notInTime++;
      counts = addCounts(counts, await rig.compare(service));
      await rig.sayGaps(service);
      rig.endpointErrors += (await rig.askAll(service, (status) => status === 200)).length;
      await service.end('SIGTERM');
      rig.say(
        `${n} of ${options.rounds}: ${JSON.stringify({ ...counts, serviceEnds, engineEnds })}; ${reasons.join(' | ')}`,
      );
    }
    const { startsFailed, endpointErrors } = rig;
    const ends = { serviceEnds, engineEnds, roundsReported };
    return { ...counts, ...ends, notInTime, startsFailed, endpointErrors };
  });
}

/** @returns The reasons of `/readyz`, each once. */
async function askUntil(rig: FaultRig, service: ServiceProcess, untilMs: number): Promise<string[]> {
  const seen = new Set<string>();
  const paths = endpointsOf(rig.record.busiest() ?? '', clock.now());
  for (let n = 0; clock.monotonic() < untilMs && service.isRunning; n++) {
    const { isShown, reasons } = notReady(await service.get('/readyz', ASK_LIMIT_MS));
    if (isShown) seen.add(String(reasons));
    await service.get(paths[n % paths.length] as string, ASK_LIMIT_MS);
    await sleep(clock, POLL_MS / 5);
  }
  while (clock.monotonic() < untilMs) await sleep(clock, POLL_MS);
  return [...seen];
}
