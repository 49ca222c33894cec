/** What a backtest or a sweep is asked to do, as it is kept with its job. Times are Unix milliseconds. */
import type { EventType, Ticker } from './market.ts';
import type { ReplayParams, Strategy } from './strategy.ts';

export const JOB_KINDS = ['backtest', 'sweep'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATUSES = ['queued', 'running', 'complete', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Which markets: one series. */
export interface Universe {
  readonly ticker: Ticker;
  readonly event_type: EventType;
}

export interface BacktestSpec {
  readonly strategy: Strategy;
  readonly universe: Universe;
  /** USD spent on shares per position. */
  readonly sizeUsd: number;
  readonly params: ReplayParams;
  /** Only markets whose window ends at or after this; null: since the first recorded. */
  readonly startMs: number | null;
  /**
   * The start of the request; null: it had none, and `startMs` is where the history of the tier began. Absent in jobs
   * stored before requests were answered.
   */
  readonly askedStartMs?: number | null;
  /** Only markets whose window ends before this: fixed when the job is submitted, so that it reads the same later. */
  readonly endMs: number;
  /** The newest so many of them. */
  readonly marketLimit: number;
}

/** Values of one parameter: `steps` of them from `start` to `end`, both included. */
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

/** The body that asks for a job, every default filled in. */
export interface JobRequest {
  readonly strategy: Strategy;
  readonly universe: Universe;
  readonly size_usd: number;
  readonly start: string | null;
  readonly end: string;
  readonly market_limit: number;
  /** The axes of a sweep. */
  readonly x_axis?: Axis;
  readonly y_axis?: Axis | null;
  readonly params: ReplayParams;
}

/** The same receipt means the same bytes. */
export interface Receipt {
  /** SHA-256 over everything that was replayed, market by market. */
  readonly data_hash: string;
  readonly venue_rules: string;
  readonly code_version: string;
  readonly seed: number;
}
