/** Exports of a recording into which a service stores further rows meanwhile. */
import { readFileSync } from 'node:fs';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { bookRecord, marketRecord } from '../../test/support/api.ts';
import { recordingReader } from '../../test/support/exportReader.ts';
import { oneClock } from '../../test/support/gaps.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { systemClock } from '../runtime/clock.ts';
import { ENGINES, writeEngineFolder } from '../store/export/engines/engineFolder.ts';
import { recordedState } from '../store/export/recordedState.ts';
import { exportedFilesBelow, verifyFile } from '../store/export/verify.ts';
import type { FolderDataset } from '../store/queries/exportParts.ts';
import type { StoreReader } from '../store/reader.ts';
import { exportFolder } from './exportFolder.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const M = '0xa';
const { signal } = new AbortController();
const WHOLE = { startMs: null, endMs: null };
const GAP = { marketId: M, feed: 'polymarket.clob', cause: 'disconnected', repairedBy: null } as const;

let opened: TestStore;
let seq: number;

/** Writes one more row of every kind, and a new version of the market. */
function writeMore(): void {
  const { writer } = opened.store;
  const timeMs = T0 + ++seq;
  const times = { marketId: M, eventTimeMs: timeMs, receivedTimeMs: timeMs + 40 };
  const yesBids = [[5_000 + seq, 1_000_000]] as const;
  writer.book(bookRecord({ seq, marketId: M, timeMs, yesBids, yesAsks: [] }));
  writer.quote({
    ...{ ...times, seq: ++seq, yesBid: 5_000 + seq, yesAsk: null, noBid: null, noAsk: null },
    ...{ yesChanged: true, trusted: true, underlyingPrice: null },
  });
  writer.trade({ ...times, seq: ++seq, side: 'BUY_YES', price: 5_000, size: 1_000_000, tradeId: `t${seq}` });
  writer.underlying({
    ...{ kind: 'underlying', ticker: 'BTC', source: 'binance_spot', price: 97_000 + seq },
    ...{ eventTimeMs: timeMs, receivedTimeMs: timeMs + 40, seq: ++seq },
  });
  const facts = { startTimeMs: T0, endTimeMs: T0 + 300_000, volume: seq };
  writer.market({ ...marketRecord({ marketId: M, ...facts }), seq: ++seq });
}

/** A gap that covers rows of the exported state. */
async function recordGap(gapId: string, times: { startTimeMs: number; endTimeMs: number | null }) {
  const known = { knownTimeMs: times.startTimeMs, knownSeq: ++seq };
  opened.store.writer.gap(oneClock({ ...GAP, gapId, ...times, ...known, seq }));
  await opened.store.writer.flush();
}

/** A store that gets rows before every third statement, so while every file is written. */
function growing(onRecord: () => Promise<void> = async () => {}): StoreReader {
  const { store } = opened;
  let statements = 0;
  const beforeStatement = async () => {
    if (statements++ % 3 !== 0) return;
    writeMore();
    await opened.store.writer.flush();
    await onRecord();
  };
  return {
    rows: async (query, params, more) => {
      await beforeStatement();
      return await store.rows(query, params, more);
    },
    stream: async (query, params, more) => {
      await beforeStatement();
      return await store.stream(query, params, more);
    },
  };
}

beforeEach(async () => {
  opened = await openTestStore();
  onTestFinished(opened.dispose);
  seq = 0;
  for (let round = 0; round < 5; round++) writeMore();
  await opened.store.writer.flush();
});

const state = () => recordedState(opened.store, { isRecording: false, clock: systemClock, signal });

async function exported(
  store: StoreReader,
  {
    format,
    upToSeq,
    datasets = ['snapshots', 'deltas', 'quotes', 'trades', 'underlying', 'markets', 'gaps'],
  }: { format: 'jsonl' | 'parquet'; upToSeq: number; datasets?: readonly FolderDataset[] },
): Promise<string[]> {
  const out = temporaryDirectory(onTestFinished);
  const filter = { ticker: null, eventType: null, source: null, venue: null };
  const range = { ...WHOLE, upToSeq };
  const asked = { datasets, filter, range, format, out, clock: systemClock, signal, onFile: () => {} };
  await exportFolder(recordingReader(store), asked);
  return await exportedFilesBelow(out);
}

test.each(['jsonl', 'parquet'] as const)(
  'a folder of %s has the rows of the state at its beginning, and its files verify',
  async (format) => {
    const upToSeq = await state();
    const paths = await exported(growing(), { format, upToSeq });
    expect(paths).toHaveLength(7);
    for (const path of paths) expect((await verifyFile(path)).problems).toEqual([]);
    if (format === 'parquet') return;
    const dated = paths.filter((path) => path.includes('date='));
    const seqs = dated.flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [Number(JSON.parse(line).seq)])),
    );
    expect(Math.max(...seqs)).toBeLessThanOrEqual(upToSeq);
    expect(new Set(seqs).size).toBe(4 * 5);
  },
);

test('gaps that are found, and end, while files are written change no file', async () => {
  const open = { startTimeMs: T0 + 7, endTimeMs: null };
  await recordGap('gap_open', open);
  const upToSeq = await state();
  const onRecord = async () => {
    await recordGap(`gap_${seq}`, { startTimeMs: T0, endTimeMs: T0 + 3 });
    const closed = { ...open, endTimeMs: T0 + seq + 1_000, knownTimeMs: T0 + 7, knownSeq: upToSeq };
    opened.store.writer.gap(oneClock({ ...GAP, gapId: 'gap_open', ...closed, seq: ++seq }));
  };
  const paths = await exported(growing(onRecord), {
    format: 'jsonl',
    upToSeq,
    datasets: ['quotes', 'deltas'],
  });
  for (const path of paths) expect((await verifyFile(path)).problems).toEqual([]);
  const quotes = readFileSync(paths.find((path) => path.includes('quotes-')) as string, 'utf8');
  const trusted = quotes.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).trusted]));
  expect(trusted).toEqual([true, true, false, false, false]);
});

test.each(ENGINES)('a folder for %s ends', async (engine) => {
  const upToSeq = await state();
  const out = temporaryDirectory(onTestFinished);
  const options = {
    engine,
    markets: { marketIds: [M] },
    range: WHOLE,
    upToSeq,
    out,
    signal,
    onFile: () => {},
  };
  const { files } = await writeEngineFolder(growing(), options);
  expect(files).toBeGreaterThan(0);
});
