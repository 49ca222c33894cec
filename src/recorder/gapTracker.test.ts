import { beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { GapRecord } from '../schema/records.ts';
import { GapTracker } from './gapTracker.ts';

const M = '0x1';
const at = (eventTimeMs: number, receivedTimeMs = eventTimeMs) => ({ eventTimeMs, receivedTimeMs });
const gapOf = (start = at(1_000, 1_040), knownTimeMs = 2_000) =>
  ({ marketId: M, cause: 'disconnected', feed: 'f', start, knownTimeMs }) as const;

let written: GapRecord[];
let gaps: GapTracker;

beforeEach(() => {
  written = [];
  let seq = 0;
  gaps = new GapTracker({
    ...{ sink: { gap: (record: GapRecord) => void written.push(record) }, nextSeq: () => ++seq },
    ...{ log: silentLogger, metrics: new Metrics() },
  });
});

test('a gap has the bounds of the rows around it, and one id', () => {
  gaps.open(gapOf());
  gaps.close(M, at(3_000, 3_050), 'snapshot');
  const gap = { startTimeMs: 1_000, startReceivedMs: 1_040, knownTimeMs: 2_000, knownSeq: 1 };
  expect(written).toMatchObject([
    { ...gap, seq: 1, endTimeMs: null, endReceivedMs: null, repairedBy: null },
    { ...gap, seq: 2, endTimeMs: 3_000, endReceivedMs: 3_050, repairedBy: 'snapshot' },
  ]);
  expect(new Set(written.map(({ gapId }) => gapId)).size).toBe(1);
});

test('no gap is shorter than nothing: an end before its start is its start, on each clock', () => {
  gaps.open(gapOf());
  gaps.close(M, at(900, 1_050), 'snapshot');
  gaps.passed(gapOf(), at(1_010, 950), null);
  expect(written.slice(1)).toMatchObject([
    { endTimeMs: 1_000, endReceivedMs: 1_050 },
    { endTimeMs: 1_010, endReceivedMs: 1_040 },
  ]);
});

test('is not known before its start was received, though the wall clock was set back', () => {
  gaps.open(gapOf(at(1_000, 1_040), 700));
  expect(gaps.of(M)?.knownTimeMs).toBe(1_040);
});

test('a market has one open gap, the first', () => {
  gaps.open(gapOf());
  gaps.open(gapOf(at(1_500)));
  gaps.passed(gapOf(at(1_600)), at(1_700), null);
  expect(written).toHaveLength(1);
  expect(gaps.of(M)?.startTimeMs).toBe(1_000);
  gaps.lost({ ...gapOf(at(100)), cause: 'data_lost' }, at(200));
  expect(written[1]).toMatchObject({ cause: 'data_lost', endTimeMs: 200 });
  expect(gaps.of(M)?.startTimeMs).toBe(1_000);
});

test.each([
  ['an earlier', at(800, 850), [{ startTimeMs: 800, startReceivedMs: 850, endTimeMs: null }]],
  ['the same', at(1_000, 1_040), []],
  ['a later', at(1_500, 1_550), []],
  ['no', null, []],
])('a gap of an earlier run starts at its last proven row at the latest: %s one', (_, proven, rewritten) => {
  gaps.open(gapOf());
  const [open] = written;
  if (open === undefined) throw new Error('nothing is written');
  const { seq: _seq, ...gap } = open;
  gaps.close(M, at(1_010), null);
  written.length = 0;
  gaps.resume(gap, proven);
  expect(written).toMatchObject(rewritten);
  expect(written).toHaveLength(rewritten.length);
  expect(gaps.of(M)?.startTimeMs).toBe(rewritten[0]?.startTimeMs ?? 1_000);
});
