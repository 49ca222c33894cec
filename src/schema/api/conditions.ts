/** Conditions as request bodies contain them and answers repeat them. */
import { z } from 'zod';
import {
  CONDITION_METRICS,
  CONDITION_TOKENS,
  type Condition,
  type ConditionBased,
  type EntryCondition,
  OPERATORS,
  WINDOW_SECONDS,
} from '../strategy.ts';
import {
  isObject,
  type JsonType,
  jsonInteger,
  jsonLiteral,
  NestedProblems,
  omittedMember,
  requiredMember,
} from './body.ts';
import { jsonList, jsonNumber, jsonObject } from './bodyParts.ts';
import { type Problem, problemOf } from './fields.ts';
import { Invalid, integer, literal } from './types.ts';

const CONDITIONS_MAX = 20;
const GROUP_CONDITIONS_MAX = 10;
/** Each needs memory for every row of a market. */
const WINDOWS_MAX = 8;
const WINDOWS = Object.values(WINDOW_SECONDS);
const WINDOW_RANGE = {
  ge: Math.min(...WINDOWS.map(({ min }) => min)),
  le: Math.max(...WINDOWS.map(({ max }) => max)),
};

const members = jsonObject({
  metric: requiredMember(jsonLiteral(literal(CONDITION_METRICS)), 'The compared value'),
  operator: requiredMember(jsonLiteral(literal(OPERATORS)), 'The comparison'),
  value: requiredMember(jsonNumber({ ge: -1e9, le: 1e9 }), 'The value to compare with'),
  token: omittedMember(
    jsonLiteral(literal(CONDITION_TOKENS)),
    'Whose price, spread, imbalance, probability or move; `own`, the token that the strategy buys, when absent',
  ),
  window_s: omittedMember(
    jsonInteger(WINDOW_RANGE),
    'Seconds of a volatility; required for `underlying_volatility` (60 or more) and `token_volatility`, refused for others',
  ),
});

const condition: JsonType<Condition> = {
  schema: members.schema,
  parse(value) {
    const parsed = members.parse(value);
    if (parsed instanceof Invalid || parsed instanceof NestedProblems) return parsed;
    const problem = windowProblem(parsed as Condition, value);
    return problem === null ? (parsed as Condition) : new NestedProblems([problem]);
  },
};

/** A window where the metric has none, none where it needs one, or one that is too short for it. */
function windowProblem({ metric, window_s: seconds }: Condition, input: unknown): Problem | null {
  const limits = WINDOW_SECONDS[metric];
  const loc = ['window_s'];
  if (limits === undefined) {
    if (seconds === undefined) return null;
    return { type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted', input: seconds };
  }
  if (seconds === undefined) return { type: 'missing', loc, msg: 'Field required', input };
  const checked = integer({ ge: limits.min, le: limits.max }).parse(String(seconds));
  return checked instanceof Invalid ? problemOf(checked, loc, seconds) : null;
}

const group = jsonObject({
  any: requiredMember(
    jsonList(condition, { minLength: 1, maxLength: GROUP_CONDITIONS_MAX }),
    'True when any of them is',
  ),
});

/** A condition, or a group: the member `any` decides. */
const entryItem: JsonType<EntryCondition> = {
  schema: { anyOf: [condition.schema, group.schema] },
  parse: (value) => (isObject(value) && Object.hasOwn(value, 'any') ? group : condition).parse(value),
};

export const entryType = jsonList(entryItem, { minLength: 1, maxLength: CONDITIONS_MAX });
export const exitType = jsonList(condition, { maxLength: CONDITIONS_MAX });

/** @returns Null if its volatilities have few enough windows. */
export function windowsProblem({ entry, take_profit, stop_loss }: ConditionBased): Problem | null {
  const singles = entry.flatMap((item) => ('any' in item ? item.any : [item]));
  const all = [...singles, ...take_profit, ...stop_loss];
  const windows = new Set(
    all.flatMap(({ metric, token = 'own', window_s }) =>
      window_s === undefined ? [] : [`${metric} ${token} ${window_s}`],
    ),
  );
  if (windows.size <= WINDOWS_MAX) return null;
  return {
    ...{ type: 'value_error', loc: ['entry'], input: windows.size },
    msg: `Value error, the conditions may read at most ${WINDOWS_MAX} different volatilities`,
    ctx: { error: {} },
  };
}

export const conditionShape = z.strictObject({
  metric: z.enum(CONDITION_METRICS),
  operator: z.enum(OPERATORS),
  value: z.number(),
  token: z.enum(CONDITION_TOKENS).optional(),
  window_s: z.int().optional(),
});

export const entryShape = z.array(
  z.union([conditionShape, z.strictObject({ any: z.array(conditionShape) })]),
);
