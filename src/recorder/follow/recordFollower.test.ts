import { expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { FollowerRig, OTHER_MARKET, recordedMessages } from '../../../test/support/followedRecording.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import { aliveAt } from '../../../test/support/streamBodies.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { Subscriber } from '../../bus/bus.ts';
import type { Topic } from '../../bus/topics.ts';
import type { Gap } from '../../schema/gap.ts';
import type { RecordKind, SideView } from '../../schema/records.ts';
import type { LiveRecording } from '../liveRecording.ts';
import { MarketMemory } from '../marketMemory.ts';
import type { PartitionMerge } from '../merge/earlierRecording.ts';
import type { MergedRecord } from '../merge/mergedRecord.ts';

const T0 = MARKET.startTimeMs;
const M = MARKET.marketId;
const TOPICS: readonly RecordKind[] = ['book', 'quote', 'trade', 'underlying', 'perpDepth', 'market', 'gap'];

const levelsOf = ({ count, prices, sizes }: SideView) =>
  Array.from({ length: count }, (_, at) => [prices[at], sizes[at]]);

/** What a reader sees of the market when an event of the topic is published. */
function shown(live: LiveRecording, memory: MarketMemory, topic: Topic) {
  const market = { market: live.market(M), gap: live.gaps.of(M), markets: [...live.markets()] };
  // The messages of a gap and of the action that ends it are two: between them the books differ.
  if (topic !== 'book' && topic !== 'quote') return market;
  const book = live.recorded(M)?.liveBook() ?? null;
  const kept = memory.book(M);
  if (book === null || book === 'unfinished') return { ...market, book };
  const { yes, no, ...rest } = book;
  const sides = [yes.bids, yes.asks, no.bids, no.asks].map(levelsOf);
  const known = kept && { trusted: kept.trusted, yes: levelsOf(kept.yes.bids), at: kept.eventTimeMs };
  return { ...market, ...rest, sides, known, recent: live.recent.count(rest.quotedTimeMs) };
}

/** Every event of a bus, with the state that its listeners see. */
function traceOf(bus: Subscriber, live: LiveRecording, memory: MarketMemory) {
  const trace: object[] = [];
  for (const topic of TOPICS)
    bus.subscribe(topic, (event) => {
      const { seq } = event as { seq: number };
      trace.push({ topic, seq, ...shown(live, memory, topic) });
    });
  return trace;
}

test.each([1, 2, 3, 4, 5])('shows at every event what the recorder shows (seed %i)', (seed) => {
  let trace: object[] = [];
  const { messages } = recordedMessages(seed, (recorder, bus) => {
    trace = traceOf(bus, recorder, new MarketMemory({ recorder, bus, clock: new FakeClock(T0) }));
  });
  const rig = new FollowerRig(T0);
  const memory = new MarketMemory({ recorder: rig.follower, bus: rig.bus, clock: rig.clock });
  const followed = traceOf(rig.bus, rig.follower, memory);
  rig.alive();
  for (const outputs of messages) rig.emit(outputs);
  expect(followed.length).toBeGreaterThan(100);
  expect(followed).toEqual(trace);
});

const book = (seq: number, more: { timeMs?: number; trusted?: boolean; bid?: number } = {}) =>
  bookRecord({
    ...{ seq, marketId: M, timeMs: more.timeMs ?? T0 + seq, trusted: more.trusted ?? true },
    ...{ yesBids: [[more.bid ?? 4_900, 1_000_000]], yesAsks: [[5_000, 1_000_000]] },
  });
const quote = (seq: number, trusted = true) => ({
  ...{ seq, marketId: M, eventTimeMs: T0 + seq, receivedTimeMs: T0 + seq + 40, yesChanged: true, trusted },
  ...{ yesBid: 4_900, yesAsk: 5_000, noBid: 5_000, noAsk: 5_100, underlyingPrice: null },
});
const market = { kind: 'market', record: { ...MARKET, seq: 1 }, isLate: false } as const;
const action = (seq: number, more: Parameters<typeof book>[1] = {}): MergedRecord[] => [
  { kind: 'quote', record: quote(seq, more.trusted), isLate: false },
  { kind: 'book', record: book(seq + 1, more), isLate: false },
];

function started() {
  const rig = new FollowerRig(T0);
  const events: string[] = [];
  for (const topic of [...TOPICS, 'opportunity', 'receiving'] as const)
    rig.bus.subscribe(topic, (event) => {
      const { seq, isReceiving } = event as { seq?: number; isReceiving?: boolean };
      events.push(`${topic} ${seq ?? isReceiving ?? ''}`.trim());
    });
  const liveBook = () => rig.follower.recorded(M)?.liveBook() ?? null;
  return { rig, events, liveBook };
}

test('a late row is neither shown nor published', () => {
  const { rig, events, liveBook } = started();
  rig.emit([market]);
  rig.emit(action(10));
  rig.emit([{ kind: 'book', record: book(20, { timeMs: T0 - 500, bid: 1_000 }), isLate: true }]);
  expect(events).toEqual(['market 1', 'receiving true', 'quote 10', 'book 11']);
  expect(liveBook()).toMatchObject({ eventTimeMs: T0 + 11, trusted: true });
  expect(liveBook()?.yes.bids.prices[0]).toBe(4_900);
  expect(rig.follower.recent.count(T0 + 1_000)).toBe(1);
});

const ALIVE = { kind: 'alive', body: aliveAt(T0), id: '', key: null, sender: 'c', run: 'r' } as const;

test('a message that the fold has seen is ignored, and so is one of another partition', () => {
  const { rig, events } = started();
  const { follower } = rig;
  follower.addPartition(1, { fold: { step: () => [market] }, streamSeq: 7 });
  follower.onMessage(ALIVE, { streamSeq: 7, timeMs: T0, partition: 1 });
  follower.onMessage(ALIVE, { streamSeq: 8, timeMs: T0, partition: 2 });
  expect(events).toEqual([]);
  follower.onMessage(ALIVE, { streamSeq: 8, timeMs: T0, partition: 1 });
  expect(events).toEqual(['market 1', 'receiving true']);
});

test('after the numbers of the stream went back, the next message with a new number reports the loss to the fold', () => {
  const { follower } = started().rig;
  const folded: [number, boolean][] = [];
  const step: PartitionMerge['step'] = (_, { streamSeq, isAfterLoss = false }) => {
    folded.push([streamSeq, isAfterLoss]);
    return [];
  };
  follower.addPartition(1, { fold: { step }, streamSeq: 7 });
  const place = { timeMs: T0, partition: 1 };
  // A loss before a known number alone concerns nothing that the fold lacks.
  follower.onMessage(ALIVE, { ...place, streamSeq: 5, isAfterLoss: true });
  follower.onMessage(ALIVE, { ...place, streamSeq: 8 });
  follower.onMessage(ALIVE, { ...place, streamSeq: 6, isAfterLoss: true, isRenumbered: true });
  follower.onMessage(ALIVE, { ...place, streamSeq: 8 });
  follower.onMessage(ALIVE, { ...place, streamSeq: 9 });
  follower.onMessage(ALIVE, { ...place, streamSeq: 10 });
  expect(folded).toEqual([
    [8, false],
    [9, true],
    [10, false],
  ]);
});

test('without a message for five seconds every book is untrusted; with the next new one it is as recorded', async () => {
  const { rig, events, liveBook } = started();
  const memory = new MarketMemory({ recorder: rig.follower, bus: rig.bus, clock: rig.clock });
  rig.emit([market]);
  rig.emit(action(10));
  const trusted = () => [liveBook()?.trusted, memory.book(M)?.trusted, rig.follower.reasons()];
  await rig.clock.advance(4_000);
  expect(trusted()).toEqual([true, true, []]);
  await rig.clock.advance(3_000);
  expect(trusted()).toEqual([false, false, ['no collector heard for 7 s']]);
  // A backlog is read: its records are published as they were recorded, but they do not show the present.
  rig.emit(action(20), { ageMs: 6_000 });
  expect(trusted()).toEqual([false, false, ['records arrive 6 s late']]);
  rig.alive();
  expect(trusted()).toEqual([true, true, []]);
  expect(events.slice(3)).toEqual(['book 11', 'receiving false', 'quote 20', 'book 21', 'receiving true']);
});

test('what waited in an outbox while the stream was away does not show the present', async () => {
  const { rig, liveBook } = started();
  const trusted = () => [liveBook()?.trusted ?? false, rig.follower.reasons()];
  rig.emit([market]);
  rig.emit(action(10));
  await rig.clock.advance(3_600_000);
  // Stored now, and sent an hour ago.
  const old = { status: { sentTimeMs: T0 + 1_000 } };
  rig.alive(old);
  rig.emit(action(20), old);
  expect(trusted()).toEqual([false, ['records arrive 3599 s late']]);
  rig.alive();
  expect(trusted()).toEqual([true, []]);
});

test('clocks of stream, collector and reader may differ', async () => {
  const { rig, liveBook } = started();
  const skewed = () => ({ ageMs: -20_000, status: { sentTimeMs: rig.clock.now() + 40_000 } });
  rig.emit([market], skewed());
  rig.emit(action(10), skewed());
  expect([liveBook()?.trusted, rig.follower.reasons()]).toEqual([true, []]);
});

test('before the first message no book is trusted', async () => {
  const { rig, liveBook } = started();
  rig.follower.resume(MARKET, { book: storedBook(5), quote: null });
  expect([liveBook()?.trusted, rig.follower.reasons()]).toEqual([false, ['no collector heard for 0 s']]);
  rig.alive();
  expect([liveBook()?.trusted, rig.follower.reasons()]).toEqual([true, []]);
});

function storedBook(seq: number) {
  const [one, none] = [
    { prices: [4_800], sizes: [1_000_000] },
    { prices: [], sizes: [] },
  ];
  return {
    ...{
      marketId: M,
      eventTimeMs: T0 + seq,
      receivedTimeMs: T0 + seq + 40,
      seq,
      trusted: true,
      mirrored: true,
    },
    ...{ underlyingPrice: 97_000.5, yes: { bids: one, asks: none }, no: { bids: none, asks: none } },
  };
}

test('rows that are in the stored state are skipped, by the number of their own kind', () => {
  const { rig, events, liveBook } = started();
  const last = { ...quote(30, false), marketId: M };
  rig.follower.resume(MARKET, { book: storedBook(11), quote: last });
  rig.alive();
  expect(liveBook()).toMatchObject({ trusted: false, eventTimeMs: T0 + 30, quotedTimeMs: T0 + 70 });
  expect(liveBook()?.underlyingPrice).toBe(97_000.5);
  expect(liveBook()?.no.asks.prices[0]).toBe(5_200);
  rig.emit(action(10));
  expect(liveBook()?.yes.bids.prices[0]).toBe(4_800);
  // A change of levels after the stored book, before the stored loss of trust.
  rig.emit([{ kind: 'book', record: book(20), isLate: false }]);
  expect(liveBook()?.yes.bids.prices[0]).toBe(4_900);
  rig.emit([{ kind: 'quote', record: quote(30, false), isLate: false }]);
  rig.emit(action(40));
  expect(events).toEqual(['receiving true', 'book 20', 'quote 40', 'book 41']);
  expect(liveBook()?.trusted).toBe(true);
});

const open: Gap = {
  ...{
    gapId: 'gap_1',
    marketId: M,
    startTimeMs: T0,
    endTimeMs: null,
    startReceivedMs: T0,
    endReceivedMs: null,
  },
  ...{ knownTimeMs: T0, knownSeq: 1, cause: 'disconnected', feed: 'polymarket.clob', repairedBy: null },
};

test('of gaps the open one is kept, until it is closed', () => {
  const { rig } = started();
  const { gaps } = rig.follower;
  rig.follower.resume(MARKET, null);
  rig.follower.resumeGap(open);
  expect(gaps.of(M)).toEqual(open);
  const gap = (changes: object): MergedRecord[] => [
    { kind: 'gap', record: { ...open, ...changes, seq: 9 }, isLate: false },
  ];
  rig.emit(gap({ gapId: 'gap_2' }));
  rig.emit(gap({ endTimeMs: T0 + 5 }));
  expect(gaps.of(M)).toMatchObject({ gapId: 'gap_2' });
  rig.emit(gap({ gapId: 'gap_2', endTimeMs: T0 + 9 }));
  expect(gaps.of(M)).toBeNull();
});

test('an opportunity is published once for each market and kind', () => {
  const { rig, events } = started();
  rig.emit([market]);
  const found = (changes: object): MergedRecord => ({
    ...{ kind: 'opportunity', isLate: false },
    record: opportunity({ nowMs: T0 }, { market_id: M, ...changes }),
  });
  rig.emit([found({})]);
  rig.emit([found({}), found({ tier: 'endgame' })]);
  expect(events.filter((event) => event === 'opportunity')).toHaveLength(2);
});

test('a market is followed until its outcome is confirmed, at most for a day after its end', async () => {
  const { rig } = started();
  const confirmed = {
    ...MARKET,
    ...({ status: 'resolved', confirmedTimeMs: MARKET.endTimeMs + 60_000 } as const),
  };
  rig.follower.resume(OTHER_MARKET, null);
  rig.emit([{ kind: 'market', record: { ...confirmed, seq: 1 }, isLate: false }]);
  rig.follower.resumeGap(open);
  const followed = () => [...rig.follower.markets()].map(({ slug }) => slug);
  rig.clock.stepWall(300_000 + 899_000);
  await rig.clock.advance(900);
  expect(followed()).toEqual(['other', MARKET.slug]);
  expect(rig.follower.gaps.of(M)).toEqual(open);
  await rig.clock.advance(1_000);
  expect(followed()).toEqual(['other']);
  expect(rig.follower.gaps.of(M)).toBeNull();
  rig.clock.stepWall(86_400_000);
  await rig.clock.advance(1_000);
  expect(followed()).toEqual([]);
  expect(rig.follower.recorded(M)).toBeNull();
});

test('readiness fails when no collector records; with several, lines name the collector', async () => {
  const { rig } = started();
  const { follower } = rig;
  rig.alive({ status: { reasons: ['disk is full'], degraded: ['late'] } });
  expect([follower.reasons(), follower.degraded()]).toEqual([['disk is full'], ['late']]);
  rig.alive({ sender: 'c2' });
  expect(follower.reasons()).toEqual([]);
  expect(follower.degraded()).toEqual(['c1: disk is full', 'c1: late']);
  rig.alive({ sender: 'c2', status: { reasons: ['no feed'] } });
  expect(follower.reasons()).toEqual(['c1: disk is full', 'c2: no feed']);
  await rig.clock.advance(6_000);
  rig.alive({ sender: 'c2' });
  expect([follower.reasons(), follower.degraded()]).toEqual([[], ['c1: not heard for 6 s']]);
  await rig.clock.advance(3_600_000);
  rig.alive({ sender: 'c2' });
  await rig.clock.advance(1_000);
  expect(follower.degraded()).toEqual([]);
});

test('two collectors of one name are reported until only one is alive', async () => {
  const { rig } = started();
  const { follower } = rig;
  const alive = (run: string, afterMs: number) => rig.alive({ run, status: { sentTimeMs: T0 + afterMs } });
  alive('first', 1_000);
  alive('second', 5_000);
  // A dead run's messages that waited in its outbox.
  alive('first', 2_000);
  alive('second', 6_000);
  expect(follower.degraded()).toEqual([]);
  alive('first', 6_500);
  const line = 'c1: two collectors have this name: give each its own UNDERROUND_NODE';
  expect(follower.degraded()).toEqual([line]);
  await rig.clock.advance(10_000);
  alive('second', 16_000);
  expect(follower.degraded()).toEqual([line]);
  await rig.clock.advance(6_000);
  alive('second', 22_000);
  expect([follower.degraded(), follower.reasons()]).toEqual([[], []]);
});

test('the connections are those of each collector that is heard, and stay until it sends others', async () => {
  const { rig } = started();
  const { follower } = rig;
  const connectionsOf = (feed: string) => ({
    feeds: [
      {
        ...({ feed, group: null, kind: 'socket', connections: 1, up: 1, lastMessageMs: T0 } as const),
        ...{ sinceMs: T0, failures: 0, lastFailure: null },
      },
    ],
    unknownVersions: [
      { where: 'frame', version: 'v3', markets: 1, newestMarket: '0x1', lastTimeMs: T0 } as const,
    ],
  });
  const live = { source: 'rtds', state: 'live', lastMs: T0, missing: null } as const;
  const priceSources = [live];
  rig.alive();
  rig.alive({ sender: 'c2', status: { connections: connectionsOf('clob'), priceSources } });
  rig.alive({ sender: 'c2', status: { priceSources } });
  expect(follower.collectors()).toEqual([
    { name: 'c1', feeds: [], unknownVersions: [], priceSources: [] },
    { name: 'c2', ...connectionsOf('clob'), priceSources },
  ]);
  rig.alive({ sender: 'c2', status: { connections: connectionsOf('rtds') } });
  await rig.clock.advance(4_999);
  rig.alive({ sender: 'c2' });
  await rig.clock.advance(1);
  expect(follower.collectors()).toEqual([{ name: 'c2', ...connectionsOf('rtds'), priceSources: [] }]);
});
