import type { Clock } from '../clock.ts';
import { MICRO_PER_USDC } from '../core/fees.ts';
import { compileStrategy } from '../core/strategies/compile.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { BacktestSpec } from '../schema/backtest.ts';
import { type ComparisonJobs, type Divergence, divergenceOf, wholeWindows } from './divergence.ts';
import type { LiveStrategy } from './livePaper.ts';
import type { PositionReader } from './positions.ts';
import type { PaperRunner } from './runner.ts';
import type { NewStrategy, PaperStrategy, Refusal, StrategyRepository } from './strategies.ts';
import { seriesOf } from './strategyIndex.ts';

const DAY_MS = 86_400_000;
/** Every window of a day of the shortest series. */
const BASELINE_MARKETS_MAX = 300;
const WINDOW_MARKETS_MAX = 10_000;

export interface PapersParts {
  readonly strategies: StrategyRepository;
  readonly positions: PositionReader;
  readonly runner: Pick<PaperRunner, 'add' | 'remove' | 'activate' | 'deactivate'>;
  readonly backtests: ComparisonJobs;
  readonly clock: Pick<Clock, 'now'>;
}

export type Asked = Omit<NewStrategy, 'baselineId'> & {
  readonly baselineId: string | null;
  readonly cap: number;
};

/** What the API does with paper strategies: the table first, then whoever trades. */
export class Papers {
  readonly strategies: Pick<StrategyRepository, 'find' | 'list'>;
  readonly positions: Pick<PositionReader, 'list' | 'count' | 'closed' | 'between'>;
  readonly #parts: PapersParts;

  constructor(parts: PapersParts) {
    this.strategies = parts.strategies;
    this.positions = parts.positions;
    this.#parts = parts;
  }

  /** Starts a baseline where none is named. */
  async create(asked: Asked): Promise<PaperStrategy | Refusal | 'no_baseline'> {
    const { strategies, backtests, runner } = this.#parts;
    const { userId, baselineId: named } = asked;
    const refusal = await strategies.refusal(asked);
    if (refusal === 'over_cap' || refusal === 'too_many') return refusal;
    if (named !== null && (await backtests.jobs.find(named, { userId })) === null) return 'no_baseline';
    if (refusal !== null) return refusal;
    const endMs = this.#parts.clock.now();
    const range = { startMs: endMs - DAY_MS, endMs, marketLimit: BASELINE_MARKETS_MAX };
    const baselineId = named ?? (await this.#backtest(asked, range));
    const made = await strategies.create({ ...asked, baselineId });
    if (typeof made === 'string') {
      // Another request was faster; its strategy has a baseline of its own.
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

  /** @returns False where the user has none such. */
  async delete(strategyId: string, owner: { userId: string }): Promise<boolean> {
    const deleted = await this.#parts.strategies.delete(strategyId, owner);
    if (deleted) this.#parts.runner.remove(strategyId);
    return deleted;
  }

  /** Replays the windows the strategy has traded so far. */
  async replayWindow(strategy: PaperStrategy): Promise<string> {
    const range = wholeWindows(strategy, this.#parts.clock.now());
    const jobId = await this.#backtest(strategy, { ...range, marketLimit: WINDOW_MARKETS_MAX });
    await this.#parts.strategies.setWindowBacktest(strategy.strategyId, jobId);
    return jobId;
  }

  /** How paper compares with the recording; null positions of a run mean that there is no result. */
  divergence(strategy: PaperStrategy): Promise<Divergence> {
    return divergenceOf(strategy, this.#parts);
  }

  async #backtest(
    { userId, strategy, universe, sizeUsd }: Omit<NewStrategy, 'name' | 'baselineId'>,
    range: Pick<BacktestSpec, 'startMs' | 'endMs' | 'marketLimit'>,
  ): Promise<string> {
    const spec = { kind: 'backtest' as const, strategy, universe, sizeUsd, params: DEFAULT_PARAMS, ...range };
    const job = await this.#parts.backtests.submit({ userId, spec, cap: null });
    if (job === null) throw new TypeError('a job that does not count was refused');
    return job.jobId;
  }
}

export function liveStrategy(stored: PaperStrategy): LiveStrategy {
  const { ticker, event_type: eventType } = stored.universe;
  return {
    strategyId: stored.strategyId,
    series: seriesOf({ ticker, eventType }),
    compiled: compileStrategy(stored.strategy),
    size: Math.round(stored.sizeUsd * MICRO_PER_USDC),
    activeFromMs: stored.activeFromMs,
    entries: { untilMs: stored.entriesUntilMs ?? Number.POSITIVE_INFINITY },
  };
}
