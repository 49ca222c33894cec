/** Runs one job from its universe to the bytes of its result. */

import { createHash } from 'node:crypto';
import type { FairQueue } from '../core/fairQueue.ts';
import type { Resolution, TapeGap } from '../core/session/tape.ts';
import { resolutionOf, tapeMarketOf } from '../core/session/tapeMarket.ts';
import { compileStrategy } from '../core/strategies/compile.ts';
import { VENUE_RULES_VERSION } from '../core/venueRules.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import type { BacktestSpec, JobSpec, Receipt, SweepSpec } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import type { TapeTerms } from '../store/queries/tapeReader.ts';
import { loadTapeGaps, loadUniverse } from '../store/queries/universe.ts';
import type { StoreReader } from '../store/reader.ts';
import { cellCount } from './cells.ts';
import { depthOf } from './depth.ts';
import { notSwept } from './marketReplay.ts';
import { checkReplayed } from './report.ts';
import { checkSwept, sweepResult } from './sweepReport.ts';
import type { MarketSource } from './task.ts';
import type { Workers } from './workerPool.ts';

/** Seed of the random draws behind the intervals; constant, so the same receipt means the same bytes. */
const SEED = 1;
/** Minimum number of cells per task in a sweep with too few markets to keep all threads busy. */
const CELLS_PER_TASK_MIN = 64;
/** Progress of a sweep when all cells are replayed and only their comparison remains. */
const JUDGE_PROGRESS = 0.95;
/** Maximum number of trades of all cells kept for summing: 320 MB. */
const TRADES_MAX = 20_000_000;
const TOO_MANY_TRADES = 'the cells made too many trades to be summed; use fewer cells or markets';

export interface RunnerParts {
  readonly store: StoreReader;
  readonly workers: Workers;
  readonly turns: FairQueue;
  /** Named in receipts. */
  readonly codeVersion: string;
  /**
   * Number of cells that the user's earlier jobs tried on the same universe; `dataHash` is that of the job's receipt.
   */
  readonly trialsBefore: (job: RunnableJob, dataHash: string) => Promise<number>;
}

/** The fields of a job that the runner needs. */
interface RunnableJob {
  readonly jobId: string;
  readonly userId: string;
  readonly spec: JobSpec;
}

interface Work {
  readonly signal: AbortSignal;
  /** Receives the completed share, 0..1. */
  readonly onProgress: (share: number) => void;
}

interface MarketTask {
  readonly source: MarketSource;
  readonly resolution: Resolution | null;
}

/**
 * @returns The result as JSON.
 * @throws {BacktestFailedError} If no market can be replayed, or the worker threads end.
 * @throws {StoreUnavailableError} If the store cannot be reached.
 */
export async function runJob(parts: RunnerParts, job: RunnableJob, work: Work): Promise<string> {
  const { spec } = job;
  const { universe, startMs, endMs, marketLimit: limit } = spec;
  const markets = await loadUniverse(parts.store, { universe, startMs, endMs, limit });
  work.signal.throwIfAborted();
  const ids = markets.map(({ marketId }) => marketId);
  const gaps = await loadTapeGaps(parts.store, ids);
  const tasks = markets.map((market) => taskOf(market, gaps.get(market.marketId) ?? [], spec));
  if (spec.kind === 'backtest') return await backtest(parts, job, { spec, tasks, work });
  return printJson(await sweep(parts, job, { spec, tasks, work }));
}

async function backtest(
  parts: RunnerParts,
  job: RunnableJob,
  { spec, tasks, work }: { spec: BacktestSpec; tasks: readonly MarketTask[]; work: Work },
): Promise<string> {
  const { strategy, params, sizeUsd } = spec;
  const cell = { strategy, params, sizeUsd };
  const inTurn = <T>(run: () => Promise<T>) => parts.turns.run(job.userId, run);
  const markets = await inLanes(parts, tasks, work, (task) =>
    inTurn(() => parts.workers.run({ kind: 'one', ...task, cell }, work.signal)),
  );
  checkReplayed(
    markets.map(({ skipped }) => skipped),
    spec,
  );
  const outcomes = markets.map(({ packed }) => packed);
  const report = { kind: 'report', outcomes, spec, receipt: receiptOf(parts, markets) } as const;
  const bytes = await inTurn(() => parts.workers.run(report, work.signal));
  return Buffer.from(bytes).toString();
}

async function sweep(
  parts: RunnerParts,
  job: RunnableJob,
  { spec, tasks, work }: { spec: SweepSpec; tasks: readonly MarketTask[]; work: Work },
) {
  const cells = cellCount(spec);
  const ranges = rangesOf(cells, { markets: tasks.length, threads: parts.workers.threads });
  const inTurn = <T>(run: () => Promise<T>) => parts.turns.run(job.userId, run);
  const part: Work = { ...work, onProgress: (share) => work.onProgress(share * JUDGE_PROGRESS) };
  let trades = 0;
  const markets = await inLanes(parts, tasks, part, async ({ source, resolution }) => {
    const load = { kind: 'load', source, resolution } as const;
    const loaded = await inTurn(() => parts.workers.run(load, work.signal));
    const market = tapeMarketOf(source.market);
    if ('skipped' in loaded) return { hash: '', market, ranges: [notSwept(loaded.skipped, cells)] };
    const of = { kind: 'cells', tape: loaded.tape, resolution, jobId: job.jobId, spec } as const;
    const swept = await Promise.all(
      ranges.map((range) => inTurn(() => parts.workers.run({ ...of, ...range }, work.signal))),
    );
    trades += swept.reduce((sum, { pnl }) => sum + pnl.length, 0);
    if (trades > TRADES_MAX) throw new BacktestFailedError(TOO_MANY_TRADES);
    return { hash: loaded.hash, market, ranges: swept };
  });
  checkSwept(markets, spec);
  const receipt = receiptOf(parts, markets);
  const trialsBefore = await parts.trialsBefore(job, receipt.data_hash);
  const judge = { kind: 'judge', markets, spec, trialsBefore } as const;
  const judged = await inTurn(() => parts.workers.run(judge, work.signal));
  return sweepResult(markets, { spec, judged, receipt });
}

/** Runs the tasks in order, several at a time; results are in the order of the tasks. */
async function inLanes<T>(
  { workers }: RunnerParts,
  tasks: readonly MarketTask[],
  { signal, onProgress }: Work,
  run: (task: MarketTask) => Promise<T>,
): Promise<T[]> {
  const results: T[] = new Array(tasks.length);
  let [next, done] = [0, 0];
  const lane = async () => {
    try {
      while (next < tasks.length) {
        signal.throwIfAborted();
        const at = next++;
        results[at] = await run(tasks[at] as MarketTask);
        onProgress(++done / tasks.length);
      }
    } catch (error) {
      // The other lanes start no further task.
      next = tasks.length;
      throw error;
    }
  };
  // One more than can run at the same time, so no thread waits for its next task.
  await Promise.all(Array.from({ length: workers.threads + 1 }, lane));
  return results;
}

function taskOf(market: Market, gaps: readonly TapeGap[], spec: JobSpec): MarketTask {
  return { source: { market, gaps, terms: termsOf(spec) }, resolution: resolutionOf(market) };
}

/** The data that must be read for every cell of the job. */
function termsOf(spec: JobSpec): TapeTerms {
  const { books, model } = compileStrategy(spec.strategy).needs;
  const needsBooks = books || spec.params.fill_mode === 'walk_book';
  const axes = spec.kind === 'sweep' ? [spec.xAxis, spec.yAxis] : [];
  const ofSize = axes.find((axis) => axis?.param === 'size_usd');
  const sizeUsd = ofSize ? Math.max(ofSize.start, ofSize.end) : spec.sizeUsd;
  const trades = spec.strategy.execution !== undefined;
  return { depth: needsBooks ? depthOf(sizeUsd) : null, prices: model, trades };
}

function rangesOf(
  cells: number,
  { markets, threads }: { markets: number; threads: number },
): { from: number; to: number }[] {
  const wanted = markets >= threads ? 1 : Math.min(threads, Math.ceil(cells / CELLS_PER_TASK_MIN));
  const size = Math.ceil(cells / wanted);
  return Array.from({ length: Math.ceil(cells / size) }, (_, at) => ({
    from: at * size,
    to: Math.min(cells, (at + 1) * size),
  }));
}

function receiptOf({ codeVersion }: RunnerParts, markets: readonly { readonly hash: string }[]): Receipt {
  const sum = createHash('sha256');
  for (const { hash } of markets) sum.update(`${hash}\n`);
  return {
    data_hash: sum.digest('hex'),
    venue_rules: VENUE_RULES_VERSION,
    code_version: codeVersion,
    seed: SEED,
  };
}
