import { Random } from '../../../src/core/random.ts';
import { Recorder } from '../../../src/recorder/recorder.ts';
import { WatchedClob } from '../../../src/recorder/watchdog/watchedClob.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { Metrics } from '../../../src/runtime/metrics.ts';
import type { Market } from '../../../src/schema/market.ts';
import type { RecordSink } from '../../../src/schema/records.ts';
import { DirectSocketDriver } from '../../../src/venues/venueSocket.ts';
import { Network } from './network.ts';
import type { Venue } from './venue.ts';
import { type MachineWall, ProcessClock, type VirtualTime } from './virtualTime.ts';

const WS_URL = 'ws://venue/ws/market';

export interface MachineParts {
  /** Of this life of the process: it decides the randomness. */
  readonly name: string;
  readonly machine: string;
  readonly time: VirtualTime;
  readonly wall: MachineWall;
  readonly venue: Venue;
  /** Markets that the listing names. */
  readonly listed: () => readonly Market[];
}

/** What every process has. */
export function runtimeOf(parts: Pick<MachineParts, 'name' | 'time' | 'wall'>) {
  const random = new Random(parts.name);
  const clock = new ProcessClock(parts.time, parts.wall);
  return { clock, random: () => random.next(), log: silentLogger, metrics: new Metrics() };
}

/** The real recorder, feed and watchdog of one process, connected to the venue through a network of its own. */
export function openRecording(
  { name, machine, time, venue }: MachineParts,
  {
    runtime,
    sink,
    isDropping,
  }: { runtime: ReturnType<typeof runtimeOf>; sink: RecordSink; isDropping: () => boolean },
) {
  const { clock } = runtime;
  const network = new Network({
    ...{ time, random: new Random(`${name} network`), server: venue },
    onArrived: (text) => venue.onArrived(text, machine),
    whenAwake: (run) => clock.whenAwake(run),
  });
  const recorder = new Recorder({ ...runtime, sink, timeBy: 'clock' });
  const clob = new WatchedClob({
    ...{ ...runtime, wsUrl: WS_URL, recorder, isDropping },
    rest: { books: (tokenIds) => venue.books(tokenIds, clock) },
    sockets: new DirectSocketDriver(clock, null, network.connect),
  });
  const subscribe = ({ ticker, eventType, yesTokenId, noTokenId }: Market) =>
    clob.subscribe(`${ticker}-${eventType}`, [yesTokenId, noTokenId]);
  return { network, recorder, subscribe };
}
