/** Describes the rows of an export, so that its file can be checked without the service. */
import { createHash } from 'node:crypto';
import type { ExportManifest } from '../../schema/api/exportManifest.ts';
import {
  EXPORT_COLUMNS,
  type ExportFormat,
  type ExportRange,
  type ExportSubject,
} from '../../schema/export.ts';
import { formatTimeOrNull } from '../../schema/time.ts';
import { API_VERSION } from '../../schema/version.ts';
import { exportRows, listSource } from '../queries/exports.ts';
import { storedBound } from '../queries/sql.ts';
import type { StoreReader } from '../reader.ts';
import type { ExportSource } from './controlRows.ts';
import { HASH_BYTES, rowHash } from './rowHash.ts';

/** Market ids of one statement: they are sent in the URL. */
const MARKETS_PER_QUERY = 1_000;
const HASHES_PER_BLOCK = 8_192;

/** The number of rows, and their hash. */
export interface HashedRows {
  readonly rows: number;
  readonly sha256: string;
}

interface Described {
  readonly subject: ExportSubject;
  readonly range: ExportRange;
  readonly format: ExportFormat;
  readonly file: { readonly name: string; readonly bytes: number | null; readonly sha256: string | null };
  readonly hashed: HashedRows;
  readonly signal: AbortSignal;
}

export async function buildManifest(
  store: StoreReader,
  sources: readonly ExportSource[],
  described: Described,
): Promise<ExportManifest> {
  const { subject, range, format, file, hashed, signal } = described;
  const { rows, sha256 } = hashed;
  const { name, bytes } = file;
  return {
    manifest_version: 1,
    file: { name, format, bytes, sha256: file.sha256 },
    rows,
    data_sha256: sha256,
    columns: EXPORT_COLUMNS[subject.dataset].map(({ kind, ...column }) => ({
      ...{ name: column.name, type: kind, nullable: column.nullable, unit: column.unit },
    })),
    asked: askedFor(subject, range),
    gaps: await gapsOf(store, sources, { range, signal }),
    made_by: { release: API_VERSION, engine: await engineVersion(store, signal) },
  };
}

/** The number of rows and their hash; the engine hashes each row that it stores. */
export async function hashRows(
  store: StoreReader,
  sources: readonly ExportSource[],
  signal: AbortSignal,
): Promise<HashedRows> {
  const all = createHash('sha256');
  let bytes = 0;
  for (const source of sources) {
    if ('read' in source) {
      const columns = EXPORT_COLUMNS[source.dataset];
      for await (const row of source.read()) {
        all.update(rowHash(columns, row));
        bytes += HASH_BYTES;
      }
      continue;
    }
    const { query, params } = exportRows(source, 'hash');
    const settings = { max_block_size: HASHES_PER_BLOCK };
    const hashes = await store.stream(query, params, { format: 'RowBinary', settings, signal });
    for await (const chunk of hashes as AsyncIterable<Buffer>) {
      all.update(chunk);
      bytes += chunk.length;
    }
  }
  return { rows: bytes / HASH_BYTES, sha256: all.digest('hex') };
}

function askedFor(subject: ExportSubject, { startMs, endMs }: ExportRange): ExportManifest['asked'] {
  const markets = 'markets' in subject && subject.markets !== 'all' ? subject.markets : null;
  const series = markets !== null && 'ticker' in markets ? markets : null;
  return {
    dataset: subject.dataset,
    market_ids: markets !== null && 'marketIds' in markets ? [...markets.marketIds] : null,
    ticker: 'ticker' in subject ? subject.ticker : (series?.ticker ?? null),
    event_type: series?.eventType ?? null,
    source: subject.dataset === 'underlying' ? subject.source : null,
    venue: subject.dataset === 'perp_depth' ? subject.venue : null,
    ...('jobId' in subject ? { job_id: subject.jobId } : {}),
    start: formatTimeOrNull(storedBound(startMs)),
    end: formatTimeOrNull(storedBound(endMs)),
  };
}

async function gapsOf(
  store: StoreReader,
  sources: readonly ExportSource[],
  { range, signal }: { range: ExportRange; signal: AbortSignal },
): Promise<ExportManifest['gaps']> {
  const marketIds = sources.flatMap((source) =>
    'read' in source || source.marketId === null ? [] : [source.marketId],
  );
  const gaps: ExportManifest['gaps'] = [];
  for (let from = 0; from < marketIds.length; from += MARKETS_PER_QUERY) {
    const some = { marketIds: marketIds.slice(from, from + MARKETS_PER_QUERY) };
    const { query, params } = exportRows(listSource('gaps', some, range), 'json');
    gaps.push(...(await store.rows<ExportManifest['gaps'][number]>(query, params, { signal })));
  }
  return gaps;
}

async function engineVersion(store: StoreReader, signal: AbortSignal): Promise<string> {
  const [row] = await store.rows<{ version: string }>('SELECT version() AS version', {}, { signal });
  return row?.version ?? '';
}

/** What changes in a manifest when the recording does. */
export function recordedPart({ rows, data_sha256: sha256, gaps }: ExportManifest): unknown {
  return { rows, sha256, gaps };
}
