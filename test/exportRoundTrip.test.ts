/** Exported files: what they contain, that they verify, and that an import of them is the same recording. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportFolder } from '../src/cli/exportFolder.ts';
import { FrameRouter } from '../src/recorder/import/frameRouter.ts';
import { Recorder } from '../src/recorder/recorder.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { EXPORT_DATASETS, EXPORT_FORMATS, type ExportFormat } from '../src/schema/export.ts';
import { generateHistory } from '../src/simulator/history.ts';
import { VenueModel } from '../src/simulator/model.ts';
import { StoreClient } from '../src/store/engine/client.ts';
import { importFiles } from '../src/store/export/importFiles.ts';
import { isImported } from '../src/store/export/recordOfRow.ts';
import { exportedFilesBelow, verifyFile } from '../src/store/export/verify.ts';
import { manifestPath } from '../src/store/export/writtenFile.ts';
import { PartitionWriter } from '../src/store/partitionWriter.ts';
import type { FolderDataset } from '../src/store/queries/exportParts.ts';
import { bookRecord, marketRecord } from './support/api.ts';
import { M, T0, writeDataSet } from './support/apiDataSet.ts';
import { recordingReader } from './support/exportReader.ts';
import { FakeClock } from './support/fakeClock.ts';
import { oneClock } from './support/gaps.ts';
import { openTestStore, reachTestEngine, type TestStore } from './support/store.ts';
import { temporaryDirectory } from './support/temporaryDirectory.ts';

const PERIOD_MS = 3_000;
const SIMULATED_MS = Date.UTC(2026, 10, 20, 23, 59, 58, 500);
const NEVER = new AbortController().signal;
const log = silentLogger;
const ALL = { ticker: null, eventType: null, source: null, venue: null };
/** The datasets of a recording. */
const RECORDED = EXPORT_DATASETS.filter(
  (dataset) => dataset === 'deltas' || isImported(dataset),
) as FolderDataset[];
const WHOLE = { startMs: null, endMs: null };

const root = temporaryDirectory(afterAll);
let folderCount = 0;
function newFolder(): string {
  const folder = join(root, String(folderCount++));
  mkdirSync(folder);
  return folder;
}

/** A period around midnight as recorded from the simulated venue. */
async function recordPeriod({ store: { writer } }: TestStore): Promise<void> {
  const model = new VenueModel({
    ...{ seed: 'round trip', startTimeMs: SIMULATED_MS, density: 0.02 },
    ...{ tickers: ['BTC'], eventTypes: ['5m', '15m'] },
  });
  const clock = new FakeClock(SIMULATED_MS);
  const recorder = new Recorder({ clock, log, metrics: new Metrics(), sink: writer, timeBy: 'receipt' });
  const router = new FrameRouter({ recorder, log });
  for (const { feed, frame, receivedTimeMs } of generateHistory(model, {
    endTimeMs: SIMULATED_MS + PERIOD_MS,
  })) {
    router.route(feed === 'binance.spot' ? 'binance' : feed, frame, receivedTimeMs);
  }
  router.finish();
  recorder.close();
  await writer.flush();
}

/** A store with a writer that accepts late rows. */
async function openWithPartition() {
  const dataDir = newFolder();
  const parts = { clock: systemClock, log };
  const metrics = new Metrics();
  const access = await reachTestEngine(dataDir, { ...parts, metrics });
  const opened = await openTestStore({ dataDir, engine: Promise.resolve(access) });
  const client = new StoreClient({ access, ...parts });
  const writer = await PartitionWriter.open({ ...parts, client, partition: 0, dataDir, metrics });
  writer.mayBeStoredUpTo(Number.MAX_SAFE_INTEGER);
  return { opened, writer };
}

let source: TestStore;
const folders = {} as Record<ExportFormat, string>;
const empty: TestStore[] = [];

beforeAll(async () => {
  const { opened, writer } = await openWithPartition();
  source = opened;
  await recordPeriod(source);
  writeDataSet(source.store.writer);
  const simulated = await source.store.rows<{ id: string }>(
    'SELECT DISTINCT market_id AS id FROM books ORDER BY id LIMIT 2',
  );
  for (const [index, { id }] of simulated.entries()) {
    const [startTimeMs, endTimeMs] = [SIMULATED_MS + 500, SIMULATED_MS + 1_500];
    source.store.writer.gap(
      oneClock({
        ...{ seq: 9_000_000 + index, gapId: `gap_s${index}`, marketId: id, startTimeMs, endTimeMs },
        ...{ cause: 'disconnected', feed: 'polymarket.clob', repairedBy: null },
        ...{ knownTimeMs: endTimeMs, knownSeq: 9_000_000 },
      }),
    );
  }
  await source.store.writer.flush();
  const late = bookRecord({ seq: 500, marketId: M, timeMs: T0 + 700, yesBids: [[5_000, 1]], yesAsks: [] });
  await writer.insert([{ kind: 'book', record: late, isLate: true }], 'late');
  for (const format of EXPORT_FORMATS) {
    folders[format] = newFolder();
    await exportTo(source, format, folders[format]);
  }
});
afterAll(() => Promise.all([source, ...empty].map((store) => store?.dispose())));

function exportTo({ store }: TestStore, format: ExportFormat, out: string) {
  const asked = { datasets: RECORDED, filter: ALL, range: WHOLE, format, out };
  return exportFolder(recordingReader(store), {
    ...asked,
    clock: systemClock,
    signal: NEVER,
    onFile: () => {},
  });
}

/** The names and bytes of all files below a folder. */
function bytesBelow(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = names.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return new Map(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'latin1')]));
}

const manifestOf = (path: string) => JSON.parse(readFileSync(manifestPath(path), 'utf8'));

describe('a partitioned export', () => {
  test('has a folder for each series or asset and UTC day, and a manifest beside each file', async () => {
    const names = [...bytesBelow(folders.csv).keys()].filter((name) => !name.endsWith('.manifest.json'));
    expect(names).toContain(
      'series=BTC-5m/date=2026-11-20/snapshots-BTC-5m-20261120T000000Z-20261121T000000Z.csv',
    );
    expect(names).toContain(
      'series=BTC-5m/date=2026-11-21/snapshots-BTC-5m-20261121T000000Z-20261122T000000Z.csv',
    );
    expect(names).toContain(
      'asset=BTC/venue=okx/date=2026-11-20/perp_depth-BTC-okx-20261120T000000Z-20261121T000000Z.csv',
    );
    expect(bytesBelow(folders.csv).size).toBe(names.length * 2);
    for (const dataset of RECORDED)
      expect(
        names.filter((name) => name.includes(`/${dataset}-`)),
        dataset,
      ).not.toEqual([]);
  });

  test('verifies, and the rows of the three formats have the same hash', async () => {
    const hashes = await Promise.all(
      EXPORT_FORMATS.map(async (format) => {
        const paths = await exportedFilesBelow(folders[format]);
        for (const path of paths) expect((await verifyFile(path)).problems).toEqual([]);
        return paths.map((path) => [manifestOf(path).rows, manifestOf(path).data_sha256]);
      }),
    );
    expect(hashes[1]).toEqual(hashes[0]);
    expect(hashes[2]).toEqual(hashes[0]);
    expect(hashes[0]?.some(([rows]) => rows > 100)).toBe(true);
  });

  test('has trusted, untrusted and late rows, and rows whose trust was lost later', async () => {
    const rows = [...bytesBelow(folders.jsonl)]
      .filter(([name]) => name.includes('/snapshots-') && name.endsWith('.jsonl'))
      .flatMap(([, text]) => text.split('\n').slice(0, -1))
      .map((line) => JSON.parse(line) as Record<string, boolean>);
    const seen = rows.map((row) => [row.trusted, row.trusted_on_arrival, row.late].join());
    expect([...new Set(seen)].sort()).toEqual(
      expect.arrayContaining(['false,false,false', 'false,true,false', 'true,true,false']),
    );
    expect(rows.filter(({ late }) => late)).toHaveLength(1);
  });

  test('continues: finished files are kept, and a cut, a changed or a missing one is written again', async () => {
    const out = newFolder();
    await exportTo(source, 'parquet', out);
    const whole = bytesBelow(out);
    const [cut, changed, unfinished] = (await exportedFilesBelow(out)) as [string, string, string];
    truncateSync(cut, 10);
    appendFileSync(changed, 'x');
    rmSync(manifestPath(unfinished));
    const files = whole.size / 2;
    expect(await exportTo(source, 'parquet', out)).toMatchObject({ files, kept: files - 3 });
    expect(bytesBelow(out)).toEqual(whole);
  });
});

describe('an import of exported files', () => {
  test.each(EXPORT_FORMATS)(
    '%s: exported again, all files and manifests have the same bytes',
    async (format) => {
      const { opened, writer } = await openWithPartition();
      empty.push(opened);
      const paths = await exportedFilesBelow(folders[format]);
      const parts = { store: opened.store, writer, onFile: () => {}, signal: NEVER };
      const imported = await importFiles(paths, parts);
      expect(imported.skipped.every((path) => path.includes('/deltas-'))).toBe(true);
      // A second import stores nothing twice.
      if (format === 'csv') expect(await importFiles(paths, parts)).toEqual(imported);
      const out = newFolder();
      await exportTo(opened, format, out);
      const [before, after] = [bytesBelow(folders[format]), bytesBelow(out)];
      expect([...after.keys()]).toEqual([...before.keys()]);
      for (const [name, bytes] of before) expect(after.get(name) === bytes, name).toBe(true);
    },
  );

  test.each([[['snapshots']], [['gaps', 'markets', 'snapshots']]] as const)(
    'a gap that ends at the start of the range is in the export: %s',
    async (datasets) => {
      const from = await openTestStore();
      const to = await openWithPartition();
      empty.push(from, to.opened);
      const { writer } = from.store;
      writer.market({ ...marketRecord({ marketId: M, startTimeMs: T0, endTimeMs: T0 + 300_000 }), seq: 1 });
      const endTimeMs = T0 + 5_000;
      // Two rows with the time of the gap's end: the second one proved the book, and the first is inside the gap.
      const levels = { yesBids: [[5_000, 1] as const], yesAsks: [[6_000, 1] as const], trusted: true };
      for (const [seq, receivedTimeMs] of [
        [2, endTimeMs + 40],
        [3, endTimeMs + 90],
      ] as const) {
        writer.book({ ...bookRecord({ seq, marketId: M, timeMs: endTimeMs, ...levels }), receivedTimeMs });
      }
      writer.gap({
        ...{ seq: 4, gapId: 'gap_b', marketId: M, startTimeMs: T0, endTimeMs, startReceivedMs: T0 + 40 },
        ...{ endReceivedMs: endTimeMs + 90, cause: 'silent_feed', feed: 'polymarket.clob', repairedBy: null },
        ...{ knownTimeMs: endTimeMs + 90, knownSeq: 3 },
      });
      await writer.flush();
      const out = newFolder();
      const range = { startMs: endTimeMs, endMs: null };
      await exportFolder(recordingReader(from.store), {
        ...{ datasets, filter: ALL, range, format: 'jsonl', out },
        ...{ clock: systemClock, signal: NEVER, onFile: () => {} },
      });
      const paths = await exportedFilesBelow(out);
      for (const path of paths) expect((await verifyFile(path)).problems).toEqual([]);
      await importFiles(paths, {
        store: to.opened.store,
        writer: to.writer,
        onFile: () => {},
        signal: NEVER,
      });
      const gaps = await to.opened.store.rows('SELECT gap_id FROM gaps FINAL');
      expect(gaps).toEqual([{ gap_id: 'gap_b' }]);
    },
  );

  test('refuses a file that does not verify, and stores nothing', async () => {
    const { opened, writer } = await openWithPartition();
    empty.push(opened);
    const out = newFolder();
    await exportTo(source, 'jsonl', out);
    const paths = await exportedFilesBelow(out);
    const path = paths.find((name) => name.includes('/trades-')) as string;
    const { rows, file } = manifestOf(path);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(/\n.*\n$/, '\n'));
    const parts = { store: opened.store, writer, onFile: () => {}, signal: NEVER };
    const bytes = Buffer.byteLength(readFileSync(path));
    await expect(importFiles(paths, parts)).rejects.toThrow(
      `nothing was imported: ${path}: its bytes are ${bytes}; the manifest has ${file.bytes}`,
    );
    expect((await verifyFile(path)).problems.slice(2)).toEqual([
      `${path}: its rows are ${rows - 1}; the manifest has ${rows}`,
      expect.stringMatching(/: the SHA-256 of its rows is [0-9a-f]{64}; the manifest has [0-9a-f]{64}$/),
    ]);
    expect(await opened.store.rows('SELECT count() AS rows FROM trades')).toEqual([{ rows: 0 }]);
  });
});

describe('verification', () => {
  const copyOf = (path: string) => {
    const copy = join(newFolder(), path.slice(path.lastIndexOf('/') + 1));
    writeFileSync(copy, readFileSync(path));
    writeFileSync(manifestPath(copy), readFileSync(manifestPath(path)));
    return copy;
  };
  const fileOf = async (format: ExportFormat, dataset: string) =>
    copyOf(
      (await exportedFilesBelow(folders[format])).find((path) =>
        path.includes(`/${dataset}-BTC-5m`),
      ) as string,
    );

  test('finds a trusted row inside a gap, though the hashes are right', async () => {
    const path = await fileOf('csv', 'snapshots');
    const manifest = manifestOf(path);
    const lines = readFileSync(path, 'utf8').split('\n');
    const [, marketId, start] = /^"([^"]+)","([^"]+)"/.exec(lines[2] as string) as unknown as string[];
    const end = '2026-11-21T00:00:00.000+00:00';
    const gap = { ...manifest.gaps[0], gap_id: 'gap_x', market_id: marketId };
    const times = { start: '2026-11-20T00:00:00.000+00:00', end, start_received: start, end_received: end };
    writeFileSync(manifestPath(path), JSON.stringify({ ...manifest, gaps: [{ ...gap, ...times }] }));
    const row = lines.findIndex(
      (line) => line.startsWith(`"${marketId}"`) && /^"[^"]+","[^"]+","[^"]+",true/.test(line),
    );
    expect((await verifyFile(path)).problems).toEqual([
      `${path}: row ${row} is trusted inside the gap gap_x`,
    ]);
  });

  test.each([
    [
      'no manifest',
      (path: string) => rmSync(manifestPath(path)),
      /: there is no \S+\.manifest\.json beside it$/,
    ],
    ['no file', (path: string) => rmSync(path), /: the file of \S+\.manifest\.json does not exist$/],
    [
      'a manifest that is none',
      (path: string) => writeFileSync(manifestPath(path), '{}'),
      /\.manifest\.json is no manifest of this release: manifest_version: /,
    ],
    [
      'a changed cell',
      (path: string) =>
        writeFileSync(path, readFileSync(path, 'utf8').replace('"BUY_YES",0.53', '"BUY_YES",0.54')),
      /: its SHA-256 is /,
    ],
  ])('reports %s', async (_what, damage, problem) => {
    const path = await fileOf('csv', 'trades');
    damage(path);
    expect((await verifyFile(path)).problems[0]).toMatch(problem);
  });
});

test('a Parquet file has several row groups under one footer', async () => {
  const paths = await exportedFilesBelow(folders.parquet);
  const path = paths.find((name) => name.includes('series=BTC-15m/date=2026-11-20/snapshots-')) as string;
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
  expect(metadata.row_groups.length).toBeGreaterThan(1);
  expect(Number(metadata.num_rows)).toBe(manifestOf(path).rows);
});
