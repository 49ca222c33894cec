import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemoryStreamServer } from '../../../test/support/memoryStream.ts';
import type { PlacedMessage } from '../../../test/support/numberedStream.ts';
import { bookAction } from '../../../test/support/streamBodies.ts';
import { T0, TwoCollectors } from '../../../test/support/twoCollectors.ts';
import type { StreamMessage } from '../../bus/recordStream.ts';
import { Random } from '../../core/random.ts';
import type { MergedRecord } from './mergedRecord.ts';
import { StreamMerge } from './streamMerge.ts';

const SEEDS = 6;
const OUTAGE_MS = 600_000;
const DUPLICATE_WINDOW_MS = 120_000;

/** Keys of the stored venue facts, sorted. */
function facts(placed: readonly PlacedMessage[]): string[] {
  const merge = new StreamMerge({ baseSeq: 0 });
  const records: MergedRecord[] = placed.flatMap(({ message, place }) => merge.step(message, place));
  const keys = records.flatMap((merged) => {
    if (merged.kind === 'book')
      return [`${merged.record.marketId} ${JSON.stringify({ ...merged.record, seq: 0 })}`];
    if (merged.kind === 'trade')
      return [`${merged.record.marketId} ${JSON.stringify({ ...merged.record, seq: 0 })}`];
    return [];
  });
  return keys.sort();
}

/** The stream after an outage: a sender repeats its last messages, and then sends what waited. */
function withOutage(placed: readonly PlacedMessage[], random: Random): PlacedMessage[] {
  const at = 100 + random.below(placed.length - 100);
  const sent = placed.slice(Math.max(0, at - 1 - random.below(300)), at);
  const later = [...sent, ...placed.slice(at)].map(({ message, place }) => ({
    message,
    place: { ...place, timeMs: place.timeMs + OUTAGE_MS },
  }));
  return [...placed.slice(0, at), ...later].map(({ message, place }, index) => ({
    message,
    place: { ...place, streamSeq: index + 1 },
  }));
}

it.each(Array.from({ length: SEEDS }, (_, seed) => seed))(
  'rows that one collector sends again after a long outage are stored once, and none is lost (seed %i)',
  async (seed) => {
    const random = new Random(`sent again ${seed}`);
    const faults = seed % 2 === 0 ? {} : { disconnect: 0.01, loseFrame: 0.01 };
    const model = new TwoCollectors(`sent again ${seed}`, { faults: [faults] });
    await model.run(300);
    const once = facts(model.stream.placed);
    expect(once.length).toBeGreaterThan(100);
    expect(new Set(once).size).toBe(once.length);
    expect(facts(withOutage(model.stream.placed, random))).toEqual(once);
  },
);

it('a perpetual depth that its owner sends again is stored once', () => {
  const merge = new StreamMerge({ baseSeq: 0 });
  let streamSeq = 0;
  const sent = (updateId: number, timeMs: number) => {
    const [kind, venue, ticker] = ['perp_depth', 'bybit', 'BTC'] as const;
    const eventTimeMs = T0 + updateId;
    const times = { eventTimeMs, engineTimeMs: null, receivedTimeMs: eventTimeMs + 20, roundTripMs: 20 };
    const body = { kind, venue, ticker, updateId, ...times, bids: [], asks: [] };
    const message = {
      kind: 'perpDepth',
      id: `${updateId}`,
      key: 'BTC',
      sender: 'a',
      run: '1',
      body,
    } as const;
    return merge.step(message, { streamSeq: ++streamSeq, timeMs, partition: 0 }).length;
  };
  expect([sent(1, T0 + 30), sent(2, T0 + 40)]).toEqual([1, 1]);
  expect([sent(1, T0 + OUTAGE_MS), sent(2, T0 + OUTAGE_MS), sent(3, T0 + OUTAGE_MS)]).toEqual([0, 0, 1]);
});

it('a stream with a window forgets the ids that are older', async () => {
  const clock = new FakeClock(T0);
  const options = { clock, partitions: 1, duplicateWindowMs: DUPLICATE_WINDOW_MS };
  const server = new MemoryStreamServer(options);
  const stream = server.connect();
  const body = { marketId: 'm', eventTimeMs: T0, receivedTimeMs: T0 };
  const message: StreamMessage = { kind: 'proven', id: 'p', key: 'm', sender: 'a', run: '1', body };
  for (const waitMs of [0, DUPLICATE_WINDOW_MS - 1, 1, DUPLICATE_WINDOW_MS]) {
    await clock.advance(waitMs);
    stream.publish(message);
  }
  expect(server.stored.map(({ place }) => place.timeMs - T0)).toEqual([
    0,
    DUPLICATE_WINDOW_MS,
    2 * DUPLICATE_WINDOW_MS,
  ]);
});

describe('books that were stored before an outage, but not acknowledged, are stored once', () => {
  /** Sends books by their times and hashes; each call returns how many records it stored. */
  function sender() {
    const merge = new StreamMerge({ baseSeq: 0 });
    let streamSeq = 0;
    return (name: string, ms: number, { hash = `${ms}`, sentMs = ms + 20 } = {}) => {
      const times = { marketId: 'm', eventTimeMs: T0 + ms, receivedTimeMs: T0 + ms + 10 };
      const body = bookAction(times, { ladderHash: hash });
      const message = {
        kind: 'action',
        id: `${ms} ${hash}`,
        key: 'm',
        sender: name,
        run: '1',
        body,
      } as const;
      const records = merge.step(message, { streamSeq: ++streamSeq, timeMs: T0 + sentMs, partition: 0 });
      return records.filter(({ kind }) => kind === 'book').length;
    };
  }
  const again = { sentMs: OUTAGE_MS };

  it('though no other collector saw them and many books followed', () => {
    const send = sender();
    expect([send('a', 0), send('a', 100), send('a', 200)]).toEqual([1, 1, 1]);
    for (let n = 0; n < 100; n++) expect(send('b', 2_000 + n)).toBe(1);
    // The third one waited for the stream.
    expect([send('a', 100, again), send('a', 200, again), send('a', 300, again)]).toEqual([0, 0, 1]);
  });

  it('also when they have one venue time', () => {
    const send = sender();
    const [y, z] = [{ hash: 'y' }, { hash: 'z' }];
    expect([send('a', 0), send('a', 100, y), send('a', 100, z)]).toEqual([1, 1, 1]);
    for (let n = 0; n < 100; n++) expect(send('b', 2_000 + n)).toBe(1);
    expect([send('a', 100, { ...y, ...again }), send('a', 100, { ...z, ...again })]).toEqual([0, 0]);
  });
});
