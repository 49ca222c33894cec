import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../clock.ts';
import { loadConfig } from '../config.ts';
import { InvalidInputError } from '../errors.ts';
import { silentLogger } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import { exportFields, exportSubject } from '../schema/api/exports.ts';
import { readFields } from '../schema/api/fields.ts';
import type { ExportSubject } from '../schema/export.ts';
import { StoreClient } from '../store/client.ts';
import { reachEngine } from '../store/engineAccess.ts';
import { openExport, whyTooLong } from '../store/export.ts';
import { findMarketKey } from '../store/queries/markets.ts';
import { finishRecovery } from '../store/recovery.ts';
import { interruptible } from './failure.ts';
import { recoveryProgress } from './progress.ts';

export interface ExportOptions {
  readonly marketId?: string;
  readonly ticker?: string;
  readonly source?: string;
  readonly start?: string;
  readonly end?: string;
  readonly format?: string;
  readonly out?: string;
  readonly dataDir?: string;
}

/** Writes an export; a refusal is one line on standard error and exit status 1, and leaves no file. */
export async function runExport(dataset: string, options: ExportOptions): Promise<void> {
  await interruptible(async (signal) => {
    try {
      await write(read(dataset, options), options, signal);
    } catch (error) {
      // Whoever reads standard output has enough.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

/** @throws {InvalidInputError} Naming everything that is wrong. */
function read(dataset: string, { marketId, ticker, source, start, end, format }: ExportOptions) {
  const asked = { dataset, market_id: marketId, ticker, source, start, end, format };
  const { values, problems } = readFields(exportFields, asked, 'query');
  const told = problems.map(({ loc, msg }) => `${optionOf(loc.at(-1))}: ${msg}`);
  if (told.length > 0) throw new InvalidInputError(told.join('; '));
  const subject = exportSubject(values);
  if (!('dataset' in subject))
    throw new InvalidInputError(`${dataset} needs ${optionOf(subject.loc.at(-1))}`);
  if (values.start !== null && values.end !== null && values.start > values.end) {
    throw new InvalidInputError('--start must not be after --end');
  }
  return { subject, startMs: values.start, endMs: values.end, format: values.format };
}

const optionOf = (name: string | number | undefined) =>
  name === 'dataset' ? 'dataset' : `--${String(name).replace('_', '-')}`;

async function write(
  asked: ReturnType<typeof read>,
  { out, dataDir }: ExportOptions,
  signal: AbortSignal,
): Promise<void> {
  const loaded = loadConfig();
  const config = { ...loaded, dataDir: dataDir ?? loaded.dataDir };
  if (config.clickhouseUrl === null && !existsSync(config.dataDir)) {
    throw new InvalidInputError(`there is no data directory ${config.dataDir}`);
  }
  // A running service's engine is found and used; else one is started and ended with us.
  const parts = { clock: systemClock, log: silentLogger };
  const metrics = new Metrics();
  const access = await reachEngine({ ...config, ...parts, metrics });
  const store = new StoreClient({ access, ...parts });
  try {
    const { dataDir } = config;
    await finishRecovery({ ...parts, dataDir, client: store, metrics, onRecovery: recoveryProgress() });
    await checkMarket(store, asked.subject, signal);
    const { subject, ...range } = { ...asked, signal };
    const tooLong = await whyTooLong(store, subject, range);
    if (tooLong !== null) throw new InvalidInputError(tooLong);
    const rows = await openExport(store, subject, range);
    if (out === undefined) await pipeline(rows, process.stdout, { end: false, signal });
    else await writeFile(rows, out, signal);
  } finally {
    await store.close();
    await access.close();
  }
}

async function checkMarket(store: StoreClient, subject: ExportSubject, signal: AbortSignal): Promise<void> {
  if (!('marketId' in subject)) return;
  const found = await findMarketKey(store, subject.marketId, signal);
  if (found === null) throw new InvalidInputError(`no market ${subject.marketId} was recorded`);
}

/** Under its name only when it is whole. */
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
