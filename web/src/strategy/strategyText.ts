import type { BacktestJob } from '../api/schema.ts';
import { cents, number, usd } from '../ui/format.ts';
import {
  type Condition,
  METRIC_NAMES,
  OPERATOR_NAMES,
  type Strategy,
  singleConditions,
} from './strategies.ts';

type Request = BacktestJob['request'];

/** Of a condition in a line: shorter than the names in a form. */
const SIGNS = { ...OPERATOR_NAMES, above: '>', below: '<' };
const SIDES = { buy_yes: 'Up', buy_no: 'Down' } as const;

/** The parameters of a strategy in a line, e.g. `buy Up below 30.0¢`. */
export function strategyText(strategy: Strategy): string {
  const { execution } = strategy;
  const rests = execution ? [`maker at bid ${offsetText(execution.offset ?? 0)}`.trim()] : [];
  return [rulesText(strategy), ...rests].join(', ');
}

function rulesText(strategy: Strategy): string {
  switch (strategy.type) {
    case 'threshold_entry':
      return `buy ${SIDES[strategy.side]} ${strategy.direction} ${cents(strategy.threshold)}`;
    case 'mean_reversion':
      return `${number(strategy.z_threshold)} σ from the mean of ${number(strategy.lookback)} s`;
    case 'time_before_resolution':
      return `buy ${SIDES[strategy.side]} ${number(strategy.minutes_before)} min before the end`;
    case 'condition_based': {
      const entry = strategy.entry.map((item) =>
        'any' in item ? `(${singleConditions(item).map(conditionText).join(' or ')})` : conditionText(item),
      );
      const exits = [
        ...listText('profit', strategy.take_profit ?? []),
        ...listText('stop', strategy.stop_loss ?? []),
      ];
      return [`buy ${SIDES[strategy.side]} if ${entry.join(' and ')}`, ...exits].join('; ');
    }
  }
}

function conditionText({ metric, operator, value, token }: Condition): string {
  const of = token === 'yes' ? ' of Up' : token === 'no' ? ' of Down' : '';
  return `${METRIC_NAMES[metric]}${of} ${SIGNS[operator]} ${number(value)}`;
}

function listText(name: string, list: readonly Condition[]): string[] {
  return list.length === 0 ? [] : [`${name} if ${list.map(conditionText).join(' or ')}`];
}

function offsetText(offset: number): string {
  if (offset === 0) return '';
  return `${offset > 0 ? '+' : ''}${cents(offset)}`;
}

/** The parameters of a job in a line: its rules, axes, size, latency, and other settings that differ from the usual ones. */
export function requestText(request: Request, nameOf: (param: string) => string): string {
  const { strategy, size_usd, params, x_axis, y_axis } = request;
  const axes = [x_axis, y_axis].flatMap((axis) =>
    axis ? [`${nameOf(axis.param)} ${number(axis.start)} to ${number(axis.end)}`] : [],
  );
  return [
    strategyText(strategy),
    ...(axes.length === 0 ? [] : [`vary ${axes.join(' and ')}`]),
    usd(size_usd, Number.isInteger(size_usd) ? 0 : 2),
    `${number(params.latency_ms)} ms latency`,
    ...(params.fill_mode === 'mid' ? ['filled at the mid'] : []),
    ...(params.stress ? ['under stress'] : []),
  ].join(' · ');
}
