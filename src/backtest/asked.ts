/** Converts request bodies to jobs and back. The API and the command line accept the same bodies. */
import type { backtestMembers, sweepMembers } from '../schema/api/backtests.ts';
import type { MemberValues } from '../schema/api/body.ts';
import type { Problem } from '../schema/api/fields.ts';
import type { Axis, BacktestSpec, JobRequest, JobSpec } from '../schema/backtest.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import { sweepableParams } from './cells.ts';

export type AskedBacktest = MemberValues<ReturnType<typeof backtestMembers>>;
export type AskedSweep = MemberValues<ReturnType<typeof sweepMembers>>;

/** @param within The range the user may read, and the current time: a window that ends later does not exist yet. */
export function specOf(
  asked: AskedBacktest,
  within: { startMs: number | null; nowMs: number; marketLimit: number },
): BacktestSpec {
  return {
    strategy: asked.strategy,
    universe: asked.universe,
    sizeUsd: asked.size_usd,
    params: asked.params,
    startMs: wholeMs(within.startMs),
    askedStartMs: wholeMs(asked.start),
    endMs: Math.min(wholeMs(asked.end) ?? Number.POSITIVE_INFINITY, within.nowMs),
    marketLimit: within.marketLimit,
  };
}

/** Windows end at whole milliseconds, so rounding up excludes none of them. Responses print no finer times. */
function wholeMs(timeMs: number | null): number | null {
  return timeMs === null ? null : Math.ceil(timeMs);
}

/**
 * The request body that recreates the job, with every default filled in. On the same data its result is identical, byte
 * for byte. `end` is always set. `start` stays null if none was given: a tier's history window moves, and a start
 * before it would be refused.
 */
export function requestOf(spec: JobSpec): JobRequest {
  const { strategy, universe, sizeUsd, startMs, askedStartMs = startMs, endMs, marketLimit } = spec;
  return {
    ...{ strategy, universe, size_usd: sizeUsd },
    ...{ start: formatTimeOrNull(askedStartMs), end: formatTime(endMs), market_limit: marketLimit },
    ...(spec.kind === 'sweep' ? { x_axis: spec.xAxis, y_axis: spec.yAxis } : {}),
    params: spec.params,
  };
}

/** Problems of a sweep's axes: a parameter that the strategy does not have, or two axes with the same parameter. */
export function axisProblems({ strategy, x_axis: x, y_axis: y }: AskedSweep): Problem[] {
  const names = sweepableParams(strategy);
  const unknown = [unknownParam(x, 'x_axis', names), y && unknownParam(y, 'y_axis', names)];
  const problems = unknown.filter((problem) => problem !== null);
  if (problems.length > 0 || y?.param !== x.param) return problems;
  return [
    {
      type: 'value_error',
      loc: ['body', 'y_axis', 'param'],
      msg: 'Value error, must be another parameter than that of x_axis',
      input: y.param,
      ctx: { error: {} },
    },
  ];
}

/** Purchases that rest need the recorded book. */
export function executionProblems({
  strategy,
  params,
}: Pick<AskedBacktest, 'strategy' | 'params'>): Problem[] {
  if (strategy.execution === undefined || params.fill_mode !== 'mid') return [];
  return [
    {
      type: 'value_error',
      loc: ['body', 'params', 'fill_mode'],
      msg: "Value error, must be 'walk_book' if the strategy has an execution",
      input: params.fill_mode,
      ctx: { error: {} },
    },
  ];
}

function unknownParam({ param }: Axis, name: string, names: readonly string[]): Problem | null {
  if (names.includes(param)) return null;
  const quoted = names.map((known) => `'${known}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  const msg = `Input should be ${expected}`;
  return { type: 'literal_error', loc: ['body', name, 'param'], msg, input: param, ctx: { expected } };
}
