import type { Subscriber } from '../../../src/bus/bus.ts';
import { ladderOf } from '../checks/recording.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtualTime.ts';

/** Adds everything that a process publishes to the trace. */
export function traceRecords(bus: Subscriber, trace: Trace, time: VirtualTime): void {
  bus.subscribe('book', ({ yes, no: _, ...row }) =>
    trace.add(time.nowMs, `book ${JSON.stringify(row)} ${ladderOf(yes)}`),
  );
  for (const topic of ['quote', 'trade', 'gap', 'market', 'underlying', 'opportunity', 'receiving'] as const)
    bus.subscribe(topic, (event) => trace.add(time.nowMs, `${topic} ${JSON.stringify(event)}`));
}
