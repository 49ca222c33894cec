import type { PerpVenueName, UnderlyingSource } from './events.ts';
import type { Ticker } from './market.ts';

/** Datasets that can be exported as a file. */
export const EXPORT_DATASETS = ['snapshots', 'quotes', 'trades', 'underlying', 'perp_depth'] as const;
export type ExportDataset = (typeof EXPORT_DATASETS)[number];

export const EXPORT_FORMATS = ['jsonl', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Limit of a Parquet file: its footer comes last, so the engine builds the whole file before it sends any of it. */
export const PARQUET_ROWS_MAX = 200_000;
export const PARQUET_ROWS_TEXT = PARQUET_ROWS_MAX.toLocaleString('en-US');

/** The recording to export: of a market, or of an asset's prices or depth. */
export type ExportSubject =
  | { readonly dataset: 'snapshots' | 'quotes' | 'trades'; readonly marketId: string }
  | { readonly dataset: 'underlying'; readonly ticker: Ticker; readonly source: UnderlyingSource }
  | { readonly dataset: 'perp_depth'; readonly ticker: Ticker; readonly venue: PerpVenueName };
