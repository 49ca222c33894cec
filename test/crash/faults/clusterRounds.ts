/** Kills one process of a cluster after the other, while at least one of each role lives. */
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import type { FaultRunOptions } from '../command.ts';
import { PROCESSES, type ProcessName, startCluster } from './clusterRig.ts';
import { COUNTS_NONE, type Counts } from './compareRecord.ts';
import { type FaultOptions, type FaultResult, FaultRig } from './faultRig.ts';

/** Between the restart of one process and the kill of the next: both collectors see the venue again. */
const DEFAULT_PAUSE_SECONDS = 30;
/** How long a killed process stays away. */
const AWAY_MS_MAX = 5_000;
const COMPARED_EVERY_ROUNDS = 10;
/** The process whose API is compared; it is never killed. */
const WITNESS = 'api1';

type Victim = ProcessName | 'nats' | 'store';
const VICTIMS: readonly Victim[] = [
  ...(Object.keys(PROCESSES) as ProcessName[]).filter((name) => name !== WITNESS && name !== 'worker'),
  'worker',
  'nats',
  'store',
];

/**
 * One round: a process is killed, stays away for some seconds, and starts again. With one collector alive at any time
 * no change may be lost, doubled or inside a gap.
 */
export function runClusterRounds(options: FaultOptions & FaultRunOptions): Promise<FaultResult> {
  return FaultRig.with(options, async (rig) => {
    const cluster = await startCluster(rig);
    const witness = cluster.process(WITNESS);
    if (!(await rig.whenTrusted(witness))) rig.say('not every market is trusted before the first kill');
    await rig.whenSettled(witness);
    const victims =
      options.victims === null ? VICTIMS : VICTIMS.filter((name) => options.victims?.includes(name));
    if (victims.length === 0) throw new Error(`--victims are of: ${VICTIMS.join(', ')}`);
    let counts: Counts = COUNTS_NONE;
    for (let round = 1; round <= options.rounds; round++) {
      const victim = victims[(round - 1) % victims.length] as Victim;
      const away = () => sleep(clock, rig.random.uniform(0, AWAY_MS_MAX));
      if (victim === 'nats') {
        const server = cluster.nats[Math.floor(rig.random.uniform(0, cluster.nats.length))];
        await server?.kill();
        await away();
        await server?.start();
      } else {
        const process = victim === 'store' ? cluster.store : cluster.process(victim);
        await process.end('SIGKILL');
        await away();
        if (!(await rig.start(process)) && !(await rig.start(process))) break;
      }
      await sleep(clock, (options.seconds ?? DEFAULT_PAUSE_SECONDS) * 1_000);
      await rig.settle(witness);
      const isCompared = round % COMPARED_EVERY_ROUNDS === 0 || round === options.rounds;
      if (isCompared) {
        counts = await rig.compare(witness);
        await rig.sayGaps(witness);
      }
      const { rows, found, missing, doubled, gaps } = counts;
      const sums = `${rows} rows, ${found} found, ${missing} missing, ${doubled} doubled, ${gaps} gaps`;
      rig.say(`${round} of ${options.rounds} kills (${victim})${isCompared ? `: ${sums}` : ''}`);
    }
    const { startsFailed, endpointErrors } = rig;
    return { ...counts, falseGaps: counts.gaps, startsFailed, endpointErrors };
  });
}
