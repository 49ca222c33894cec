/**
 * Power losses, one after the other. In each, the file system of the data directory fails and loses its unsynced data. It
 * is then mounted again, and the service must start and continue.
 */
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import type { FaultRunOptions } from '../command.ts';
import { COUNTS_NONE, type Counts, countsLine } from './compareRecord.ts';
import { type FaultOptions, type FaultResult, FaultRig } from './faultRig.ts';
import { LimitedFileSystem } from './limitedFileSystem.ts';

const SIZE_MIB = 1_024;
const DISK_RESERVE = '64MiB';
/** Linux writes unsynced data to the disk after 5 to 35 s: some cuts come before that, others after it. */
const LIFE_MS_MAX = 20_000;
/** How long the processes live on the failing disk. */
const FAILING_MS_MAX = 4_000;
const COMPARED_EVERY_ROUNDS = 5;

export function runPowerRounds(options: FaultOptions & FaultRunOptions): Promise<FaultResult> {
  return FaultRig.with(options, async (rig) => {
    const files = LimitedFileSystem.mount('ext4', SIZE_MIB);
    rig.whenOver(() => files.unmount());
    const service = await rig.service(files.dataDir, { UNDERROUND_DISK_RESERVE: DISK_RESERVE });
    // A power loss must not take the key with which the run reads the API.
    files.sync();
    let neverTrusted = 0;
    let counts: Counts = COUNTS_NONE;
    let isUp = await rig.start(service);
    for (let round = 1; isUp && round <= options.rounds; round++) {
      if (await rig.whenTrusted(service)) await rig.settle(service);
      else neverTrusted++;
      await sleep(clock, rig.random.uniform(0, LIFE_MS_MAX));
      files.cutPower();
      await sleep(clock, rig.random.uniform(0, FAILING_MS_MAX));
      await service.killAll();
      await files.remount();
      isUp = await rig.start(service);
      if (!isUp) break;
      const isCompared = round % COMPARED_EVERY_ROUNDS === 0 || round === options.rounds;
      if (isCompared) {
        if (!(await rig.whenTrusted(service))) neverTrusted++;
        counts = await rig.compare(service);
      }
      const so = isCompared ? `: ${countsLine(counts)}` : '';
      rig.say(`${round} of ${options.rounds} power losses${so}`);
    }
    if (isUp) rig.endpointErrors += (await rig.askAll(service, (status) => status === 200)).length;
    await service.end('SIGTERM');
    const { startsFailed, endpointErrors } = rig;
    return { ...counts, neverTrusted, startsFailed, endpointErrors };
  });
}
