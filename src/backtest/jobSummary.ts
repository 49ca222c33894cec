import { boundedCache } from '../runtime/boundedCache.ts';
import type { JobKind } from '../schema/backtest.ts';
import type { Job, JobRepository } from './jobs.ts';
import { storedFigures } from './storedResult.ts';

/** Key figures of a finished job; of a sweep, those of its best cell. Money is USD; null where it is not defined. */
interface JobSummary {
  readonly total_pnl: number | null;
  readonly sharpe_per_market: number | null;
  readonly trades_total: number | null;
  readonly max_drawdown: number | null;
  /** Replayed markets of a backtest that had a trade; null for a sweep. */
  readonly markets_traded: number | null;
  /** Cells of a sweep; null for a backtest. */
  readonly cells: number | null;
}

const KEPT_MAX = 5_000;

interface Figures {
  readonly total_pnl: number;
  readonly sharpe_per_market: number | null;
  readonly trades_total: number;
  readonly max_drawdown: number;
}

/** Summaries of finished jobs. A result never changes, so each is read once. */
export class JobSummaries {
  readonly #resultOf: JobRepository['result'];
  readonly #kept = boundedCache<JobSummary>(KEPT_MAX);

  /** @param resultOf The stored result of a job as JSON; null if there is none. */
  constructor(resultOf: JobRepository['result']) {
    this.#resultOf = resultOf;
  }

  /** Null for a job without a result. */
  async of({ jobId, kind, status }: Pick<Job, 'jobId' | 'kind' | 'status'>): Promise<JobSummary | null> {
    if (status !== 'complete') return null;
    const kept = this.#kept.get(jobId);
    if (kept !== undefined) return kept;
    const result = await this.#resultOf(jobId);
    if (result === null) return null;
    const summary = summaryOf(kind, result);
    this.#kept.set(jobId, summary);
    return summary;
  }
}

/** @param result JSON as stored. */
export function summaryOf(kind: JobKind, result: string): JobSummary {
  if (kind === 'backtest') {
    const figures = storedFigures(result);
    return { ...figuresOf(figures), markets_traded: figures.markets_traded, cells: null };
  }
  const { cells, best, n_trials } = JSON.parse(result) as {
    readonly cells: readonly (readonly Figures[])[];
    readonly best: { readonly x: number; readonly y: number } | null;
    readonly n_trials: number;
  };
  const cell = best === null ? undefined : cells[best.y]?.[best.x];
  return { ...figuresOf(cell), markets_traded: null, cells: n_trials };
}

function figuresOf(
  figures: Figures | undefined,
): Pick<JobSummary, 'total_pnl' | 'sharpe_per_market' | 'trades_total' | 'max_drawdown'> {
  return {
    total_pnl: figures?.total_pnl ?? null,
    sharpe_per_market: figures?.sharpe_per_market ?? null,
    trades_total: figures?.trades_total ?? null,
    max_drawdown: figures?.max_drawdown ?? null,
  };
}
