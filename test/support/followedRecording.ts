import { Bus } from '../../src/bus/bus.ts';
import { publishingSink } from '../../src/bus/publishingSink.ts';
import type { Alive, StreamMessage } from '../../src/bus/recordStream.ts';
import { Random } from '../../src/core/random.ts';
import { BookCopy } from '../../src/recorder/bookCopy.ts';
import { RecordFollower } from '../../src/recorder/follow/recordFollower.ts';
import type { MergedRecord } from '../../src/recorder/merge/mergedRecord.ts';
import { Recorder } from '../../src/recorder/recorder.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { type BookRecord, recordSink } from '../../src/schema/records.ts';
import { FakeClock } from './fakeClock.ts';
import { aliveAt } from './streamBodies.ts';
import { MARKET, WireMarket } from './wire.ts';

const ALIVE = aliveAt(0);

/** A message whose merged records a test chooses itself. */
function message({ sender, run }: { sender: string; run: string }, body: Alive): StreamMessage {
  return { kind: 'alive', body, id: '', key: null, sender, run };
}

/** A follower of one partition, whose fold emits what the test gives it. */
export class FollowerRig {
  readonly clock: FakeClock;
  readonly metrics = new Metrics();
  readonly bus = new Bus({ log: silentLogger, metrics: this.metrics });
  readonly follower: RecordFollower;
  streamSeq = 0;
  #outputs: MergedRecord[] = [];

  constructor(startMs: number) {
    this.clock = new FakeClock(startMs);
    const { bus, clock, metrics } = this;
    this.follower = new RecordFollower({ bus, clock, metrics, log: silentLogger });
    this.follower.caughtUp();
    this.follower.addPartition(0, { fold: { step: () => this.#outputs }, streamSeq: 0 });
  }

  /** One message of a collector, stored `ageMs` ago, from which these records are merged. */
  emit(
    outputs: MergedRecord[],
    {
      sender = 'c1',
      run = 'r1',
      ageMs = 0,
      status = {},
    }: { sender?: string; run?: string; ageMs?: number; status?: object } = {},
  ): void {
    this.#outputs = outputs;
    const place = { streamSeq: ++this.streamSeq, timeMs: this.clock.now() - ageMs, partition: 0 };
    const body = { ...ALIVE, sentTimeMs: place.timeMs, ...status };
    this.follower.onMessage(message({ sender, run }, body), place);
  }

  /** A collector's sign of life. */
  alive(options: Parameters<FollowerRig['emit']>[1] = {}): void {
    this.emit([], options);
  }
}

/** A record as it is now: its views are overwritten by the next action. */
function copyOfBook(record: BookRecord): BookRecord {
  const [yes, no] = [new BookCopy(), new BookCopy()];
  yes.copyFrom(record.yes);
  no.copyFrom(record.no);
  return { ...record, yes, no };
}

export const OTHER_MARKET = {
  ...MARKET,
  marketId: '0xother',
  slug: 'other',
  yesTokenId: '3',
  noTokenId: '4',
};

/**
 * What a recorder writes in a random run of one market, as the records of one message each.
 * @param prepare Called before the first frame.
 */
export function recordedMessages(
  seed: number,
  prepare: (recorder: Recorder, bus: Bus) => void = () => {},
): { recorder: Recorder; messages: MergedRecord[][] } {
  const observed = { log: silentLogger, metrics: new Metrics(), clock: new FakeClock(MARKET.startTimeMs) };
  const bus = new Bus(observed);
  const messages: MergedRecord[][] = [];
  const keep = recordSink((kind, record) => {
    const copied = kind === 'book' ? copyOfBook(record as BookRecord) : record;
    const output = { kind, record: copied, isLate: false } as MergedRecord;
    const last = messages.at(-1)?.at(-1);
    const isSameAction = kind === 'book' && last?.kind === 'quote' && last.record.seq === record.seq - 1;
    if (isSameAction) messages.at(-1)?.push(output);
    else messages.push([output]);
  });
  const recorder = new Recorder({ ...observed, sink: publishingSink(keep, bus), timeBy: 'receipt' });
  prepare(recorder, bus);
  drive(recorder, seed);
  return { recorder, messages };
}

/** Random actions, trades, losses and returns of one market. */
function drive(recorder: Recorder, seed: number): void {
  const random = new Random(String(seed));
  const wire = new WireMarket();
  const change = () => {
    const [side, price] = random.chance(0.5) ? (['BUY', 4_900] as const) : (['SELL', 5_000] as const);
    const away = 100 * random.below(5) * (side === 'BUY' ? -1 : 1);
    return { side, price: price + away, size: random.chance(0.3) ? 0 : 1_000_000 * (1 + random.below(9)) };
  };
  recorder.track(MARKET);
  recorder.track(OTHER_MARKET);
  let timeMs = MARKET.startTimeMs;
  recorder.clobFrame(wire.snapshot(timeMs), timeMs);
  for (let step = 0; step < 150; step++) {
    timeMs += 1 + random.below(400);
    const kind = random.next();
    if (kind < 0.7) {
      const frames = wire.action(timeMs, Array.from({ length: 1 + random.below(3) }, change));
      // A lost frame leaves the book unproven.
      for (const frame of frames) if (!random.chance(0.05)) recorder.clobFrame(frame, timeMs + 40);
    } else if (kind < 0.8)
      recorder.clobFrame(wire.trade(timeMs, { price: 5_000, size: 10, id: `0x${step}` }), timeMs);
    else if (kind < 0.85) recorder.disconnect([MARKET.yesTokenId], timeMs);
    else if (kind < 0.95) recorder.clobFrame(wire.snapshot(timeMs), timeMs + 20);
    else if (kind < 0.97) recorder.clobFrame(`[{"market":"${MARKET.marketId}","event_type":"book"}]`, timeMs);
    else recorder.track({ ...MARKET, volume: step });
  }
  recorder.close();
}
