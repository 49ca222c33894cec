import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeExportedFile } from '../../../test/support/exportedFile.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { formatTime } from '../../schema/time.ts';
import { verifyFile } from './verify.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const at = (ms: number | null) => (ms === null ? null : formatTime(T0 + ms));

const OPEN = { start: 0, end: null, startReceived: 40, endReceived: null };
const CLOSED = { start: 0, end: 1_000, startReceived: 40, endReceived: 1_040 };
const EARLIER_RELEASE = { ...CLOSED, startReceived: null, endReceived: null };
const INSIDE = [': row 1 is trusted inside the gap gap_1'];

test.each([
  ['in an open gap', { tsMs: 1, receivedMs: 41 }, OPEN, INSIDE],
  ['before an open gap, received late', { tsMs: -1, receivedMs: 900 }, OPEN, []],
  ['at the end of a gap, where its proof was received', { tsMs: 1_000, receivedMs: 1_040 }, CLOSED, []],
  ['at the end of a gap, received before its proof', { tsMs: 1_000, receivedMs: 1_039 }, CLOSED, INSIDE],
  ['before a gap of an earlier release by venue time', { tsMs: -9, receivedMs: 1 }, EARLIER_RELEASE, INSIDE],
])('a trusted row %s', async (_, quote, gap, problems) => {
  const path = join(temporaryDirectory(onTestFinished), 'quotes.jsonl');
  const row = { market_id: 'm', ts: at(quote.tsMs), received_at: at(quote.receivedMs), seq: 1 };
  const known = {
    ...{ market_id: 'm', gap_id: 'gap_1', start: at(gap.start), end: at(gap.end) },
    ...{ start_received: at(gap.startReceived), end_received: at(gap.endReceived) },
    ...{ cause: 'disconnected', feed: 'f', repaired_by: null, known_time: null, known_seq: null, seq: 2 },
  };
  await writeExportedFile(path, { dataset: 'quotes', rows: [row], gaps: [known] });
  const found = (await verifyFile(path)).problems;
  expect(found.map((problem) => problem.slice(path.length))).toEqual(problems);
});

test.each([
  ['quotes', 'underround.books', 'retention', 0],
  ['quotes', 'underround.quotes', 'retention', 1],
  ['quotes', 'underround.books', 'thinned', 0],
  ['quotes', 'underround.books', 'data_lost', 1],
  ['snapshots', 'underround.books', 'thinned', 1],
  ['snapshots', 'underround.trades', 'retention', 0],
  ['snapshots', 'polymarket.clob', 'retention', 1],
] as const)('%s beside a removal of %s (%s) have problems: %i', async (dataset, feed, cause, count) => {
  const path = join(temporaryDirectory(onTestFinished), 'rows.jsonl');
  const ladders = { yes_bids: [], yes_asks: [], no_bids: [], no_asks: [] };
  const row = { market_id: 'm', ts: at(500), received_at: at(540), seq: 1 };
  const known = {
    ...{ market_id: 'm', gap_id: 'gap_1', start: at(0), end: at(1_000), start_received: at(40) },
    ...{ end_received: at(1_040), repaired_by: null, known_time: null, known_seq: null, seq: 2 },
    ...{ cause, feed },
  };
  const rows = [dataset === 'quotes' ? row : { ...row, ...ladders }];
  await writeExportedFile(path, { dataset, rows, gaps: [known] });
  expect((await verifyFile(path)).problems).toHaveLength(count);
});
