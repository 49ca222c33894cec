import type { JobKind, JobStatus } from '../schema/backtest.ts';

declare module '../control/schema.ts' {
  interface Schema {
    backtest_jobs: BacktestJobsTable;
  }
}

/** One backtest or sweep of a user. */
export interface BacktestJobsTable {
  job_id: string;
  user_id: string;
  kind: JobKind;
  status: JobStatus;
  /** 0..1. */
  progress: number;
  submitted_ms: number;
  /** Of the last start; null before the first. */
  started_ms: number | null;
  completed_ms: number | null;
  /** JSON of a `JobSpec`. */
  spec: string;
  /** JSON as answered; null until complete. */
  result: string | null;
  error: string | null;
  /** When it was made as the baseline of something else, which does not count against its user; null: it was not. */
  baseline_ms: number | null;
  /** Process that runs it; null: none. */
  runner: string | null;
  /** Last sign of life of that process. */
  seen_ms: number | null;
  /** Times it was started. */
  attempts: number;
}
