/** Names of exported files: `{dataset}-{slug, series or asset}-{start}-{end}.{format}`, and `{dataset}-{job}.{format}`. */
import type { ExportFormat, ExportRange, ExportSubject } from '../../schema/export.ts';
import { exportedMarkets, firstAndLast } from '../queries/exportNames.ts';
import type { AssetSubject } from '../queries/exports.ts';
import { storedBound } from '../queries/sql.ts';
import type { StoreReader } from '../reader.ts';

/** Slugs are texts of the venue, and a name goes into a header and a file system. */
const UNSAFE = /[^\w.-]/g;
const LENGTH_MAX = 100;

/** What one file of a folder has: the markets of a series, or an asset. */
type FolderSubject = Extract<ExportSubject, { readonly markets: unknown }> | AssetSubject;

interface Named {
  readonly format: ExportFormat;
  readonly range: ExportRange;
  readonly signal: AbortSignal;
}

/**
 * The name of an export's file. An open end of the range is named by the windows of the markets, or by the first and
 * last row of an asset.
 */
export async function exportFileName(
  store: StoreReader,
  subject: ExportSubject,
  { format, range, signal }: Named,
): Promise<string> {
  if ('jobId' in subject) return `${subject.dataset}-${safe(subject.jobId)}.${format}`;
  const { what, startMs, endMs } = await described(store, subject, { range, signal });
  const named = { startMs: range.startMs ?? startMs, endMs: range.endMs ?? endMs };
  return nameOf(subject.dataset, { what, range: named, format });
}

/**
 * The name of a file in a folder. An open end of the range is `none`: a name that followed the recorded windows would
 * change with each market, and the same command would leave the earlier file beside the new one.
 */
export function folderFileName(
  subject: FolderSubject,
  { format, range }: { readonly format: ExportFormat; readonly range: ExportRange },
): string {
  const what = 'markets' in subject ? marketsName(subject.markets, 'markets') : assetName(subject);
  return nameOf(subject.dataset, { what, range, format });
}

interface Described extends ExportRange {
  readonly what: string;
}

function nameOf(
  dataset: string,
  { what, range, format }: { what: string; range: ExportRange; format: ExportFormat },
): string {
  return `${dataset}-${safe(what)}-${timeText(range.startMs)}-${timeText(range.endMs)}.${format}`;
}

async function described(
  store: StoreReader,
  subject: Exclude<ExportSubject, { jobId: unknown }>,
  { range, signal }: { range: ExportRange; signal: AbortSignal },
): Promise<Described> {
  if ('markets' in subject) {
    const { slug, markets, startMs, endMs } = await exportedMarkets(store, subject.markets, signal);
    return {
      what: marketsName(subject.markets, markets === 1 ? slug : `${markets}-markets`),
      startMs,
      endMs,
    };
  }
  return { what: assetName(subject), ...(await firstAndLast(store, subject, { range, signal })) };
}

function assetName(subject: AssetSubject): string {
  return `${subject.ticker}-${subject.dataset === 'underlying' ? subject.source : subject.venue}`;
}

function marketsName(
  markets: Extract<ExportSubject, { markets: unknown }>['markets'],
  named: string,
): string {
  if (markets === 'all') return 'all';
  return 'marketIds' in markets ? named : `${markets.ticker}-${markets.eventType}`;
}

const safe = (text: string) => text.replaceAll(UNSAFE, '_').slice(0, LENGTH_MAX);

/** `20261120T120000Z`, with milliseconds where there are some; `none` for an open end. */
function timeText(timeMs: number | null): string {
  const boundMs = storedBound(timeMs);
  if (boundMs === null) return 'none';
  return new Date(boundMs).toISOString().replaceAll(/[-:]/g, '').replace('.000Z', 'Z');
}
