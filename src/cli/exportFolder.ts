import { join } from 'node:path';
import { makeDirectories } from '../runtime/makeDirectories.ts';
import type { ExportDataset, ExportFormat, ExportRange } from '../schema/export.ts';
import { exportFileName } from '../store/export/fileName.ts';
import { isUpToDate, writeExport } from '../store/export/writtenFile.ts';
import { type ExportPart, exportParts, type PartFilter } from '../store/queries/exportParts.ts';
import type { StoreReader } from '../store/reader.ts';

interface FolderOptions {
  readonly datasets: readonly ExportDataset[];
  readonly filter: PartFilter;
  readonly range: ExportRange;
  readonly format: ExportFormat;
  readonly out: string;
  readonly signal: AbortSignal;
}

/** Writes one file for each series or asset and day. Keeps finished files whose rows have not changed. */
export async function exportFolder(store: StoreReader, options: FolderOptions): Promise<void> {
  const { datasets, filter, range, format, out, signal } = options;
  const parts: ExportPart[] = [];
  for (const dataset of datasets)
    parts.push(...(await exportParts(store, dataset, { filter, range, signal })));
  let [kept, rows, bytes] = [0, 0, 0];
  for (const [index, part] of parts.entries()) {
    const name = await exportFileName(store, part.subject, { ...part, format, signal });
    const path = join(out, part.folder, name);
    const file = { ...part, format, path, signal };
    const counted = `[${index + 1}/${parts.length}]`;
    if (await isUpToDate(store, file)) {
      kept++;
      console.error(`${counted} kept ${path}`);
      continue;
    }
    makeDirectories(join(out, part.folder));
    const manifest = await writeExport(store, file);
    rows += manifest.rows;
    bytes += manifest.file.bytes ?? 0;
    const size = (manifest.file.bytes ?? 0).toLocaleString('en-US');
    console.error(`${counted} wrote ${path}: ${manifest.rows.toLocaleString('en-US')} rows, ${size} bytes`);
  }
  const written = parts.length - kept;
  console.log(
    `${parts.length} files: ${written} written with ${rows.toLocaleString('en-US')} rows and ${bytes.toLocaleString('en-US')} bytes, ${kept} kept`,
  );
}
