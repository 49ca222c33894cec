import { createWriteStream, existsSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { InvalidInputError } from '../runtime/errors.ts';
import { exportFields, exportSubject } from '../schema/api/exports.ts';
import { readFields } from '../schema/api/fields.ts';
import type { ExportSubject } from '../schema/export.ts';
import { openExport, whyTooLong } from '../store/export.ts';
import { findMarketKey } from '../store/queries/markets.ts';
import type { StoreReader } from '../store/reader.ts';
import { interruptible } from './failure.ts';
import { openRecording } from './openRecording.ts';
import { followedAssets, readSettings } from './settings.ts';

export interface ExportOptions {
  readonly marketId?: string;
  readonly ticker?: string;
  readonly source?: string;
  readonly venue?: string;
  readonly start?: string;
  readonly end?: string;
  readonly format?: string;
  readonly out?: string;
  readonly dataDir?: string;
}

/** Writes an export. A refusal is one line on standard error and exit status 1, and leaves no file. */
export async function runExport(dataset: string, options: ExportOptions): Promise<void> {
  await interruptible(async (signal) => {
    try {
      const asked = read(dataset, options);
      if (options.out !== undefined) checkOut(options.out);
      await write(asked, options, signal);
    } catch (error) {
      // The reader of standard output closed it, which is no failure.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

/** @throws {InvalidInputError} Lists every problem. */
function read(dataset: string, { marketId, ...options }: ExportOptions) {
  const { ticker, source, venue, start, end, format } = options;
  const asked = { dataset, market_id: marketId, ticker, source, start, end, format, venue };
  const { values, problems } = readFields(exportFields(followedAssets().tickers), asked, 'query');
  const lines = problems.map(({ loc, msg }) => `${optionOf(loc.at(-1))}: ${msg}`);
  if (lines.length > 0) throw new InvalidInputError(lines.join('; '));
  const subject = exportSubject(values);
  if (!('dataset' in subject))
    throw new InvalidInputError(`${dataset} needs ${optionOf(subject.loc.at(-1))}`);
  if (values.start !== null && values.end !== null && values.start > values.end) {
    throw new InvalidInputError('--start must not be after --end');
  }
  return { subject, startMs: values.start, endMs: values.end, format: values.format };
}

/**
 * @throws {InvalidInputError} If no file can have this name. Without this check it would fail only after the whole
 * export.
 */
function checkOut(out: string): void {
  if (!existsSync(dirname(out))) throw new InvalidInputError(`--out: there is no directory ${dirname(out)}`);
  if (out === '' || statSync(out, { throwIfNoEntry: false })?.isDirectory()) {
    throw new InvalidInputError(`--out ${JSON.stringify(out)} must name a file`);
  }
}

const optionOf = (name: string | number | undefined) =>
  name === 'dataset' ? 'dataset' : `--${String(name).replace('_', '-')}`;

async function write(
  asked: ReturnType<typeof read>,
  { out, dataDir }: ExportOptions,
  signal: AbortSignal,
): Promise<void> {
  const config = await readSettings({ dataDir, use: 'read recording' });
  const store = await openRecording(config);
  try {
    await checkMarket(store, asked.subject, signal);
    const { subject, ...range } = { ...asked, signal };
    const tooLong = await whyTooLong(store, subject, range);
    if (tooLong !== null) throw new InvalidInputError(tooLong);
    const rows = await openExport(store, subject, range);
    if (out === undefined) await pipeline(rows, process.stdout, { end: false, signal });
    else await writeFile(rows, out, signal);
  } finally {
    await store.close();
  }
}

async function checkMarket(store: StoreReader, subject: ExportSubject, signal: AbortSignal): Promise<void> {
  if (!('marketId' in subject)) return;
  const found = await findMarketKey(store, subject.marketId, signal);
  if (found === null) throw new InvalidInputError(`no market ${subject.marketId} was recorded`);
}

/** Writes to a temporary name and renames the file once it is complete. */
async function writeFile(rows: NodeJS.ReadableStream, path: string, signal: AbortSignal): Promise<void> {
  const part = `${path}.part`;
  try {
    await pipeline(rows, createWriteStream(part), { signal });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
