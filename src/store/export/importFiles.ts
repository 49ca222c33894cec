/** Imports exported files into a store: the same rows, with their arrival numbers, receive times and trust. */
import { InvalidInputError } from '../../runtime/errors.ts';
import type { ExportManifest } from '../../schema/api/exportManifest.ts';
import {
  EXPORT_COLUMNS,
  type ExportDataset,
  type MarketDataset,
  type MarketSelection,
} from '../../schema/export.ts';
import type { KindedRecord } from '../../schema/records.ts';
import type { PartitionWriter } from '../partitionWriter.ts';
import { assetSource, listSource, marketSource, type RowSource } from '../queries/exports.ts';
import type { StoreReader } from '../reader.ts';
import { rowsOfFile } from './fileRows.ts';
import { hashRows } from './manifest.ts';
import { isImported, recordReader } from './recordOfRow.ts';
import { type RowValues, rowValue } from './rowValues.ts';
import { columnsOf, verifyFile } from './verify.ts';

const RECORDS_PER_INSERT = 5_000;
/** Gaps first: they decide the trust of the rows after them. */
const ORDER: readonly ExportDataset[] = ['gaps', 'markets'];

interface ImportParts {
  readonly store: StoreReader;
  readonly writer: PartitionWriter;
  readonly onFile: (path: string, rows: number) => void;
  readonly signal: AbortSignal;
}

export interface ImportedFiles {
  readonly files: number;
  readonly rows: Readonly<Record<string, number>>;
  /** Files of datasets that follow from others. */
  readonly skipped: readonly string[];
}

interface VerifiedExport {
  readonly path: string;
  readonly manifest: ExportManifest;
}

/**
 * Imports files, each only after it was verified, and then compares the stored rows with the manifests. Rows that are
 * already stored are not stored twice, so a stopped import can be repeated.
 * @throws {InvalidInputError} If a file does not verify, before anything is stored; or if the store has other rows of the
 * same markets or assets and times.
 */
export async function importFiles(paths: readonly string[], parts: ImportParts): Promise<ImportedFiles> {
  const files = await verified(paths, parts.signal);
  const imported = files.filter(({ manifest }) => isImported(manifest.asked.dataset));
  const rank = ({ manifest }: VerifiedExport) =>
    (ORDER.indexOf(manifest.asked.dataset) + ORDER.length + 1) % (ORDER.length + 1);
  const ordered = [...imported].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
  const rows: Record<string, number> = {};
  const stored: { file: VerifiedExport; sources: RowSource[] }[] = [];
  for (const file of ordered) await insertGaps(file, parts.writer);
  for (const file of ordered) {
    const sources = await insertFile(file, parts);
    stored.push({ file, sources });
    const { dataset } = file.manifest.asked;
    rows[dataset] = (rows[dataset] ?? 0) + file.manifest.rows;
    parts.onFile(file.path, file.manifest.rows);
  }
  for (const { file, sources } of stored) await compare(file, sources, parts);
  const skipped = files.filter((file) => !imported.includes(file)).map(({ path }) => path);
  return { files: imported.length, rows, skipped };
}

async function verified(paths: readonly string[], signal: AbortSignal): Promise<VerifiedExport[]> {
  const files: VerifiedExport[] = [];
  for (const path of paths) {
    signal.throwIfAborted();
    const { manifest, problems } = await verifyFile(path);
    const [problem] = problems;
    if (problem !== undefined || manifest === null)
      throw new InvalidInputError(`nothing was imported: ${problem}`);
    const { dataset } = manifest.asked;
    const names = manifest.columns.map(({ name }) => name).join(', ');
    const known = EXPORT_COLUMNS[dataset].map(({ name }) => name).join(', ');
    if (names !== known)
      throw new InvalidInputError(`nothing was imported: ${path} has the columns ${names}, not ${known}`);
    files.push({ path, manifest });
  }
  return files;
}

/** The gaps of a manifest, for a folder without the dataset `gaps`. */
async function insertGaps({ manifest }: VerifiedExport, writer: PartitionWriter): Promise<void> {
  const columns = EXPORT_COLUMNS.gaps;
  const read = recordReader('gaps', columns);
  const records = manifest.gaps.map((gap) =>
    read(columns.map((column) => rowValue(column, gap[column.name as keyof typeof gap]))),
  );
  if (records.length > 0) await writer.insert(records, `${manifest.data_sha256}/gaps`);
}

/** @returns The sources whose rows are those of the file, in its order. */
async function insertFile(
  { path, manifest }: VerifiedExport,
  { writer, signal }: ImportParts,
): Promise<RowSource[]> {
  const columns = columnsOf(manifest);
  const { dataset } = manifest.asked;
  const read = recordReader(dataset, columns);
  const marketAt = columns.findIndex(({ name }) => name === 'market_id');
  const marketIds = new Set<string>();
  let records: KindedRecord[] = [];
  let inserts = 0;
  const flush = async () => {
    await writer.insert(records, `${manifest.data_sha256}/${inserts++}`);
    records = [];
  };
  for await (const row of rowsOfFile(path, { format: manifest.file.format, columns })) {
    signal.throwIfAborted();
    if (marketAt >= 0) marketIds.add((row as RowValues)[marketAt] as string);
    records.push(read(row));
    if (records.length >= RECORDS_PER_INSERT) await flush();
  }
  if (records.length > 0) await flush();
  return sourcesOf(manifest, [...marketIds]);
}

function sourcesOf({ asked }: ExportManifest, marketIds: readonly string[]): RowSource[] {
  const { dataset } = asked;
  const time = (text: string | null) => (text === null ? null : Date.parse(text));
  const range = { startMs: time(asked.start), endMs: time(asked.end) };
  if (dataset === 'gaps' || dataset === 'markets') return [listSource(dataset, selectionOf(asked), range)];
  if (dataset === 'underlying' || dataset === 'perp_depth') {
    const subject = { dataset, ticker: asked.ticker, source: asked.source, venue: asked.venue };
    return [assetSource(subject as Parameters<typeof assetSource>[0], range)];
  }
  return marketIds.map((marketId) => marketSource(dataset as MarketDataset, marketId, range));
}

function selectionOf({
  market_ids: marketIds,
  ticker,
  event_type: eventType,
}: ExportManifest['asked']): MarketSelection {
  if (marketIds !== null) return { marketIds };
  return ticker === null || eventType === null ? 'all' : { ticker, eventType };
}

async function compare(
  { path, manifest }: VerifiedExport,
  sources: readonly RowSource[],
  { store, signal }: ImportParts,
): Promise<void> {
  const stored = await hashRows(store, sources, signal);
  if (stored.rows === manifest.rows && stored.sha256 === manifest.data_sha256) return;
  const counts = `${stored.rows} stored rows, ${manifest.rows} in the file`;
  throw new InvalidInputError(
    `${path}: the stored rows are not those of the file (${counts}): the data directory has another recording of the same time`,
  );
}
