import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import { counted } from '../runtime/counted.ts';
import { makeDirectories } from '../runtime/makeDirectories.ts';
import type { ExportFormat, ExportRange } from '../schema/export.ts';
import type { ExportReader } from '../store/export/controlRows.ts';
import { exportAlone } from '../store/export/exportAlone.ts';
import { folderFileName } from '../store/export/fileName.ts';
import { isUpToDate, writeExport } from '../store/export/writtenFile.ts';
import {
  type ExportPart,
  exportParts,
  type FolderDataset,
  type PartFilter,
} from '../store/queries/exportParts.ts';

interface FolderOptions {
  readonly datasets: readonly FolderDataset[];
  readonly filter: PartFilter;
  readonly range: ExportRange;
  readonly format: ExportFormat;
  readonly out: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called after each file with a line about it. */
  readonly onFile: (line: string) => void;
}

interface FolderResult {
  readonly files: number;
  /** Of these files, ones that were there and whose rows have not changed. */
  readonly kept: number;
  /** Of the other files. */
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Writes one file for each series or asset and day. Keeps finished files whose rows have not changed.
 * @throws {InvalidInputError} If another process exports into the folder, or its disk is full.
 */
export async function exportFolder(reader: ExportReader, options: FolderOptions): Promise<FolderResult> {
  return await exportAlone(options.out, () => writeFiles(reader, options));
}

async function writeFiles(reader: ExportReader, options: FolderOptions): Promise<FolderResult> {
  const { store } = reader;
  const { datasets, filter, range, format, out, clock, signal, onFile } = options;
  const parts: ExportPart[] = [];
  for (const dataset of datasets)
    parts.push(...(await exportParts(store, dataset, { filter, range, signal })));
  const result = { files: parts.length, kept: 0, rows: 0, bytes: 0 };
  for (const [index, part] of parts.entries()) {
    const path = join(out, part.folder, folderFileName(part.subject, { ...part, format }));
    const file = { ...part, format, path, clock, signal };
    const place = `[${index + 1}/${parts.length}]`;
    if (await isUpToDate(reader, file)) {
      result.kept++;
      onFile(`${place} kept ${path}`);
      continue;
    }
    makeDirectories(join(out, part.folder));
    const { rows, file: written } = await writeExport(reader, file);
    const bytes = written.bytes ?? 0;
    result.rows += rows;
    result.bytes += bytes;
    onFile(`${place} wrote ${path}: ${counted(rows, 'row')}, ${counted(bytes, 'byte')}`);
  }
  return result;
}
