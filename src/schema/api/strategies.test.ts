import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { STRATEGY_TYPES } from '../strategy.ts';
import { NestedProblems, readBody, requiredMember } from './body.ts';
import { jsonNumber, jsonObject } from './bodyParts.ts';
import type { Problem } from './fields.ts';
import { DEFAULT_PARAMS, paramsType, strategyShape, strategyType } from './strategies.ts';
import { enumeration, Invalid } from './types.ts';

interface Case {
  input: unknown;
  value?: unknown;
  problems?: Problem[];
}

const cases = JSON.parse(readFileSync(new URL('./strategies.cases.json', import.meta.url), 'utf8')) as Case[];
const body = { strategy: requiredMember(strategyType, 'What is traded') };

describe('strategies are read as Pydantic 2.13.4 reads them', () => {
  test.each(cases)('%j', ({ input, value, problems }) => {
    const { values, problems: found } = readBody(body, { strategy: input });
    if (problems === undefined) {
      expect(found).toEqual([]);
      expect(values.strategy).toEqual(value);
      expect(strategyShape.parse(values.strategy)).toEqual(value);
    } else {
      expect(found).toEqual(
        problems.map((problem) => ({ ...problem, loc: ['body', 'strategy', ...problem.loc] })),
      );
    }
  });

  test('the stored answers contain every type accepted and refused', () => {
    for (const type of STRATEGY_TYPES) {
      const own = cases.filter(({ input }) => (input as { type?: string } | null)?.type === type);
      expect(own.some(({ value }) => value !== undefined)).toBe(true);
      expect(own.some(({ problems }) => problems !== undefined)).toBe(true);
    }
  });
});

test('a strategy may not contain the size', () => {
  const strategy = { type: 'time_before_resolution', minutes_before: 1, side: 'buy_no', size_usd: 10 };
  expect(readBody(body, { strategy }).problems).toEqual([
    {
      type: 'extra_forbidden',
      loc: ['body', 'strategy', 'time_before_resolution', 'size_usd'],
      msg: 'Extra inputs are not permitted',
      input: 10,
    },
  ]);
});

describe('an execution', () => {
  const taken = { type: 'time_before_resolution', minutes_before: 1, side: 'buy_no' };
  const read = (execution: unknown) => readBody(body, { strategy: { ...taken, execution } });

  test('is absent unless it is given, and has defaults', () => {
    expect(readBody(body, { strategy: taken }).values.strategy).toEqual(taken);
    const execution = { entry: 'maker', offset: 0, timeout_s: 30, queue_model: 'pessimistic' };
    const { values, problems } = read({ entry: 'maker' });
    expect([values.strategy, problems]).toEqual([{ ...taken, execution }, []]);
    expect(strategyShape.parse(values.strategy)).toEqual({ ...taken, execution });
  });

  test.each([
    [null, 'model_attributes_type', []],
    [{}, 'missing', ['entry']],
    [{ entry: 'taker' }, 'literal_error', ['entry']],
    [{ entry: 'maker', offset: 0.51 }, 'less_than_equal', ['offset']],
    [{ entry: 'maker', timeout_s: 0 }, 'greater_than', ['timeout_s']],
    [{ entry: 'maker', queue_model: 'fair' }, 'literal_error', ['queue_model']],
    [{ entry: 'maker', size: 5 }, 'extra_forbidden', ['size']],
  ])('%j is refused: %s', (execution, type, place) => {
    const loc = ['body', 'strategy', 'time_before_resolution', 'execution', ...place];
    expect(read(execution).problems).toMatchObject([{ type, loc }]);
  });
});

describe('replay parameters', () => {
  test('have defaults', () => {
    expect(paramsType.parse({})).toEqual(DEFAULT_PARAMS);
    expect(
      paramsType.parse({ fill_mode: 'mid', latency_ms: 0, max_fill_price: 1, max_slippage: null }),
    ).toEqual({
      fill_mode: 'mid',
      latency_ms: 0,
      max_fill_price: 1,
      max_slippage: null,
    });
  });

  test.each([
    [{ fill_mode: 'best' }, 'literal_error'],
    [{ latency_ms: -1 }, 'greater_than_equal'],
    [{ max_fill_price: 0 }, 'greater_than'],
    [{ max_slippage: -0.01 }, 'greater_than_equal'],
    [{ max_slippage: 1.01 }, 'less_than_equal'],
    [{ slippage: 1 }, 'extra_forbidden'],
  ])('%j is refused: %s', (params, type) => {
    const read = paramsType.parse(params);
    expect(read instanceof NestedProblems && read.problems.map((problem) => problem.type)).toEqual([type]);
  });
});

test('a refusal of the whole request inside an object is reported after all problems', () => {
  const kind = enumeration('event_type', ['5m']);
  const inner = jsonObject({
    event_type: requiredMember({ schema: {}, parse: (value) => kind.parse(String(value)) }, ''),
    size: requiredMember(jsonNumber(), ''),
  });
  const members = { universe: requiredMember(inner, '') };
  const read = readBody(members, { universe: { event_type: '9m', size: 1 } });
  expect(read).toMatchObject({ problems: [], refusal: 'event_type must be one of 5m' });
  const both = readBody(members, { universe: { event_type: '9m', size: 'x' } });
  expect(both.problems.map((problem) => problem.loc)).toEqual([['body', 'universe', 'size']]);
});

test('an empty text is not a number', () => {
  expect(jsonNumber().parse(null)).toBeInstanceOf(Invalid);
  expect(jsonNumber().parse([])).toBeInstanceOf(Invalid);
});
