import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withLateGaps } from '../../../test/support/lateGaps.ts';
import { END_MS, randomTape, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { GapReplay, gapKey } from './gapReplay.ts';
import { prepareMarket } from './prepare.ts';
import { coverageOf } from './replay.ts';
import type { TapeGap } from './tape.ts';

/** The reports, and before which arrival each is made. */
function told(gaps: readonly TapeGap[], arrivals: readonly { seq: number; receivedMs: number }[]): string[] {
  const said: string[] = [];
  let next = '';
  const teller = new GapReplay({
    gapDetected: ({ startMs, knownMs }) => said.push(`${next}: known ${startMs} at ${knownMs}`),
    gapEnded: ({ startMs, endMs }) => said.push(`${next}: ended ${startMs} at ${endMs}`),
  });
  teller.add(gaps);
  for (const { seq, receivedMs } of [...arrivals, { seq: Infinity, receivedMs: Infinity }]) {
    next = String(seq);
    teller.beforeSeq(seq);
    teller.beforeTime(receivedMs);
  }
  return said;
}

const arrivals = [
  { seq: 10, receivedMs: 100 },
  { seq: 20, receivedMs: 100 },
  { seq: 30, receivedMs: 100 },
  // Read late: an action that was ended by a quiet period.
  { seq: 40, receivedMs: 90 },
  { seq: 50, receivedMs: 130 },
];

describe('replayed gap reports', () => {
  test('a gap without an arrival number is known from the first record received at its time on', () => {
    const gap = { startMs: 50, knownMs: 130, endMs: null };
    expect(told([gap], arrivals)).toEqual(['50: known 50 at 130']);
    expect(told([{ ...gap, knownMs: 131 }], arrivals)).toEqual(['Infinity: known 50 at 131']);
  });

  test.each<[string, TapeGap, string[]]>([
    [
      'by arrival number, if all have the same time',
      { startMs: 50, knownMs: 100, endMs: 100, knownSeq: 21, endSeq: 31 },
      ['30: known 50 at 100', '40: ended 50 at 100'],
    ],
    [
      'by arrival number, though a later record was received earlier',
      { startMs: 50, knownMs: 110, endMs: null, knownSeq: 35 },
      ['40: known 50 at 110'],
    ],
    [
      'after a record of the same arrival number',
      { startMs: 50, knownMs: 100, endMs: 100, knownSeq: 20, endSeq: 30 },
      ['30: known 50 at 100', '40: ended 50 at 100'],
    ],
    [
      'detected and ended by one message',
      { startMs: 50, knownMs: 100, endMs: 100, knownSeq: 11, endSeq: 11 },
      ['20: known 50 at 100', '20: ended 50 at 100'],
    ],
    [
      'after all records, when the process was down to the end',
      { startMs: 50, knownMs: 9_000, endMs: 9_000, knownSeq: 900, endSeq: 901 },
      ['Infinity: known 50 at 9000', 'Infinity: ended 50 at 9000'],
    ],
    [
      'by time, without an arrival number',
      { startMs: 99, knownMs: 99.5, endMs: 120 },
      ['10: known 99 at 99.5', '10: ended 99 at 120'],
    ],
    [
      'ended no earlier than it was known, without an arrival number',
      { startMs: 50, knownMs: 100, endMs: 80 },
      ['10: known 50 at 100', '10: ended 50 at 100'],
    ],
  ])('%s', (_, gap, expected) => {
    expect(told([gap], arrivals)).toEqual(expected);
  });

  test('without arrival numbers come in the order of their detection, however the gaps are listed', () => {
    const early = { startMs: 80, knownMs: 95, endMs: null };
    const late = { startMs: 50, knownMs: 100, endMs: null };
    for (const gaps of [
      [late, early],
      [early, late],
    ])
      expect(told(gaps, arrivals)).toEqual(['10: known 80 at 95', '10: known 50 at 100']);
  });

  test('of an end without an arrival number come with the detection', () => {
    const gap = { startMs: 50, knownMs: 100, endMs: 120, knownSeq: 21 };
    expect(told([gap], arrivals)).toEqual(['30: known 50 at 100', '30: ended 50 at 120']);
  });

  test('without arrival numbers are made once each, however often their gaps are added', () => {
    const said: string[] = [];
    const teller = new GapReplay({
      gapDetected: ({ startMs }) => said.push(`known ${startMs}`),
      gapEnded: ({ startMs }) => said.push(`ended ${startMs}`),
    });
    const [first, second, third] = [1, 2, 3].map((n) => ({ startMs: n, knownMs: 10 * n, endMs: 10 * n }));
    teller.add([first, second] as TapeGap[]);
    teller.add([first, second] as TapeGap[]);
    teller.beforeTime(20);
    expect(said.splice(0)).toEqual(['known 1', 'ended 1', 'known 2', 'ended 2']);
    teller.add([first, second, third] as TapeGap[]);
    teller.beforeTime(30);
    expect(said).toEqual(['known 3', 'ended 3']);
  });

  test('are made once each over several stretches, also an end that became known meanwhile', () => {
    const said: string[] = [];
    const teller = new GapReplay({
      gapDetected: ({ startMs }) => said.push(`known ${startMs}`),
      gapEnded: ({ startMs }) => said.push(`ended ${startMs}`),
    });
    const open: TapeGap[] = [
      { startMs: 1, knownMs: 9, endMs: null, knownSeq: 5 },
      { startMs: 2, knownMs: 9, endMs: null },
    ];
    const later: TapeGap[] = [
      { startMs: 1, knownMs: 9, endMs: 30, knownSeq: 5, endSeq: 15 },
      { startMs: 2, knownMs: 9, endMs: 30 },
      { startMs: 3, knownMs: 20, endMs: null, knownSeq: 12 },
    ];
    teller.add(open);
    teller.beforeSeq(10);
    teller.beforeTime(10);
    expect(said.splice(0)).toEqual(['known 1', 'known 2']);
    teller.add(later);
    expect(said.splice(0)).toEqual(['ended 2']);
    teller.beforeSeq(13);
    teller.add(later);
    teller.beforeSeq(20);
    teller.beforeTime(Infinity);
    expect(said).toEqual(['known 3', 'ended 1']);
  });

  test('are made once each, however many there are', () => {
    const gap = fc.record({ knownSeq: fc.integer({ min: 0, max: 60 }), startMs: fc.integer({ max: 200 }) });
    fc.assert(
      fc.property(fc.array(gap, { maxLength: 30 }), (gaps) => {
        const ended = gaps.map((one) => ({ ...one, knownMs: 200, endMs: 200, endSeq: one.knownSeq + 5 }));
        expect(told(ended, arrivals)).toHaveLength(2 * gaps.length);
      }),
    );
  });
});

test('a gap is identified by the arrival number of its detection, though its start moves', () => {
  expect([gapKey({ startMs: 50, knownSeq: 7 }), gapKey({ startMs: 60, knownSeq: 7 })]).toEqual([7, 7]);
  expect([gapKey({ startMs: 50, knownSeq: null }), gapKey({ startMs: 60 })]).toEqual([50, 60]);
});

test.each(['one', 'two', 'three'])('the period that a gap covers is not covered, tape %s', (seed) => {
  const tape = withLateGaps(randomTape(`late ${seed}`, { books: 1_500, levels: 3, gaps: false }), seed);
  const { gaps } = tape;
  expect(gaps.length).toBeGreaterThan(5);
  const late = prepareMarket(tape, { model: false });
  const atOnce = gaps.map(({ startMs, endMs }) => ({ startMs, knownMs: startMs + 0.5, endMs }));
  const early = prepareMarket({ ...tape, gaps: atOnce }, { model: false });
  expect(coverageOf(late)).toBeLessThan(0.95);
  // They begin half a millisecond apart.
  expect(Math.abs(coverageOf(late) - coverageOf(early)) * (END_MS - START_MS)).toBeLessThan(gaps.length);
  // Decisions between the start and the detection used a book that looked proven.
  expect(late.inside.trusted).toBeGreaterThan(early.inside.trusted);
});

test('coverage ends where the gap that reaches back furthest begins, and at the window’s end', () => {
  const book = (writer: TapeWriter, at: number) =>
    writer.book({ at, bids: [[0.4, 1]], asks: [[0.5, 1 + at / 1_000]] });
  const writer = book(book(new TapeWriter(), 0), 95_000);
  writer.gap({ start: 90_000, known: 100_000, end: 110_000 });
  writer.gap({ start: 50_000, known: 200_000, end: 210_000 });
  const tape = book(book(book(writer, 120_000), 220_000), 310_000).tape();
  expect(coverageOf(prepareMarket(tape, { model: false }))).toBeCloseTo((50 + 80) / 300, 12);
});
