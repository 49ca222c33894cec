import type { FrameRouter } from '../frameRouter.ts';
import type { ArchivedEvent, ArchiveReader } from './archiveItem.ts';
import type { ArchiveReportBuilder } from './archiveReport.ts';
import { openPmxt } from './pmxtParquet.ts';
import { openTardis } from './tardisCsv.ts';
import { plainName } from './textLines.ts';

/** Rows between two calls of `onProgress`. */
const PROGRESS_ROWS = 20_000;

/**
 * The reader of an archive's file, found by its columns.
 * @returns Null for a file of no archive: it is a recording of frames.
 */
export async function openArchive(
  file: string,
  { markets }: { markets: ReadonlySet<string> | null },
): Promise<ArchiveReader | null> {
  if (file.endsWith('.parquet')) return await openPmxt(file, markets);
  return plainName(file).endsWith('.csv') ? await openTardis(file) : null;
}

/** Plays an archive's file into the recorder. A row that cannot be read is counted and named; the others are recorded. */
export async function importArchive(
  file: string,
  reader: ArchiveReader,
  {
    router,
    report,
    onProgress,
  }: { router: FrameRouter; report: ArchiveReportBuilder; onProgress?: () => Promise<void> },
): Promise<number> {
  report.file(reader.layout, reader.lacks);
  let rows = 0;
  for await (const item of reader.items) {
    rows++;
    if (item.kind === 'bad') report.bad(file, item.row, item.reason);
    else if (item.kind === 'unused') report.unused(item.reason);
    else {
      report.seen(subjectOf(item), item.event.receivedTimeMs);
      router.archived(item);
    }
    if (rows % PROGRESS_ROWS === 0) await onProgress?.();
  }
  return rows;
}

function subjectOf(item: ArchivedEvent): string {
  if (item.kind === 'perp_depth') return `${item.event.venue} ${item.event.ticker}`;
  if (item.kind === 'underlying') return `${item.event.source} ${item.event.ticker}`;
  return item.event.marketId;
}
