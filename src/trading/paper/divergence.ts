/** Compares paper trading with two backtests: its baseline, and a replay of the windows it traded. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobControl } from '../../backtest/jobControl.ts';
import type { JobRepository } from '../../backtest/jobs.ts';
import { type BacktestFigures, storedFigures, storedTrades } from '../../backtest/storedResult.ts';
import { MICRO_PER_USDC } from '../../core/fees.ts';
import { avgSlippage } from '../../core/session/summary.ts';
import { memoryMs } from '../../core/strategies/compile.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { BacktestTradeBody } from '../../schema/api/backtests.ts';
import type { RunBody } from '../../schema/api/paper.ts';
import { printJson } from '../../schema/moneyJson.ts';
import { windowAt } from '../../venues/polymarket/lifecycle/windows.ts';
import { positionBody } from './positionBody.ts';
import { type PositionPlace, type PositionReader, type PositionRow, tradeOf } from './positions.ts';
import type { PaperStrategy } from './strategies.ts';

/** Positions compared, and differences shown. */
const COMPARED_MAX = 100_000;
const SHOWN_MAX = 200;
/** Positions read, and compared, before other work may run: some milliseconds. */
const ROWS_A_TURN = 500;

/** The parts of backtesting that comparisons need. */
export type ComparisonJobs = Pick<JobControl, 'submit' | 'cancel'> & {
  readonly jobs: Pick<JobRepository, 'find' | 'result'>;
};

interface Difference {
  readonly market_id: string;
  readonly opened_at: string;
  readonly found_in: 'live' | 'backtest' | 'both';
  readonly live_net_pnl: number | null;
  readonly backtest_net_pnl: number | null;
}

export interface Divergence {
  readonly fromMs: number;
  readonly toMs: number;
  readonly live: RunBody;
  readonly baseline: RunBody;
  readonly window: RunBody | null;
  readonly same: number | null;
  readonly differing: readonly Difference[];
}

interface Parts {
  readonly positions: Pick<PositionReader, 'between'>;
  readonly backtests: ComparisonJobs;
  readonly clock: Pick<Clock, 'now'>;
}

interface Run {
  readonly body: RunBody;
  readonly result: StoredRun | null;
  readonly endMs: number | null;
}

interface StoredRun {
  readonly figures: BacktestFigures;
  /** The whole result as JSON. */
  readonly text: string;
}

/**
 * The whole windows a strategy traded with all its history available, as a range of window ends. A window that it
 * joined or left midway is excluded, because a backtest would trade the rest of it too.
 */
export function wholeWindows(
  { universe, strategy, activeFromMs, entriesUntilMs }: PaperStrategy,
  nowMs: number,
): { startMs: number; endMs: number } {
  const knowsFromMs = activeFromMs + memoryMs(strategy);
  const first = windowAt(universe.event_type, knowsFromMs);
  const isWhole = first.startTimeMs >= knowsFromMs;
  const startMs = isWhole ? first.endTimeMs : windowAt(universe.event_type, first.endTimeMs).endTimeMs;
  return { startMs, endMs: entriesUntilMs ?? nowMs };
}

export async function divergenceOf(strategy: PaperStrategy, parts: Parts): Promise<Divergence> {
  const { windowBacktestId, baselineId } = strategy;
  const baseline = await runOf(baselineId, strategy, parts);
  const window = windowBacktestId === null ? null : await runOf(windowBacktestId, strategy, parts);
  const fromMs = strategy.activeFromMs;
  const toMs = Math.max(fromMs, window?.endMs ?? strategy.entriesUntilMs ?? parts.clock.now());
  const result = window?.result ?? null;
  const isReplayed = result === null ? () => true : replayedBy(result, strategy, toMs);
  const live: PositionRow[] = [];
  for await (const row of closedPositions(strategy, { startMs: fromMs, endMs: toMs }, parts)) {
    if (isReplayed(row)) live.push(row);
  }
  const compared = result === null ? null : await compare(live, result.text);
  return {
    ...{ fromMs, toMs, live: liveRun(live), baseline: baseline.body, window: window?.body ?? null },
    ...{ same: compared?.same ?? null, differing: compared?.differing ?? [] },
  };
}

/** Positions opened in a range that are closed now; other requests run between its pages. */
async function* closedPositions(
  { strategyId }: PaperStrategy,
  range: { startMs: number; endMs: number },
  { positions }: Parts,
): AsyncGenerator<PositionRow> {
  let after: PositionPlace | null = null;
  for (let read = 0; read < COMPARED_MAX; read += ROWS_A_TURN) {
    const rows = await positions.between(strategyId, { ...range, after, limit: ROWS_A_TURN });
    for (const row of rows) if (row.closed_ms !== null) yield row;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_A_TURN) return;
    after = { openedMs: last.opened_ms, positionId: last.position_id };
    await nextTurn();
  }
}

/** Whether the replay covered the position's window; a skipped window cannot match. */
function replayedBy(
  { figures }: StoredRun,
  strategy: PaperStrategy,
  toMs: number,
): (position: PositionRow) => boolean {
  const { startMs } = wholeWindows(strategy, toMs);
  const skipped = new Set(figures.markets_skipped.map(({ market_id }) => market_id));
  return ({ opened_ms, market_id }) => {
    const { endTimeMs } = windowAt(strategy.universe.event_type, opened_ms);
    return endTimeMs >= startMs && endTimeMs < toMs && !skipped.has(market_id);
  };
}

async function runOf(jobId: string, { userId }: PaperStrategy, { backtests }: Parts): Promise<Run> {
  const job = await backtests.jobs.find(jobId, { userId });
  const text = job?.status === 'complete' ? await backtests.jobs.result(jobId) : null;
  const figures = text === null ? null : storedFigures(text);
  const body = {
    ...{ backtest_id: jobId, status: job?.status ?? ('gone' as const) },
    ...{ trades: figures?.trades_total ?? null, win_rate: figures?.win_rate ?? null },
    ...{ net_pnl: figures?.total_pnl ?? null, fees: figures?.total_fees ?? null },
    ...{ avg_pnl_per_trade: figures?.avg_pnl_per_trade ?? null, avg_slippage: figures?.avg_slippage ?? null },
  };
  const result = figures === null || text === null ? null : { figures, text };
  return { body, result, endMs: job?.spec.endMs ?? null };
}

function liveRun(closed: readonly PositionRow[]): RunBody {
  const sum = (of: (row: PositionRow) => number) => closed.reduce((total, row) => total + of(row), 0);
  const mean = (total: number) => (closed.length === 0 ? null : total / closed.length);
  const pnl = sum((row) => row.pnl_micro ?? 0) / MICRO_PER_USDC;
  return {
    ...{ backtest_id: null, status: 'live', trades: closed.length, net_pnl: pnl },
    ...{ win_rate: mean(closed.filter((row) => (row.pnl_micro ?? 0) > 0).length) },
    ...{ fees: sum((row) => row.fees_micro) / MICRO_PER_USDC, avg_pnl_per_trade: mean(pnl) },
    avg_slippage: avgSlippage(closed.map(tradeOf)),
  };
}

/** @param replayed The result of the replay as JSON. */
async function compare(
  live: readonly PositionRow[],
  replayed: string,
): Promise<{ same: number; differing: Difference[] }> {
  const keyOf = (row: BacktestTradeBody) => `${row.market_id} ${row.opened_at}`;
  const left = new Map<string, BacktestTradeBody>();
  for await (const trade of storedTrades(replayed)) left.set(keyOf(trade), trade);
  const differing: Difference[] = [];
  let same = 0;
  for (const [at, row] of live.entries()) {
    if (at % ROWS_A_TURN === 0) await nextTurn();
    const { position_id: _id, ...own } = positionBody(row);
    const other = left.get(keyOf(own)) ?? null;
    left.delete(keyOf(own));
    if (printJson(own) === printJson(other)) same++;
    else differing.push(difference(own, other));
  }
  for (const other of left.values()) differing.push(difference(null, other));
  differing.sort((a, b) => (a.opened_at < b.opened_at ? -1 : 1));
  return { same, differing: differing.slice(0, SHOWN_MAX) };
}

function difference(live: BacktestTradeBody | null, replayed: BacktestTradeBody | null): Difference {
  const either = (live ?? replayed) as BacktestTradeBody;
  return {
    ...{ market_id: either.market_id, opened_at: either.opened_at },
    found_in: live === null ? 'backtest' : replayed === null ? 'live' : 'both',
    ...{ live_net_pnl: live?.net_pnl ?? null, backtest_net_pnl: replayed?.net_pnl ?? null },
  };
}
