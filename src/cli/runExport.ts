import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { exportReader } from '../api/exportReader.ts';
import { missingResult } from '../backtest/jobExport.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { counted } from '../runtime/counted.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { exportFields, exportSubject } from '../schema/api/exports.ts';
import { readFields } from '../schema/api/fields.ts';
import {
  EXPORT_DATASETS,
  type ExportFormat,
  type ExportRange,
  type ExportSubject,
  isJobDataset,
} from '../schema/export.ts';
import { type ExportReader, openSources } from '../store/export/controlRows.ts';
import { ENGINES, type EngineName, writeEngineFolder } from '../store/export/engines/engineFolder.ts';
import { openExport } from '../store/export/openExport.ts';
import { recordedState } from '../store/export/recordedState.ts';
import { isImported } from '../store/export/recordOfRow.ts';
import { writeExport } from '../store/export/writtenFile.ts';
import { otherWriter } from '../store/journal/runDirectory.ts';
import type { FolderDataset, PartFilter } from '../store/queries/exportParts.ts';
import { findMarketKey } from '../store/queries/markets.ts';
import { ControlDatabase } from './controlRows.ts';
import { type ExportFilters, requireApplicable } from './exportFilters.ts';
import { exportFolder } from './exportFolder.ts';
import { interruptible } from './failure.ts';
import { openRecording } from './openRecording.ts';
import { followedAssets, readSettings } from './settings.ts';

export interface ExportOptions extends ExportFilters {
  readonly format?: string;
  readonly out?: string;
  readonly dataDir?: string;
}

interface Asked {
  readonly range: ExportRange;
  readonly format: ExportFormat;
}
interface AskedFile extends Asked {
  readonly subject: ExportSubject;
}
interface AskedFolder extends Asked {
  readonly datasets: readonly FolderDataset[];
  readonly filter: PartFilter;
}

/** What exports read, and the control database that checks a job. */
interface CommandReader extends ExportReader {
  readonly control: ControlDatabase;
  /** The export has the rows up to this arrival number. */
  readonly upToSeq: number;
}

const FORMAT_DEFAULT: ExportFormat = 'jsonl';
/** The word for every dataset that an import needs. */
const ALL = 'all';
const RECORDED = EXPORT_DATASETS.filter(isImported);

/** Writes an export. A refusal is one line on standard error and exit status 1, and leaves no unfinished file. */
export async function runExport(datasets: string, options: ExportOptions): Promise<void> {
  await interruptible(async (signal) => {
    try {
      const { out } = options;
      const engine = ENGINES.find((name) => name === datasets);
      if (engine !== undefined) await writeEngine(engine, options, signal);
      else if (out !== undefined && isFolder(out)) {
        const asked = readFolder(datasets, options);
        await reading({ ...options, signal }, async (reader) => {
          const onFile = (line: string) => console.error(line);
          const range = { ...asked.range, upToSeq: reader.upToSeq };
          printFolder(await exportFolder(reader, { ...asked, range, out, clock, signal, onFile }));
        });
      } else {
        const asked = readFile(datasets, options);
        if (out !== undefined) checkOut(out);
        await reading({ ...options, signal }, (reader) => writeOne(reader, asked, { out, signal }));
      }
    } catch (error) {
      // The reader of standard output closed it, which is no failure.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

/** @throws {InvalidInputError} Lists every problem. */
async function writeEngine(engine: EngineName, options: ExportOptions, signal: AbortSignal): Promise<void> {
  const { out } = options;
  if (out === undefined || !isFolder(out)) {
    throw new InvalidInputError(`${engine} needs a folder: --out with a slash at the end`);
  }
  if (options.format !== undefined && options.format !== FORMAT_DEFAULT) {
    throw new InvalidInputError(`${engine} has a format of its own: leave --format out`);
  }
  // The selection of markets is that of the list of markets.
  const { subject, values } = readOptions('markets', options);
  requireApplicable(['markets'], options, engine);
  if ('msg' in subject) throw new InvalidInputError(`${engine} needs ${neededBy(subject.loc.at(-1))}`);
  const { markets } = subject as Extract<ExportSubject, { markets: unknown }>;
  await reading({ ...options, signal }, async (reader) => {
    await checkSubject(reader, subject, signal);
    const asked = { engine, markets, range: rangeOf(values), upToSeq: reader.upToSeq, out, signal };
    const { files, kept } = await writeEngineFolder(reader.store, {
      ...asked,
      onFile: (line) => console.error(line),
    });
    console.log(`${counted(files, 'file')}: ${files - kept} written, ${kept} kept`);
  });
}

function printFolder({ files, kept, rows, bytes }: Awaited<ReturnType<typeof exportFolder>>): void {
  const written = `${files - kept} written with ${counted(rows, 'row')} and ${counted(bytes, 'byte')}`;
  console.log(`${counted(files, 'file')}: ${written}, ${kept} kept`);
}

const isFolder = (out: string) =>
  out.endsWith('/') || statSync(out, { throwIfNoEntry: false })?.isDirectory() === true;

/** @throws {InvalidInputError} Lists every problem. */
function readFile(dataset: string, options: ExportOptions): AskedFile {
  if (dataset === ALL || dataset.includes(',')) {
    throw new InvalidInputError('several datasets need a folder: --out with a slash at the end');
  }
  const { subject, values } = readOptions(dataset, options);
  requireApplicable([dataset], options);
  if ('msg' in subject) throw new InvalidInputError(`${dataset} needs ${neededBy(subject.loc.at(-1))}`);
  return { subject, range: rangeOf(values), format: values.format };
}

/** @throws {InvalidInputError} Lists every problem. */
function readFolder(datasets: string, options: ExportOptions): AskedFolder {
  const names: readonly string[] = datasets === ALL ? RECORDED : datasets.split(',');
  if (options.marketId !== undefined) {
    throw new InvalidInputError('--market-id gives one file: name it with --out; a folder has whole series');
  }
  const read = names.map((dataset) => readOptions(dataset, options).values);
  const [values] = read as [(typeof read)[number]];
  const { ticker, event_type: eventType } = values;
  const found = [...new Set(read.map(({ dataset }) => dataset))];
  const inFolders = found.filter((dataset) => !isJobDataset(dataset));
  if (inFolders.length < found.length) {
    throw new InvalidInputError('the result of a job is one file: name it with --out');
  }
  requireApplicable(inFolders, options, datasets);
  const source = options.source === undefined ? null : values.source;
  const venue = options.venue === undefined ? null : values.venue;
  return {
    datasets: inFolders,
    filter: { ticker, eventType, source, venue },
    range: rangeOf(values),
    format: values.format,
  };
}

/** @throws {InvalidInputError} Lists every problem. */
function readOptions(dataset: string, { marketId, eventType, jobId, since, ...options }: ExportOptions) {
  const { ticker, source, venue, end, format } = options;
  if (since !== undefined && options.start !== undefined) {
    throw new InvalidInputError('--since is the same as --start: name one of them');
  }
  const start = since ?? options.start;
  const named = { market_id: marketId, event_type: eventType, job_id: jobId, ticker, source, venue };
  const asked = { dataset, ...named, start, end, format };
  const { values, problems, refusal } = readFields(exportFields(followedAssets().tickers), asked, 'query');
  const lines = problems.map(({ loc, msg }) => `${optionOf(loc.at(-1))}: ${msg}`);
  if (refusal !== null) lines.push(refusal);
  if (lines.length > 0) throw new InvalidInputError(lines.join('; '));
  if (values.start !== null && values.end !== null && values.start > values.end) {
    throw new InvalidInputError('--start must not be after --end');
  }
  return { values, subject: exportSubject(values) };
}

const rangeOf = ({ start, end }: { start: number | null; end: number | null }): ExportRange => ({
  startMs: start,
  endMs: end,
});

/**
 * @throws {InvalidInputError} If no file can have this name. Without this check it would fail only after the whole
 * export.
 */
function checkOut(out: string): void {
  if (out === '') throw new InvalidInputError('--out "" must name a file');
  if (!existsSync(dirname(out))) throw new InvalidInputError(`--out: there is no directory ${dirname(out)}`);
}

const optionOf = (name: string | number | undefined) =>
  name === 'dataset' ? 'dataset' : `--${String(name).replace('_', '-')}`;

/** What to name where this one is missing. */
const neededBy = (name: string | number | undefined) =>
  name === 'market_id' ? '--market-id, or --ticker with --event-type' : optionOf(name);

async function reading(
  { dataDir, signal }: ExportOptions & { readonly signal: AbortSignal },
  run: (reader: CommandReader) => Promise<void>,
): Promise<void> {
  const config = await readSettings({ dataDir, use: 'read recording' });
  const store = await openRecording(config);
  const control = new ControlDatabase(config);
  try {
    const writer = await otherWriter(join(config.dataDir, 'journal'), 'main').catch(() => null);
    const isRecording = writer !== null || config.clickhouseUrl !== null;
    const upToSeq = await recordedState(store, { isRecording, clock, signal });
    await run({ ...exportReader({ store, audit: control, jobs: control }), control, upToSeq });
  } finally {
    await Promise.all([store.close(), control.close()]);
  }
}

async function writeOne(
  reader: CommandReader,
  { subject, range, format }: AskedFile,
  { out, signal }: { out: string | undefined; signal: AbortSignal },
): Promise<void> {
  await checkSubject(reader, subject, signal);
  const recorded = { ...range, upToSeq: reader.upToSeq };
  if (out !== undefined) {
    await writeExport(reader, { subject, range: recorded, format, path: out, clock, signal });
    return;
  }
  const sources = await openSources(reader, subject, { range: recorded, signal });
  const rows = openExport(reader.store, sources, { dataset: subject.dataset, format, signal });
  await pipeline(rows, process.stdout, { end: false, signal });
}

/** @throws {InvalidInputError} If a market was not recorded, or the job has no such result. */
async function checkSubject(
  { store, control }: CommandReader,
  subject: ExportSubject,
  signal: AbortSignal,
): Promise<void> {
  if ('jobId' in subject) {
    const job = await control.job(subject.jobId);
    const problem = job === null ? `there is no job ${subject.jobId}` : missingResult(job, subject.dataset);
    if (problem !== null) throw new InvalidInputError(problem);
    return;
  }
  if (!('markets' in subject) || subject.markets === 'all' || !('marketIds' in subject.markets)) return;
  for (const marketId of subject.markets.marketIds) {
    const found = await findMarketKey(store, marketId, signal);
    if (found === null) throw new InvalidInputError(`no market ${marketId} was recorded`);
  }
}
