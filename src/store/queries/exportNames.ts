/** What the names of exported files need. */
import type { ExportRange, MarketSelection } from '../../schema/export.ts';
import type { StoreReader } from '../reader.ts';
import { type AssetSubject, assetSource, selectedMarkets } from './exports.ts';
import { where } from './sql.ts';

const whenAny = (value: string) => `if(count() = 0, NULL, toUnixTimestamp64Milli(${value}))`;

/** The number of the selected markets, a slug of them, and the span of their windows; null without markets. */
export async function exportedMarkets(
  store: StoreReader,
  selection: MarketSelection,
  signal: AbortSignal,
): Promise<{ slug: string; markets: number } & ExportRange> {
  const { conditions, params } = selectedMarkets(selection);
  const [row] = await store.rows<{ slug: string; markets: number } & ExportRange>(
    `SELECT any(t.slug) AS slug, count() AS markets, ${whenAny('min(t.start_time)')} AS startMs,
       ${whenAny('max(t.end_time)')} AS endMs
     FROM markets AS t FINAL ${where(conditions)}`,
    params,
    { signal },
  );
  return row ?? { slug: '', markets: 0, startMs: null, endMs: null };
}

/** The times of an asset's first and last row in a range; null without rows. */
export async function firstAndLast(
  store: StoreReader,
  subject: AssetSubject,
  { range, signal }: { range: ExportRange; signal: AbortSignal },
): Promise<ExportRange> {
  if (range.startMs !== null && range.endMs !== null) return range;
  const { table, conditions, params } = assetSource(subject, range);
  const [row] = await store.rows<ExportRange>(
    `SELECT ${whenAny('min(t.ts)')} AS startMs, ${whenAny('max(t.ts)')} AS endMs
     FROM ${table} AS t ${where(conditions)}`,
    params,
    { signal },
  );
  return row ?? { startMs: null, endMs: null };
}
