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
  /** Time of the last start; null before the first. */
  started_ms: number | null;
  completed_ms: number | null;
  /** JSON of a `JobSpec`. */
  spec: string;
  /** The response as JSON; null until complete. */
  result: string | null;
  error: string | null;
  /**
   * Creation time of a comparison for a paper strategy, which does not count against its user's limit; null for other
   * jobs.
   */
  baseline_ms: number | null;
  /** Id of the process that runs it; null if none does. */
  runner: string | null;
  /** Last heartbeat of that process. */
  seen_ms: number | null;
  /** Number of times it was started. */
  attempts: number;
}
