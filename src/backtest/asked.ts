/** From what a body asks for to what a job is told; the API and the command line read the same bodies. */
import type { backtestMembers, sweepMembers } from '../schema/api/backtests.ts';
import type { MemberValues } from '../schema/api/body.ts';
import type { Problem } from '../schema/api/fields.ts';
import type { Axis, BacktestSpec } from '../schema/backtest.ts';
import { sweepableParams } from './cells.ts';

export type AskedBacktest = MemberValues<typeof backtestMembers>;
export type AskedSweep = MemberValues<typeof sweepMembers>;

/** @param within What the asker may read, and now: a window that ends later is not there yet. */
export function specOf(
  asked: AskedBacktest,
  within: { startMs: number | null; nowMs: number; marketLimit: number },
): BacktestSpec {
  return {
    strategy: asked.strategy,
    universe: asked.universe,
    sizeUsd: asked.size_usd,
    params: asked.params,
    startMs: within.startMs,
    endMs: Math.min(asked.end ?? Number.POSITIVE_INFINITY, within.nowMs),
    marketLimit: within.marketLimit,
  };
}

/** What is wrong with the axes of a sweep: a parameter the strategy has not, or two axes of one. */
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

function unknownParam({ param }: Axis, name: string, names: readonly string[]): Problem | null {
  if (names.includes(param)) return null;
  const quoted = names.map((known) => `'${known}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  const msg = `Input should be ${expected}`;
  return { type: 'literal_error', loc: ['body', name, 'param'], msg, input: param, ctx: { expected } };
}
