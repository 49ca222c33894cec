import { Bus } from '../../../src/bus/bus.ts';
import type { StreamMessage, StreamPlace } from '../../../src/bus/recordStream.ts';
import { RecordFollower } from '../../../src/recorder/follow/recordFollower.ts';
import { MarketMemory } from '../../../src/recorder/marketMemory.ts';
import { PartitionMerge } from '../../../src/recorder/merge/earlierRecording.ts';
import type { MergedRecord } from '../../../src/recorder/merge/mergedRecord.ts';
import type { Gap } from '../../../src/schema/gap.ts';
import { runtimeOf } from './recordingParts.ts';
import type { Trace } from './trace.ts';
import { recordLine } from './traceRecords.ts';
import { MachineWall, type VirtualTime } from './virtualTime.ts';

/** A process that follows the stream from its beginning: the real merge, follower and newest books. */
export class LiveReader {
  /** Every merged record, late ones too. */
  readonly records: MergedRecord[] = [];
  readonly openGaps = new Map<string, Gap>();
  readonly memory: MarketMemory;
  readonly onMessage: (message: StreamMessage, place: StreamPlace) => void;

  constructor({ time, startMs, trace }: { time: VirtualTime; startMs: number; trace: Trace }) {
    const runtime = runtimeOf({ name: 'live reader', time, wall: new MachineWall(time, startMs) });
    const bus = new Bus(runtime);
    const follower = new RecordFollower({ ...runtime, bus });
    const merge = new PartitionMerge({ baseSeq: 0 }, null);
    const step = (message: StreamMessage, place: StreamPlace) => {
      const records = merge.step(message, place);
      for (const merged of records) trace.add(time.nowMs, recordLine(merged));
      this.records.push(...records);
      return records;
    };
    follower.addPartition(0, { fold: { step }, streamSeq: 0 });
    follower.caughtUp();
    this.memory = new MarketMemory({ ...runtime, recorder: follower, bus });
    this.onMessage = follower.onMessage;
    bus.subscribe('gap', (gap) => noteGap(this.openGaps, gap));
  }
}

/** Keeps the open gap of each market. */
export function noteGap(openGaps: Map<string, Gap>, gap: Gap): void {
  if (gap.endTimeMs === null) openGaps.set(gap.marketId, gap);
  else if (openGaps.get(gap.marketId)?.gapId === gap.gapId) openGaps.delete(gap.marketId);
}
