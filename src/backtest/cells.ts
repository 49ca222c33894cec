/** The parameters a sweep may vary, and the cells that its axes define. */

import { type JsonType, NestedProblems } from '../schema/api/body.ts';
import { paramsType, sizeUsdType, strategyType } from '../schema/api/strategies.ts';
import { Invalid } from '../schema/api/types.ts';
import type { Axis, BacktestSpec, SweepSpec } from '../schema/backtest.ts';
import type { EntryCondition, ReplayParams, Strategy } from '../schema/strategy.ts';

/** The parameters of one cell's backtest. */
export interface Cell {
  readonly strategy: Strategy;
  readonly params: ReplayParams;
  readonly sizeUsd: number;
}

/** Significant digits kept after adding steps: 0.1 to 0.5 passes through 0.3, not 0.30000000000000004. */
const DIGITS = 12;

const WHOLE = new Set(['lookback', 'max_trades_per_market', 'latency_ms']);
const OF_PARAMS = ['latency_ms', 'max_fill_price', 'max_slippage'];
const OF_EXECUTION = ['execution.offset', 'execution.timeout_s'];
const SIZE = 'size_usd';

/** Parameter names allowed for this strategy; `entry.0.value` belongs to the first condition, `entry.1.any.0.value` to one in a group. */
export function sweepableParams(strategy: Strategy): string[] {
  const ofExecution = strategy.execution === undefined ? [] : OF_EXECUTION;
  return [...strategyParams(strategy), ...ofExecution, ...OF_PARAMS, SIZE];
}

function strategyParams(strategy: Strategy): string[] {
  switch (strategy.type) {
    case 'threshold_entry':
      return ['threshold'];
    case 'mean_reversion':
      return ['lookback', 'z_threshold'];
    case 'time_before_resolution':
      return ['minutes_before'];
    case 'condition_based':
      return [
        ...(['entry', 'take_profit', 'stop_loss'] as const).flatMap((list) =>
          strategy[list].flatMap((item, at) => valueNames(`${list}.${at}`, item)),
        ),
        'max_trades_per_market',
      ];
  }
}

function valueNames(place: string, item: EntryCondition): string[] {
  return 'any' in item ? item.any.map((_, at) => `${place}.any.${at}.value`) : [`${place}.value`];
}

/** `steps` values from start to end, both included; rounded if the parameter is a whole number. */
export function axisValues({ param, start, end, steps }: Axis): number[] {
  return Array.from({ length: steps }, (_, at) => {
    const value = steps === 1 ? start : start + (at * (end - start)) / (steps - 1);
    return WHOLE.has(param) ? Math.round(value) : Number(value.toPrecision(DIGITS));
  });
}

export function cellCount({ xAxis, yAxis }: Pick<SweepSpec, 'xAxis' | 'yAxis'>): number {
  return xAxis.steps * (yAxis?.steps ?? 1);
}

/** The cells in rows of equal y: cell (x, y) is at `y * xAxis.steps + x`. An invalid cell is the text of its error. */
export function cellsOf(spec: SweepSpec): (Cell | string)[] {
  const { xAxis, yAxis } = spec;
  const columns = axisValues(xAxis);
  const rows = yAxis === null ? [null] : axisValues(yAxis);
  return rows.flatMap((y) =>
    columns.map((x) => {
      const changed = withValue(spec, xAxis.param, x);
      return checked(y === null || yAxis === null ? changed : withValue(changed, yAxis.param, y));
    }),
  );
}

function withValue<T extends Pick<BacktestSpec, 'strategy' | 'params' | 'sizeUsd'>>(
  spec: T,
  param: string,
  value: number,
): T {
  if (param === SIZE) return { ...spec, sizeUsd: value };
  if (OF_PARAMS.includes(param)) return { ...spec, params: { ...spec.params, [param]: value } };
  const strategy = structuredClone(spec.strategy) as object;
  const path = param.split('.');
  const last = path.pop() as string;
  const holder = path.reduce((inside, name) => (inside as Record<string, object>)[name] as object, strategy);
  (holder as Record<string, number>)[last] = value;
  return { ...spec, strategy: strategy as Strategy };
}

function checked({ strategy, params, sizeUsd }: Cell): Cell | string {
  for (const [type, value] of [
    [strategyType, strategy],
    [paramsType, params],
    [sizeUsdType, sizeUsd],
  ] as [JsonType<unknown>, unknown][]) {
    const parsed = type.parse(value);
    if (parsed instanceof Invalid) return parsed.msg;
    if (parsed instanceof NestedProblems) return parsed.problems[0]?.msg ?? 'Invalid input';
  }
  return { strategy, params, sizeUsd };
}
