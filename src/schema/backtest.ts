/** The stored request of a backtest or sweep job. Times are Unix milliseconds. */
import type { EventType, Ticker } from './market.ts';
import type { ReplayParams, Strategy } from './strategy.ts';

export const JOB_KINDS = ['backtest', 'sweep'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATUSES = ['queued', 'running', 'complete', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** The markets of one series. */
export interface Universe {
  readonly ticker: Ticker;
  readonly event_type: EventType;
}

/** The markets of every series of these tickers and windows. */
export interface SeriesSet {
  readonly tickers: readonly Ticker[];
  readonly event_types: readonly EventType[];
}
export type BacktestUniverse = Universe | SeriesSet;

export function seriesSetOf(universe: BacktestUniverse): SeriesSet {
  if ('tickers' in universe) return universe;
  return { tickers: [universe.ticker], event_types: [universe.event_type] };
}

export interface BacktestSpec {
  readonly strategy: Strategy;
  readonly universe: BacktestUniverse;
  /** USD spent on shares per position. */
  readonly sizeUsd: number;
  readonly params: ReplayParams;
  /** Only markets whose window ends at or after this; null: since the first recorded. */
  readonly startMs: number | null;
  /**
   * The requested start. Null: none was requested, and `startMs` is the start of the tier's history. Absent in jobs
   * stored before the API returned requests.
   */
  readonly askedStartMs?: number | null;
  /**
   * Only markets whose window ends before this. It is fixed when the job is submitted, so that a later run reads the
   * same markets.
   */
  readonly endMs: number;
  /** Only the newest markets up to this number. */
  readonly marketLimit: number;
}

/** Values of one parameter: `steps` values from `start` to `end`, both inclusive. */
export interface Axis {
  readonly param: string;
  readonly start: number;
  readonly end: number;
  readonly steps: number;
}

export interface SweepSpec extends BacktestSpec {
  readonly xAxis: Axis;
  readonly yAxis: Axis | null;
}

export type JobSpec =
  | ({ readonly kind: 'backtest' } & BacktestSpec)
  | ({ readonly kind: 'sweep' } & SweepSpec);

/** The request body of a job, with every default filled in. */
export interface JobRequest {
  readonly strategy: Strategy;
  readonly universe: BacktestUniverse;
  readonly size_usd: number;
  readonly start: string | null;
  readonly end: string;
  readonly market_limit: number;
  /** The axes of a sweep. */
  readonly x_axis?: Axis;
  readonly y_axis?: Axis | null;
  readonly params: ReplayParams;
}

/** Identifies a result: equal receipts guarantee byte-identical results. */
export interface Receipt {
  /** SHA-256 over all replayed data, market by market. */
  readonly data_hash: string;
  readonly venue_rules: string;
  readonly code_version: string;
  readonly seed: number;
}
