import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../config.ts';
import { StrikeFinder } from '../lifecycle/strikeFinder.ts';
import { ArchiveReportBuilder } from '../recorder/import/archives/archiveReport.ts';
import { importArchive, openArchive } from '../recorder/import/archives/importArchive.ts';
import { requireWhole } from '../recorder/import/archives/textLines.ts';
import { FrameRouter } from '../recorder/import/frameRouter.ts';
import { importRecording } from '../recorder/import/importRecording.ts';
import { importSetAside } from '../recorder/import/quarantineImport.ts';
import { RecordCounter } from '../recorder/import/recordCounter.ts';
import { recordingsUnder } from '../recorder/import/recordedFiles.ts';
import { Recorder } from '../recorder/recorder.ts';
import { systemClock } from '../runtime/clock.ts';
import { syncDirectory, writeSynced } from '../runtime/durableFile.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { createLogger, type Logger } from '../runtime/log.ts';
import { makeDurableDirectories } from '../runtime/makeDirectories.ts';
import { Metrics } from '../runtime/metrics.ts';
import { runAlone } from '../store/journal/claimDirectory.ts';
import { openStore, type Store } from '../store/store.ts';
import { recoveryProgress } from './progress.ts';
import { makeDataDirectory } from './settings.ts';

interface ImportParts {
  readonly store: Store;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface ImportChoices {
  /** Import files also that were imported before. */
  readonly again: boolean;
  /** Stops before the next file: the rows of one that was imported in part would be stored a second time. */
  readonly signal: AbortSignal;
  /** Only these of files of PMXT, which have all markets of a venue; null: all. */
  readonly markets?: ReadonlySet<string> | null;
}

/**
 * Imports recordings into the store of a data directory; a server may be running on it. A file that was imported before
 * is skipped unless `again` is set, because its rows would be stored twice.
 * @throws {InvalidInputError} If a file is damaged, or has no choice of markets, before anything is stored; if another
 * process imports one; or if nothing could be recorded.
 */
export async function importInto(
  config: Config,
  target: string,
  { again, signal, markets = null }: ImportChoices,
) {
  const files = await recordingsUnder(target);
  const whole = markets === null ? undefined : files.find((file) => !file.endsWith('.parquet'));
  if (whole !== undefined)
    throw new InvalidInputError(
      `${whole} is no file of PMXT, and --market applies to those alone: leave it out`,
    );
  for (const file of files) {
    await requireWhole(file, signal);
    // Reads the description at the end of the file: a download that was cut has none.
    if (file.endsWith('.parquet')) await openArchive(file, { markets });
  }
  return await withStore(config, async ({ store, log, metrics }) => {
    const counter = new RecordCounter(store.writer);
    const common = { clock: systemClock, log, metrics };
    const recorder = new Recorder({
      ...{ ...common, sink: counter.sink, timeBy: 'receipt', isProvenByHashOnly: true },
    });
    const report = new ArchiveReportBuilder();
    const strikes = new StrikeFinder({ candles: null, log, metrics });
    const router = new FrameRouter({ recorder, log, strikes });
    const ledger = new ImportLedger(config.dataDir);
    let [frames, skipped] = [0, 0];
    const unclaimed: { content: string; file: string }[] = [];
    for (const file of files) {
      signal.throwIfAborted();
      const content = await contentId(file);
      await ledger.alone(content, file, async () => {
        if (!again && (await ledger.has(content))) {
          log.warn({ file }, 'import.skipped_as_done');
          skipped++;
          return;
        }
        // The writer accepts rows faster than the engine stores them. Flushing regularly keeps memory bounded.
        const onProgress = () => store.writer.flush();
        const archive = await openArchive(file, { markets });
        frames +=
          archive === null
            ? await importRecording(file, { router, log, fallbackTimeMs: systemClock.now(), onProgress })
            : await importArchive(file, archive, { router, report, onProgress });
        recorder.finishQuiet(Number.POSITIVE_INFINITY);
        await store.writer.flush();
        if (recordedSomething(counter)) await ledger.add(content, file);
        else unclaimed.push({ content, file });
      });
    }
    router.finish();
    recorder.close();
    await store.writer.flush();
    if (skipped < files.length && !recordedSomething(counter))
      throw new InvalidInputError(
        `nothing under ${target} could be recorded (frames read: ${frames}); docs/IMPORT.md lists the formats`,
      );
    // Nothing was recorded from these files until the recorder closed; their rows came only then.
    if (recordedSomething(counter))
      for (const { content, file } of unclaimed) await ledger.add(content, file);
    return {
      files: files.length - skipped,
      skipped_files: skipped,
      frames,
      rejected: router.rejected,
      frames_by_feed: Object.fromEntries(router.counts),
      recorded: counter.counts,
      markets: [...counter.marketIds],
      archives: report.report(),
    };
  });
}

/** Imports the set-aside frames of a data directory into its store. */
export function importQuarantine(config: Config) {
  return importSetAside(config.dataDir, (run) => withStore(config, run));
}

async function withStore<T>(config: Config, run: (parts: ImportParts) => Promise<T>): Promise<T> {
  const { dataDir, clickhouseUrl, clickhouseCluster, clickhouseStorage, diskReserve } = config;
  makeDataDirectory(dataDir);
  const log = createLogger(config.logLevel);
  const metrics = new Metrics();
  const tables = { clickhouseUrl, clickhouseCluster, clickhouseStorage };
  const storing = { dataDir, ...tables, diskReserve, writerName: 'import' };
  const common = { clock: systemClock, log, metrics };
  const store = await openStore({ ...common, ...storing, onRecovery: recoveryProgress() });
  try {
    return await run({ store, log, metrics });
  } finally {
    await store.close();
  }
}

function recordedSomething({ counts, marketIds }: RecordCounter): boolean {
  return marketIds.size > 0 || Object.values(counts).some((count) => count > 0);
}

/** The files already imported into a data directory, identified by content. */
class ImportLedger {
  readonly #dir: string;

  constructor(dataDir: string) {
    this.#dir = path.join(dataDir, 'imported');
  }

  /** @param content Of `contentId`. */
  async has(content: string): Promise<boolean> {
    return access(path.join(this.#dir, content)).then(
      () => true,
      () => false,
    );
  }

  /** Synced to the disk: without its note, a file whose rows are stored would be imported again. */
  async add(content: string, file: string): Promise<void> {
    await writeSynced(path.join(this.#dir, content), `${path.basename(file)}\n`, 'w');
    await syncDirectory(this.#dir);
  }

  /**
   * Imports a file while no other process does: both would store its rows.
   * @throws {InvalidInputError} If another process imports it.
   */
  async alone(content: string, file: string, run: () => Promise<void>): Promise<void> {
    makeDurableDirectories(this.#dir);
    await runAlone(path.join(this.#dir, `${content}.running`), `imports ${file}`, run);
  }
}

async function contentId(file: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
}
