import type { Subscriber } from '../../../src/bus/bus.ts';
import type { MergedRecord } from '../../../src/recorder/merge/mergedRecord.ts';
import type { BookRecord } from '../../../src/schema/records.ts';
import { ladderOf } from '../checks/recording.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtualTime.ts';

function bookLine({ yes, no: _, ...row }: BookRecord): string {
  return `book ${JSON.stringify(row)} ${ladderOf(yes)}`;
}

/** All of a merged record in one line. */
export function recordLine({ kind, record, isLate }: MergedRecord): string {
  const line = kind === 'book' ? bookLine(record) : `${kind} ${JSON.stringify(record)}`;
  return isLate ? `late ${line}` : line;
}

/** Adds everything that a process publishes to the trace. */
export function traceRecords(bus: Subscriber, trace: Trace, time: VirtualTime): void {
  bus.subscribe('book', (book) => trace.add(time.nowMs, bookLine(book)));
  for (const topic of ['quote', 'trade', 'gap', 'market', 'underlying', 'opportunity', 'receiving'] as const)
    bus.subscribe(topic, (event) => trace.add(time.nowMs, `${topic} ${JSON.stringify(event)}`));
}
