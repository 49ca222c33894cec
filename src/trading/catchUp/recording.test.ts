import { expect, onTestFinished, test } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import { withLateGaps } from '../../../test/support/lateGaps.ts';
import { makeStrategies } from '../../../test/support/paperCrash.ts';
import {
  marketOf,
  openPaperRig,
  printedRows,
  type RecordedEvent,
  recordedEventsOf,
  recordedFirst,
  replayedRows,
} from '../../../test/support/paperRig.ts';
import { openTestStore } from '../../../test/support/store.ts';
import { randomTape, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { BEFORE_FIRST_SEQ, type MarketTape } from '../../core/session/tape.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { StoreReader } from '../../store/reader.ts';
import type { Store } from '../../store/store.ts';
import { sumsOf } from '../paper/positions.ts';
import { type Recording, storedRecording } from './recording.ts';

/** Set before the stream: strategies are active throughout every life. */
const clock: Clock = { ...systemClock, now: () => START_MS - 3_600_000 };
const RESOLVED = {
  ...({ status: 'resolved', outcome: 'Up', payoutYes: 1 } as const),
  ...{ resolvedTimeMs: START_MS + 420_000 },
};
const NEVER = new AbortController().signal;

async function openStore() {
  const test = await openTestStore();
  onTestFinished(() => test.dispose());
  return test.store;
}

const flushed = (store: Store) => () => store.writer.flush();

async function stretches(recording: Recording, tape: MarketTape): Promise<MarketTape[]> {
  const read: MarketTape[] = [];
  for (let afterSeq = BEFORE_FIRST_SEQ; ; ) {
    const { tape: part, toSeq } = await recording.stretch(marketOf(tape), { afterSeq }, NEVER);
    read.push(part);
    if (toSeq === null) return read;
    afterSeq = toSeq;
  }
}

/** All numbers of a column of all stretches. */
function joined(parts: readonly MarketTape[], column: (part: MarketTape) => ArrayLike<number> | undefined) {
  return parts.flatMap((part) => Array.from(column(part) ?? []));
}

test('a market is read as it was published, whole or in stretches', async () => {
  const store = await openStore();
  const tape = randomTape('read', { books: 700, levels: 6, gaps: false, trades: true });
  const sink = recordedFirst(store.writer, { publish: () => undefined });
  for (const { publish } of recordedEventsOf(tape)) publish(sink);
  for (const [booksAtOnce, count] of [
    [1_000_000, 1],
    [200, 4],
    [700, 2],
  ] as const) {
    const parts = await stretches(storedRecording(store, { stored: flushed(store), booksAtOnce }), tape);
    expect(parts).toHaveLength(count);
    for (const name of ['quotes', 'books', 'prices', 'trades'] as const) {
      for (const column of Object.keys(tape[name] ?? {})) {
        const of = (part: MarketTape) => (part[name] as Record<string, unknown> | null)?.[column] as never;
        if (!ArrayBuffer.isView(of(tape))) continue;
        expect(joined(parts, of), `${name}.${column}`).toEqual(Array.from(of(tape) as Float64Array));
      }
    }
    for (const side of ['yesBids', 'yesAsks'] as const) {
      for (const column of ['prices', 'sizes'] as const) {
        const of = (part: MarketTape) => part.books?.[side][column];
        expect(joined(parts, of), `${side}.${column}`).toEqual(joined([tape], of));
      }
    }
  }
});

test('finds the last hour of a feed, a market, and the ended markets of a series', async () => {
  const store = await openStore();
  const tape = randomTape('found', { books: 50, levels: 2, gaps: false });
  const sink = recordedFirst(store.writer, { publish: () => undefined });
  for (const { publish } of recordedEventsOf(tape)) publish(sink);
  sink.publish('market', { ...marketOf(tape), seq: 0 });
  sink.publish('market', { ...marketOf(tape, RESOLVED), seq: 0 });
  const recording = storedRecording(store, { stored: flushed(store) });
  const { marketId, endTimeMs } = tape.market;
  const prices = await recording.prices({ ticker: 'BTC', source: 'chainlink' }, endTimeMs, NEVER);
  expect(prices.map(({ seq }) => seq)).toEqual(
    joined([tape], (part) => part.prices?.seq).filter((_, at) => (tape.prices?.eventMs[at] ?? 0) < endTimeMs),
  );
  const times = { eventTimeMs: endTimeMs - 2, receivedTimeMs: endTimeMs - 1 };
  const feed = { source: 'chainlink', ticker: 'SOL' } as const;
  sink.publish('underlying', { kind: 'underlying', ...feed, seq: 1e9, price: 151.25, ...times });
  expect(await recording.prices(feed, endTimeMs, NEVER)).toEqual([
    { seq: 1e9, price: 151.25, eventMs: times.eventTimeMs, receivedMs: times.receivedTimeMs },
  ]);
  const hourAgoMs = endTimeMs - 60_000;
  const newest = await recording.prices({ ticker: 'BTC', source: 'chainlink' }, hourAgoMs + 3_600_000, NEVER);
  expect(newest.map(({ seq }) => seq)).toEqual(
    joined([tape], (part) => part.prices?.seq).filter(
      (_, at) => (tape.prices?.eventMs[at] ?? 0) >= hourAgoMs,
    ),
  );
  expect(await recording.prices({ ticker: 'ETH', source: 'chainlink' }, endTimeMs, NEVER)).toEqual([]);
  expect(await recording.market(marketId)).toMatchObject({ marketId, ...RESOLVED });
  expect(await recording.market('0xnone')).toBeNull();
  const ended = (startMs: number, endMs: number) =>
    recording.ended({ ticker: 'BTC', event_type: '5m' }, { startMs, endMs });
  expect((await ended(endTimeMs, endTimeMs + 1)).map((market) => market.marketId)).toEqual([marketId]);
  expect(await ended(endTimeMs - 1, endTimeMs)).toEqual([]);
});

/** Published from where the last life ended; rows published during the read of the past are sent at once. */
test('all five-minute windows that ended within an hour are found', async () => {
  const store = await openStore();
  const ids = Array.from({ length: 12 }, (_, at) => `0x${10 + at}`);
  const tape = randomTape('hour', { books: 1, levels: 1, gaps: false });
  const sink = recordedFirst(store.writer, { publish: () => undefined });
  for (const [at, marketId] of ids.entries()) {
    const shifted = { startTimeMs: START_MS + 300_000 * at, endTimeMs: START_MS + 300_000 * (at + 1) };
    sink.publish('market', { ...marketOf(tape, { marketId, ...shifted }), seq: 0 });
  }
  await store.writer.flush();
  const recording = storedRecording(store, { stored: flushed(store) });
  const range = { startMs: START_MS, endMs: START_MS + 3_600_001 };
  const ended = await recording.ended({ ticker: 'BTC', event_type: '5m' }, range);
  expect(ended.map(({ marketId }) => marketId)).toEqual(ids);
});

test('a book is read with the levels that the largest positions fill', async () => {
  const store = await openStore();
  const cents = Array.from({ length: 45 }, (_, at) => at);
  const tape = new TapeWriter()
    .book({
      at: 0,
      bids: cents.map((at) => [0.47 - at / 100, 5]),
      asks: cents.map((at) => [0.5 + at / 100, 5]),
    })
    .tape();
  const sink = recordedFirst(store.writer, { publish: () => undefined });
  for (const { publish } of recordedEventsOf(tape)) publish(sink);
  const [read] = await stretches(storedRecording(store, { stored: flushed(store) }), tape);
  expect(joined([read as MarketTape], (part) => part.books?.yesAsks.prices)).toEqual(
    cents.map((at) => 5_000 + 100 * at),
  );
});

test('a gap that is found while rows are read is among the gaps', async () => {
  const store = await openStore();
  const tape = randomTape('late gap', { books: 5, levels: 2, gaps: false });
  const sink = recordedFirst(store.writer, { publish: () => undefined });
  for (const { publish } of recordedEventsOf(tape)) publish(sink);
  const gap = {
    ...{ gapId: 'gap', marketId: tape.market.marketId, feed: 'polymarket.clob', repairedBy: null },
    ...{ startTimeMs: START_MS, endTimeMs: null, cause: 'silent_feed' as const },
    ...{ knownTimeMs: START_MS + 1, knownSeq: 900, seq: 900 },
  };
  let isFound = false;
  const during: StoreReader = {
    rows: (...question) => store.rows(...question) as never,
    stream: async (...question) => {
      if (!isFound) {
        isFound = true;
        store.writer.gap(oneClock(gap));
        await store.writer.flush();
      }
      return store.stream(...question);
    },
  };
  const [read] = await stretches(storedRecording(during, { stored: flushed(store) }), tape);
  expect(read?.gaps.map(({ startMs }) => startMs)).toEqual([START_MS]);
});

interface Life {
  readonly to: number;
  /** Rows that arrive before this life, while no process records them. */
  readonly lost: number;
}

/** Trades the published rows in consecutive lives; the downtime between them is recorded as a gap. */
async function traded(tape: MarketTape, lives: readonly Life[]) {
  const store = await openStore();
  const dataDir = temporaryDirectory();
  const told = recordedEventsOf(tape);
  const recording = storedRecording(store, { stored: flushed(store), booksAtOnce: 150 });
  let at = 0;
  for (const [life, { to, lost }] of lives.entries()) {
    const down = life === 0 ? null : gapAround(told, { from: at, to: at + lost });
    at += lost;
    if (down !== null) store.writer.gap(oneClock({ ...down.gap, seq: down.gap.knownSeq, endTimeMs: null }));
    const rig = await openPaperRig({
      dataDir,
      clock,
      recording,
      markets: () => (life === 0 ? [] : [marketOf(tape)]),
    });
    const sink = recordedFirst(store.writer, rig.bus);
    if (life === 0) {
      await makeStrategies(rig.trading.paperStrategies, rig.userId);
      sink.publish('market', { ...marketOf(tape), seq: 0 });
    }
    // While the past is being read.
    for (const { publish } of told.slice(at, at + 40)) publish(sink);
    await rig.trading.settled();
    if (down !== null) sink.publish('gap', oneClock({ ...down.gap, ...{ seq: down.endSeq } }));
    for (const { publish } of told.slice(at + 40, to)) publish(sink);
    at = to;
    if (to === told.length) sink.publish('market', { ...marketOf(tape, RESOLVED), seq: 0 });
    await rig.trading.settled();
    const { db, trading, userId } = rig;
    const rows = await db.selectFrom('paper_positions').selectAll().execute();
    const strategies = await trading.paperStrategies.strategies.list(userId);
    await trading.close();
    await db.destroy();
    if (to === told.length) {
      const [whole] = await stretches(storedRecording(store, { stored: flushed(store) }), tape);
      return { rows, strategies, recorded: whole as MarketTape };
    }
  }
  throw new RangeError('the last life does not come to the end');
}

/** Found at the next start, and over soon after the past was read; between two arrivals each. */
function gapAround(told: readonly RecordedEvent[], { from, to }: { from: number; to: number }) {
  const at = (index: number) => told[index] as RecordedEvent;
  const after = ({ seq }: RecordedEvent) => (seq % 8 === 0 ? seq + 1 : seq + 2);
  const gap = {
    ...{ gapId: `gap_${from}`, marketId: '0xtape', feed: 'underround', repairedBy: 'snapshot' },
    ...{ startTimeMs: at(from - 1).atMs, endTimeMs: at(to + 40).atMs + 1, cause: 'process_down' as const },
    ...{ knownTimeMs: at(to).atMs, knownSeq: after(at(to - 1)) },
  };
  return { gap, endSeq: after(at(to + 39)) };
}

/** A stopped process detects no gaps and sees none end. */
function clearOf(tape: MarketTape, cuts: readonly number[]): MarketTape['gaps'] {
  const told = recordedEventsOf(tape);
  const [first, last] = [told[0]?.seq ?? 0, told.at(-1)?.seq ?? 0];
  const near = (seq = Number.POSITIVE_INFINITY) =>
    cuts.some((cut) => Math.abs(seq - (first + cut * (last - first))) < 2_000);
  return tape.gaps.filter(({ knownSeq, endSeq }) => !near(knownSeq) && !near(endSeq));
}

test.each([
  ['without a restart', []],
  ['restarted once', [0.4]],
  ['restarted early and late, without loss', [0.1, 0.9]],
  ['restarted five times', [0.2, 0.35, 0.5, 0.65, 0.8]],
] as const)('%s, a recorded market has the same result as a replay of the recording', async (_, cuts) => {
  const late = withLateGaps(randomTape('lives', { books: 1_500, levels: 6, gaps: false }), 'lives');
  const tape = { ...late, gaps: clearOf(late, cuts) };
  const { length } = recordedEventsOf(tape);
  const lives = [...cuts, 1].map((cut, life) => ({
    to: Math.floor(length * cut),
    lost: life === 0 ? 0 : 60,
  }));
  const { rows, strategies, recorded } = await traded(tape, lives);
  expect(tape.gaps.length).toBeGreaterThan(2);
  expect(recorded.gaps).toHaveLength(tape.gaps.length + cuts.length);
  expect(rows.length).toBeGreaterThan(5);
  for (const { strategyId, strategy, activeFromMs, name, ...sums } of strategies) {
    const own = rows.filter((row) => row.paper_strategy_id === strategyId);
    const replayed = replayedRows(
      recorded,
      { strategyId, strategy, fromMs: activeFromMs, sizeUsd: 10 },
      RESOLVED,
    );
    expect(printedRows(own), name).toBe(printedRows(replayed));
    const { pnl, open, closed } = sumsOf(own);
    expect([sums.netPnl, sums.openPositions, sums.closedPositions], name).toEqual([pnl, open, closed]);
  }
});

test('waiting for rows to be stored ends with trading', async () => {
  const ending = new AbortController();
  const recording = storedRecording(await openStore(), { stored: () => new Promise(() => undefined) });
  const { signal } = ending;
  const market = marketOf(randomTape('ends', { books: 1, levels: 1, gaps: false }));
  const reads = Promise.allSettled([
    recording.stretch(market, { afterSeq: BEFORE_FIRST_SEQ }, signal),
    recording.prices({ ticker: 'BTC', source: 'chainlink' }, market.endTimeMs, signal),
  ]);
  ending.abort();
  const refused = { status: 'rejected', reason: signal.reason };
  expect(await reads).toEqual([refused, refused]);
});

test('reading rows ends with trading', async () => {
  const store = await openStore();
  const ending = new AbortController();
  const during: StoreReader = {
    rows: (...question) => store.rows(...question) as never,
    stream: (...question) => {
      ending.abort();
      return store.stream(...question);
    },
  };
  const recording = storedRecording(during, { stored: flushed(store) });
  const market = marketOf(randomTape('ends', { books: 1, levels: 1, gaps: false }));
  const read = recording.stretch(market, { afterSeq: BEFORE_FIRST_SEQ }, ending.signal);
  await expect(read).rejects.toThrow(/^This operation was aborted$/);
});
