import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import type { RecordStream, SharedValues } from '../../src/bus/recordStream.ts';
import { FrameRouter } from '../../src/recorder/import/frameRouter.ts';
import { PartitionMerge, type PartitionMergeState } from '../../src/recorder/merge/earlierRecording.ts';
import { StreamSink } from '../../src/recorder/publish/streamSink.ts';
import { Recorder } from '../../src/recorder/recorder.ts';
import { PartitionWorker } from '../../src/recorder/write/partitionWorker.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import {
  EXPORT_COLUMNS,
  EXPORT_FORMATS,
  type ExportColumn,
  type ExportFormat,
  type MarketSelection,
  type StoredSubject,
} from '../../src/schema/export.ts';
import { generateHistory, type RecordedFrame } from '../../src/simulator/history.ts';
import { VenueModel } from '../../src/simulator/model.ts';
import { StoreClient } from '../../src/store/engine/client.ts';
import { rowsOfFile } from '../../src/store/export/fileRows.ts';
import { openExport } from '../../src/store/export/openExport.ts';
import { RowHasher } from '../../src/store/export/rowHash.ts';
import { PartitionWriter } from '../../src/store/partitionWriter.ts';
import { exportSources } from '../../src/store/queries/exports.ts';
import type { StoreReader } from '../../src/store/reader.ts';
import { FakeClock } from '../support/fakeClock.ts';
import { MemoryValues } from '../support/memoryElection.ts';
import { MemoryStreamServer } from '../support/memoryStream.ts';
import { openTestStore, reachTestEngine, type TestStore } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { WAIT_MS_MAX } from '../support/waitLimit.ts';

/** Length of the recorded period; set the variable to 3600 for a whole hour. */
const PERIOD_MS = Number(process.env.SAME_EXPORTS_SECONDS ?? '10') * 1_000;
const START_MS = Date.UTC(2026, 10, 20, 12, 0, 0);
const NEVER = new AbortController().signal;
const STATUS = { reasons: [], degraded: [], priceSources: null };
const log = silentLogger;

/** Datasets of which both recordings have the same rows; tables of markets and gaps are compared below. */
const COMPARED = ['snapshots', 'deltas', 'quotes', 'trades', 'underlying', 'perp_depth'] as const;

/** A period of the simulated venue with its receive times. */
function frames(): Generator<RecordedFrame> {
  const model = new VenueModel({
    ...{ seed: 'exports', startTimeMs: START_MS, density: 0.02 },
    ...{ tickers: ['BTC', 'ETH'], eventTypes: ['5m', '15m', '1h'] },
  });
  return generateHistory(model, { endTimeMs: START_MS + PERIOD_MS });
}

const feedOf = ({ feed }: RecordedFrame) => (feed === 'binance.spot' ? 'binance' : feed);

/** One process: the recorder writes into the store. */
async function recordAlone(): Promise<TestStore> {
  const opened = await openTestStore();
  const { writer } = opened.store;
  const clock = new FakeClock(START_MS);
  const options = { clock, log, metrics: new Metrics(), timeBy: 'receipt' } as const;
  const recorder = new Recorder({ ...options, sink: writer });
  const router = new FrameRouter({ recorder, log });
  let frameCount = 0;
  for (const recorded of frames()) {
    router.route(feedOf(recorded), recorded.frame, recorded.receivedTimeMs);
    if (++frameCount % 20_000 === 0) await writer.flush();
  }
  router.finish();
  recorder.close();
  await writer.flush();
  return opened;
}

/** A store that workers write into, one for each partition of the stream. */
async function openWritten({ stream, values }: { stream: RecordStream; values: SharedValues }) {
  const dataDir = temporaryDirectory();
  const parts = { clock: systemClock, log };
  const access = await reachTestEngine(dataDir, parts);
  const opened = await openTestStore({ dataDir, engine: Promise.resolve(access) });
  const client = new StoreClient({ access, ...parts });
  const metrics = new Metrics();
  const workers: PartitionWorker[] = [];
  for (let partition = 0; partition < stream.partitions; partition++) {
    const store = await PartitionWriter.open({ ...parts, client, partition, dataDir, metrics });
    const merging = {
      openMerge: (state: unknown) =>
        new PartitionMerge(stream, structuredClone(state as PartitionMergeState)),
      firstState: async (): Promise<PartitionMergeState> => ({ merge: null, earlier: {} }),
    };
    const own = { partition, stream, values, store, ...merging, isOwner: () => true };
    workers.push(await PartitionWorker.start({ ...parts, ...own }));
  }
  return { opened, stop: () => Promise.all(workers.map((worker) => worker.stop())) };
}

/** Several processes: the recorder publishes, and workers store the merged stream. */
async function recordThroughStream(): Promise<TestStore> {
  const clock = new FakeClock(START_MS);
  const server = new MemoryStreamServer({ clock, baseSeq: 0 });
  const { opened, stop } = await openWritten({ stream: server.connect(), values: new MemoryValues() });
  const published = new StreamSink({
    ...{ stream: server.connect(), clock, sender: 'a', run: 'run1', status: () => STATUS },
  });
  const options = { clock, log, metrics: new Metrics(), timeBy: 'receipt' } as const;
  const recorder = new Recorder({ ...options, sink: published });
  recorder.onActionEnd = (recorded, action) => published.actionEnded(recorded, action);
  const router = new FrameRouter({ recorder, log });
  for (const recorded of frames()) {
    // The stream's clock follows the recorded receive times.
    if (recorded.receivedTimeMs >= clock.now() + 1_000) {
      await clock.advance(recorded.receivedTimeMs - clock.now());
      await server.idle();
      server.forgetBefore(server.lastSeq + 1);
    }
    router.route(feedOf(recorded), recorded.frame, recorded.receivedTimeMs);
  }
  router.finish();
  recorder.close();
  await server.idle();
  await stop();
  return opened;
}

/** All that can be exported from a store. */
async function subjectsOf({ store }: TestStore): Promise<StoredSubject[]> {
  // Markets that are only listed have empty exports.
  const markets = await store.rows<{ id: string }>('SELECT DISTINCT market_id AS id FROM books ORDER BY id');
  const prices = await store.rows<object>(
    "SELECT DISTINCT 'underlying' AS dataset, ticker, source FROM underlying ORDER BY ticker, source",
  );
  const depths = await store.rows<object>(
    "SELECT DISTINCT 'perp_depth' AS dataset, ticker, venue FROM perp_depth ORDER BY ticker, venue",
  );
  const ofMarkets = markets.flatMap(({ id: marketId }) =>
    (['snapshots', 'deltas', 'quotes', 'trades'] as const).map((dataset) => ({
      ...{ dataset, markets: { marketIds: [marketId] } },
    })),
  );
  return [...ofMarkets, ...prices, ...depths] as StoredSubject[];
}

/** The rows as JSON lines without their arrival numbers: each recording has its own. */
async function exportedRows(store: StoreReader, subject: StoredSubject): Promise<string> {
  const range = { startMs: null, endMs: null };
  const sources = await exportSources(store, subject, { range, signal: NEVER });
  const asked = { dataset: subject.dataset, format: 'jsonl', signal: NEVER } as const;
  return (await text(openExport(store, sources, asked))).replaceAll(/"seq":\d+/g, '"seq":0');
}

/** Everything that can be exported from a store, in few files: series, assets, markets and gaps. */
async function filesOf(opened: TestStore): Promise<StoredSubject[]> {
  const assets = (await subjectsOf(opened)).filter((subject) => !('markets' in subject));
  const series = await opened.store.rows<Extract<MarketSelection, { ticker: unknown }>>(
    'SELECT DISTINCT ticker, event_type AS eventType FROM markets ORDER BY ticker, eventType',
  );
  const ofMarkets = series.flatMap((markets) =>
    (['snapshots', 'deltas', 'quotes', 'trades', 'markets', 'gaps'] as const).map((dataset) => ({
      ...{ dataset, markets },
    })),
  );
  return [...assets, ...ofMarkets];
}

/** The file's number of rows and their hash, without arrival numbers. */
async function exportedFile(
  store: StoreReader,
  subject: StoredSubject,
  { format, path }: { format: ExportFormat; path: string },
): Promise<string> {
  const { dataset } = subject;
  const sources = await exportSources(store, subject, {
    range: { startMs: null, endMs: null },
    signal: NEVER,
  });
  await pipeline(openExport(store, sources, { dataset, format, signal: NEVER }), createWriteStream(path));
  const columns = EXPORT_COLUMNS[dataset];
  const isCompared = ({ name }: ExportColumn) => name !== 'seq' && name !== 'known_seq';
  const hasher = new RowHasher(columns.filter(isCompared));
  for await (const row of rowsOfFile(path, { format, columns })) {
    hasher.add(row.filter((_, at) => isCompared(columns[at] as ExportColumn)));
  }
  return `${hasher.rows} ${hasher.digest()}`;
}

describe('a recorded period, by one process and by several', () => {
  it(
    'gives exports with equal rows, and equal markets and gaps',
    async () => {
      const alone = await recordAlone();
      const cluster = await recordThroughStream();
      const subjects = await subjectsOf(alone);
      expect(await subjectsOf(cluster)).toEqual(subjects);
      const bytesOf = new Map<string, number>();
      for (const subject of subjects) {
        const [own, other] = await Promise.all(
          [alone, cluster].map(({ store }) => exportedRows(store, subject)),
        );
        expect(other === own, JSON.stringify(subject)).toBe(true);
        bytesOf.set(subject.dataset, (bytesOf.get(subject.dataset) ?? 0) + (own?.length ?? 0));
      }
      for (const dataset of COMPARED) expect(bytesOf.get(dataset), dataset).toBeGreaterThan(10_000);
      for (const table of ['markets', 'gaps']) {
        const query = `SELECT * EXCEPT (${table === 'gaps' ? 'seq, known_seq' : 'seq'}) FROM ${table} FINAL ORDER BY ALL`;
        expect(await cluster.store.rows(query), table).toEqual(await alone.store.rows(query));
      }
      const files = await filesOf(alone);
      expect(await filesOf(cluster)).toEqual(files);
      const path = join(temporaryDirectory(), 'export');
      for (const subject of files) {
        const found: string[] = [];
        for (const format of EXPORT_FORMATS) {
          for (const { store } of [alone, cluster]) {
            found.push(await exportedFile(store, subject, { format, path }));
          }
        }
        // Both recordings, and all formats, have the same rows.
        expect([...new Set(found)], JSON.stringify(subject)).toHaveLength(1);
      }
      await Promise.all([alone.dispose(), cluster.dispose()]);
      const sizes = JSON.stringify(Object.fromEntries(bytesOf));
      if (process.env.SAME_EXPORTS_SECONDS !== undefined)
        process.stdout.write(`${subjects.length} exports: ${sizes}\n`);
    },
    PERIOD_MS * 15 + 2 * WAIT_MS_MAX,
  );
});
