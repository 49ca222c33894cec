import { MICRO_PER_USDC } from '../../core/fees.ts';
import { compileStrategy } from '../../core/strategies/compile.ts';
import type { Clock } from '../../runtime/clock.ts';
import { DEFAULT_PARAMS } from '../../schema/api/strategies.ts';
import type { BacktestSpec } from '../../schema/backtest.ts';
import type { LiveStrategy } from '../live/paperSession.ts';
import { seriesOf } from '../live/strategyIndex.ts';
import { type ComparisonJobs, type Divergence, divergenceOf, wholeWindows } from './divergence.ts';
import type { PositionReader } from './positions.ts';
import type { PaperRunner } from './runner.ts';
import {
  MAX_STRATEGIES_PER_USER,
  type NewStrategy,
  type PaperStrategy,
  type Refusal,
  type StrategyRepository,
} from './strategies.ts';

const DAY_MS = 86_400_000;
/** Every window of a day of the shortest series. */
const BASELINE_MARKETS_MAX = 300;
const WINDOW_MARKETS_MAX = 10_000;
/** A window replay is refused while this many baselines and replays of its user wait or run. */
export const MAX_COMPARISONS_PER_USER = 2;

/** Notified of changes after they are stored. */
export type StrategyChanges = Pick<PaperRunner, 'add' | 'remove' | 'activate' | 'deactivate'>;

interface PaperStrategyServiceOptions {
  readonly strategies: StrategyRepository;
  readonly positions: PositionReader;
  readonly runner: StrategyChanges;
  readonly backtests: ComparisonJobs;
  readonly clock: Pick<Clock, 'now'>;
}

type StrategyRequest = Omit<NewStrategy, 'baselineId'> & {
  readonly baselineId: string | null;
  readonly cap: number;
};

/** The API's operations on paper strategies: first the table, then the runner. */
export class PaperStrategyService {
  readonly strategies: Pick<StrategyRepository, 'find' | 'list'>;
  readonly positions: Pick<PositionReader, 'list' | 'count' | 'closed' | 'between'>;
  readonly #parts: PaperStrategyServiceOptions;

  constructor(parts: PaperStrategyServiceOptions) {
    this.strategies = parts.strategies;
    this.positions = parts.positions;
    this.#parts = parts;
  }

  /** Starts a baseline unless one is named. Each strategy has at most one, so their number needs no other limit. */
  async create(request: StrategyRequest): Promise<PaperStrategy | Refusal | 'no_baseline'> {
    const { strategies, backtests, runner } = this.#parts;
    const { userId, baselineId: named } = request;
    const refusal = await strategies.refusal(request);
    if (refusal === 'over_cap' || refusal === 'too_many') return refusal;
    if (named !== null && (await backtests.jobs.find(named, { userId })) === null) return 'no_baseline';
    if (refusal !== null) return refusal;
    const endMs = this.#parts.clock.now();
    const range = { startMs: endMs - DAY_MS, endMs, marketLimit: BASELINE_MARKETS_MAX };
    const baselineId = named ?? (await this.#backtest(request, { ...range, cap: MAX_STRATEGIES_PER_USER }));
    // As many concurrent requests as a user may have strategies were faster.
    if (baselineId === null) return 'too_many';
    const made = await strategies.create({ ...request, baselineId });
    if (typeof made === 'string') {
      // A concurrent request was faster; its strategy has a baseline of its own.
      if (named === null) await backtests.cancel(baselineId, { userId });
      return made;
    }
    runner.add(liveStrategy(made));
    return made;
  }

  async change(
    strategyId: string,
    change: { userId: string; active: boolean | null; name: string | null; cap: number },
  ): Promise<PaperStrategy | Refusal> {
    const changed = await this.#parts.strategies.update(strategyId, change);
    if (typeof changed === 'string' || change.active === null) return changed;
    const { runner } = this.#parts;
    if (changed.entriesUntilMs !== null) runner.deactivate(strategyId, changed.entriesUntilMs);
    else runner.activate(strategyId, changed.activeFromMs);
    return changed;
  }

  /** Deletes it and its waiting or running comparisons. @returns False if the user has no such strategy. */
  async delete(strategyId: string, owner: { userId: string }): Promise<boolean> {
    const { strategies, runner } = this.#parts;
    const known = await strategies.find(strategyId, owner);
    if (known === null || !(await strategies.delete(strategyId, owner))) return false;
    runner.remove(strategyId);
    for (const jobId of [known.baselineId, known.windowBacktestId]) {
      if (jobId !== null) await this.#cancelUnused(jobId, owner);
    }
    return true;
  }

  /**
   * Replays the windows that the strategy has traded so far.
   * @returns Null if its user already has the allowed number of comparisons.
   */
  async replayWindow(strategy: PaperStrategy): Promise<string | null> {
    const range = wholeWindows(strategy, this.#parts.clock.now());
    const cap = MAX_COMPARISONS_PER_USER;
    const jobId = await this.#backtest(strategy, { ...range, marketLimit: WINDOW_MARKETS_MAX, cap });
    if (jobId !== null) await this.#parts.strategies.setWindowBacktest(strategy.strategyId, jobId);
    return jobId;
  }

  /** Compares paper trading with the recording; null positions of a run mean that it has no result. */
  divergence(strategy: PaperStrategy): Promise<Divergence> {
    return divergenceOf(strategy, this.#parts);
  }

  /** Keeps a job that the user submitted, or that another strategy is compared with. */
  async #cancelUnused(jobId: string, owner: { userId: string }): Promise<void> {
    const { strategies, backtests } = this.#parts;
    const job = await backtests.jobs.find(jobId, owner);
    if (job === null || !job.isComparison || job.completedMs !== null) return;
    const others = await strategies.list(owner.userId);
    if (others.some(({ baselineId }) => baselineId === jobId)) return;
    await backtests.cancel(jobId, owner);
  }

  async #backtest(
    { userId, strategy, universe, sizeUsd }: Omit<NewStrategy, 'name' | 'baselineId'>,
    { cap, ...range }: Pick<BacktestSpec, 'startMs' | 'endMs' | 'marketLimit'> & { readonly cap: number },
  ): Promise<string | null> {
    const spec = { kind: 'backtest' as const, strategy, universe, sizeUsd, params: DEFAULT_PARAMS, ...range };
    const job = await this.#parts.backtests.submit({ userId, spec, isComparison: true, cap });
    return job?.jobId ?? null;
  }
}

export function liveStrategy(stored: PaperStrategy): LiveStrategy {
  const { ticker, event_type: eventType } = stored.universe;
  return {
    strategyId: stored.strategyId,
    series: seriesOf({ ticker, eventType }),
    compiled: compileStrategy(stored.strategy),
    execution: stored.strategy.execution,
    size: Math.round(stored.sizeUsd * MICRO_PER_USDC),
    activeFromMs: stored.activeFromMs,
    entries: { untilMs: stored.entriesUntilMs ?? Number.POSITIVE_INFINITY },
  };
}
