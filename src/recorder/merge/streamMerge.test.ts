import { describe, expect, it } from 'vitest';
import { InterruptedMerge, type PlacedMessage } from '../../../test/support/numberedStream.ts';
import { type CollectorFaults, T0, TwoCollectors } from '../../../test/support/twoCollectors.ts';
import { Random } from '../../core/random.ts';
import type { Gap, RowTimes } from '../../schema/gap.ts';
import type { BookRecord } from '../../schema/records.ts';
import { ladderHash } from '../publish/bookSnapshot.ts';
import type { MergedRecord } from './mergedRecord.ts';

const END_OF_TIME = Number.POSITIVE_INFINITY;
const SEEDS = 20;

interface MergedBook extends RowTimes {
  readonly marketId: string;
  readonly trusted: boolean;
  readonly key: string;
  readonly isLate: boolean;
}

function merge(placed: readonly PlacedMessage[], isInterrupted: () => boolean = () => false) {
  const merging = new InterruptedMerge(isInterrupted);
  const records: MergedRecord[] = [];
  for (const each of placed) records.push(...merging.step(each));
  return records;
}

function keyOf(book: Omit<BookRecord, 'seq'>): string {
  return `${book.marketId} ${book.eventTimeMs} ${ladderHash(book)}`;
}

function booksOf(records: readonly MergedRecord[]): MergedBook[] {
  return records.flatMap((merged) =>
    merged.kind === 'book' ? [{ ...merged.record, isLate: merged.isLate, key: keyOf(merged.record) }] : [],
  );
}

/** The newest version of each gap. */
function gapsOf(records: readonly MergedRecord[]): Gap[] {
  const newest = new Map<string, Gap>();
  for (const merged of records) if (merged.kind === 'gap') newest.set(merged.record.gapId, merged.record);
  return [...newest.values()];
}

/** The books that a collector had proven and that reached the stream, by key. */
function proven(placed: readonly PlacedMessage[]): Map<string, Omit<BookRecord, 'seq'>> {
  const found = new Map<string, Omit<BookRecord, 'seq'>>();
  for (const { message } of placed)
    if (message.kind === 'action' && message.body.book?.trusted === true)
      found.set(keyOf(message.body.book), message.body.book);
  return found;
}

/** The same condition as `TRUSTED` in the store's queries. */
function isInside({ eventTimeMs, receivedTimeMs }: RowTimes, gap: Gap): boolean {
  const { startTimeMs, endTimeMs, startReceivedMs, endReceivedMs } = gap;
  const [endMs, endReceived] = [endTimeMs ?? END_OF_TIME, endReceivedMs ?? END_OF_TIME];
  if (eventTimeMs > startTimeMs && eventTimeMs < endMs) return true;
  if (eventTimeMs < startTimeMs || eventTimeMs > endMs) return false;
  return receivedTimeMs > startReceivedMs && receivedTimeMs < endReceived;
}

function expectRight(model: TwoCollectors, records: readonly MergedRecord[]): void {
  const books = booksOf(records);
  const gaps = gapsOf(records);
  const since = ({ eventTimeMs }: RowTimes) => eventTimeMs - T0;

  // Nothing that a collector proved is lost, nothing is doubled, nothing is invented.
  const merged = new Set(books.map(({ key }) => key));
  const seen = proven(model.stream.placed);
  expect([...seen].filter(([key]) => !merged.has(key)).map(([key]) => key)).toEqual([]);
  const trusted = books.filter((book) => book.trusted).map(({ key }) => key);
  expect(trusted.filter((key, at) => trusted.indexOf(key) !== at)).toEqual([]);
  const truths = new Set(
    model.venue.flatMap(({ market, truth }) =>
      [...truth].map(([timeMs, hash]) => `${market.marketId} ${timeMs} ${hash}`),
    ),
  );
  expect(trusted.filter((key) => !truths.has(key))).toEqual([]);

  // Gaps cover exactly what nobody proved.
  const ofMarket = (marketId: string) => gaps.filter((gap) => gap.marketId === marketId);
  const isBegun = (key: string) =>
    books.some(
      ({ marketId, eventTimeMs }) => key.startsWith(marketId) && eventTimeMs < Number(key.split(' ')[1]),
    );
  const missed = [...truths].filter((key) => !merged.has(key) && !seen.has(key) && isBegun(key));
  const quotes = records.flatMap((each) => (each.kind === 'quote' && !each.isLate ? [each.record] : []));
  const uncovered = missed.filter((key) => {
    const [marketId = '', time] = key.split(' ');
    return !ofMarket(marketId).some(
      ({ startTimeMs, endTimeMs }) =>
        startTimeMs <= Number(time) && Number(time) <= (endTimeMs ?? END_OF_TIME),
    );
  });
  expect(uncovered).toEqual([]);
  expect(gaps.filter(({ endTimeMs }) => endTimeMs === null)).toEqual([]);
  const inside = books.filter(
    (book) => book.trusted && ofMarket(book.marketId).some((gap) => isInside(book, gap)),
  );
  expect(inside.map((book) => ({ at: since(book), gaps: ofMarket(book.marketId) }))).toEqual([]);
  const without = gaps.filter(
    (gap) =>
      (gap.endTimeMs ?? 0) > gap.startTimeMs &&
      !missed.some((key) => {
        const [marketId, time] = key.split(' ');
        return (
          marketId === gap.marketId && Number(time) > gap.startTimeMs && Number(time) < (gap.endTimeMs ?? 0)
        );
      }),
  );
  counts.gaps += gaps.filter((gap) => (gap.endTimeMs ?? 0) > gap.startTimeMs).length;
  counts.without += without.length;
  counts.books += books.length;
  counts.late += books.filter((b) => b.isLate).length;
  counts.missed += missed.length;
  counts.seen += seen.size;

  // Live state never goes back, and in the end it is the venue's.
  for (const { market, truth, actedMs } of model.venue) {
    const live = books.filter(({ marketId, isLate }) => marketId === market.marketId && !isLate);
    const times = live.map(({ eventTimeMs }) => eventTimeMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(live.at(-1)?.key).toBe(`${market.marketId} ${actedMs} ${truth.get(actedMs)}`);
    expect(quotes.findLast(({ marketId }) => marketId === market.marketId)?.trusted).toBe(true);
  }
}
const counts = { gaps: 0, without: 0, books: 0, late: 0, missed: 0, seen: 0, doubt: 0 };

const SCENES: Record<string, CollectorFaults> = {
  'lost connections': { disconnect: 0.03 },
  'lost frames': { loseFrame: 0.05, lateTrade: 0.3 },
  kills: { kill: 0.02 },
  stalls: { stall: 0.05 },
  partitions: { partition: 0.02 },
  'long partitions': { partition: 0.01, partitionMsMax: 240_000, disconnect: 0.01 },
  'all faults': {
    kill: 0.01,
    disconnect: 0.01,
    loseFrame: 0.02,
    stall: 0.02,
    partition: 0.01,
    lateTrade: 0.3,
  },
};

describe.each(Object.entries(SCENES))('two collectors with %s', (name, faults) => {
  it.each(Array.from({ length: SEEDS }, (_, at) => at))('merge into one recording, seed %i', async (seed) => {
    const model = new TwoCollectors(`${name} ${seed}`, { faults: [faults, faults] });
    await model.run(150);
    const { placed } = model.stream;
    const records = merge(placed);
    expectRight(model, records);
    const random = new Random(`${seed}`);
    expect(merge(placed, () => random.chance(0.02))).toEqual(records);
  });
});
it('counts', () => console.log(counts));
