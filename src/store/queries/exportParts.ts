/** The folders of an export: series and assets with rows, by UTC days. */

import type { PerpVenueName, UnderlyingSource } from '../../schema/events.ts';
import type {
  ExportDataset,
  ExportRange,
  ExportSubject,
  JobDataset,
  MarketSelection,
} from '../../schema/export.ts';
import type { MarketEventType, MarketTicker, Ticker } from '../../schema/market.ts';
import type { StoreReader } from '../reader.ts';
import { type AssetSubject, assetSource, rowsOfMarkets } from './exports.ts';
import { where } from './sql.ts';

const DAY_MS = 86_400_000;

/** Datasets that belong to series and assets. */
export type FolderDataset = Exclude<ExportDataset, JobDataset>;

/** One file of a partitioned export. */
export interface ExportPart {
  /** Relative, with `/`. */
  readonly folder: string;
  readonly subject: Exclude<ExportSubject, { readonly jobId: string }>;
  readonly range: ExportRange;
}

/** Which series and assets to export; null: all. */
export interface PartFilter {
  readonly ticker: MarketTicker | null;
  readonly eventType: MarketEventType | null;
  readonly source: UnderlyingSource | null;
  readonly venue: PerpVenueName | null;
}

interface Asked {
  readonly filter: PartFilter;
  readonly range: ExportRange;
  readonly signal: AbortSignal;
}

/** The files of a dataset: one for each series or asset and day with rows; lists are not divided by days. */
export async function exportParts(
  store: StoreReader,
  dataset: FolderDataset,
  asked: Asked,
): Promise<ExportPart[]> {
  if (dataset === 'underlying' || dataset === 'perp_depth') return await assetParts(store, dataset, asked);
  const parts: ExportPart[] = [];
  for (const series of await seriesOf(store, asked)) {
    const folder = `series=${series.ticker}-${series.eventType}`;
    const subject = { dataset, markets: series };
    if (dataset === 'markets' || dataset === 'gaps' || dataset === 'signals') {
      parts.push({ folder, subject: { dataset, markets: series }, range: asked.range });
    } else {
      const source = rowsOfMarkets(dataset, series, asked.range);
      const days = await daysOf(store, source, asked);
      parts.push(...days.map(({ day, range }) => ({ folder: `${folder}/date=${day}`, subject, range })));
    }
  }
  return parts as ExportPart[];
}

async function seriesOf(
  store: StoreReader,
  { filter: { ticker, eventType }, signal }: Asked,
): Promise<Exclude<MarketSelection, 'all' | { marketIds: unknown }>[]> {
  return await store.rows(
    `SELECT DISTINCT t.ticker AS ticker, t.event_type AS eventType FROM markets AS t FINAL
     WHERE (isNull({ticker:Nullable(String)}) OR t.ticker = {ticker:Nullable(String)})
       AND (isNull({event_type:Nullable(String)}) OR t.event_type = {event_type:Nullable(String)})
     ORDER BY ticker, eventType`,
    { ticker, event_type: eventType },
    { signal },
  );
}

async function assetParts(
  store: StoreReader,
  dataset: 'underlying' | 'perp_depth',
  { filter, range, signal }: Asked,
): Promise<ExportPart[]> {
  const isPrice = dataset === 'underlying';
  const by = isPrice ? 't.source' : "ifNull(t.venue, 'bybit')";
  const found = await store.rows<{ ticker: Ticker; feed: string }>(
    `SELECT DISTINCT t.ticker AS ticker, ${by} AS feed FROM ${dataset} AS t
     WHERE (isNull({ticker:Nullable(String)}) OR t.ticker = {ticker:Nullable(String)})
       AND (isNull({feed:Nullable(String)}) OR ${by} = {feed:Nullable(String)})
     ORDER BY ticker, feed`,
    { ticker: filter.ticker, feed: isPrice ? filter.source : filter.venue },
    { signal },
  );
  const parts: ExportPart[] = [];
  for (const { ticker, feed } of found) {
    const subject = (
      isPrice ? { dataset, ticker, source: feed } : { dataset, ticker, venue: feed }
    ) as AssetSubject;
    const folder = `asset=${ticker}/${isPrice ? 'source' : 'venue'}=${feed}`;
    const days = await daysOf(store, assetSource(subject, range), { filter, range, signal });
    parts.push(...days.map((day) => ({ folder: `${folder}/date=${day.day}`, subject, range: day.range })));
  }
  return parts;
}

/** The days with rows, each with its part of the range. */
async function daysOf(
  store: StoreReader,
  { table, conditions, params }: Pick<ReturnType<typeof assetSource>, 'table' | 'conditions' | 'params'>,
  { range, signal }: Asked,
): Promise<{ day: string; range: ExportRange }[]> {
  const days = await store.rows<{ day: string; startMs: number }>(
    `SELECT toString(toDate(t.ts)) AS day, toUnixTimestamp(toDateTime(toDate(t.ts), 'UTC')) * 1000 AS startMs
     FROM ${table} AS t ${where(conditions)} GROUP BY day, startMs ORDER BY day`,
    params,
    { signal },
  );
  return days.map(({ day, startMs }) => ({
    day,
    range: {
      ...range,
      startMs: Math.max(startMs, range.startMs ?? startMs),
      endMs: Math.min(startMs + DAY_MS, range.endMs ?? startMs + DAY_MS),
    },
  }));
}
