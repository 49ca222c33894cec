import { describe, expect, it, test } from 'vitest';
import { RUN_TERMS } from '../../../test/support/runs.ts';
import { TAPE_MARKET } from '../../../test/support/tapes.ts';
import { defineStrategy } from './defineStrategy.ts';
import type { StrategyDefinition } from './definition.ts';
import { startRun } from './startRun.ts';

const GOOD = {
  name: 'test',
  params: {
    edge: { default: 0.02, min: 0, max: 1 },
    lots: { default: 3, min: 1, whole: true },
    isEager: { default: false },
    side: { default: 'buy_yes', choices: ['buy_yes', 'buy_no'] },
  },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'] },
  onEvent: () => {},
} as const;

describe('a definition', () => {
  it('is returned frozen, with the types of its parameters', () => {
    const strategy = defineStrategy({
      ...GOOD,
      onEvent: (_, { params }) => {
        const [edge, eager, side]: [number, boolean, string] = [params.edge, params.isEager, params.side];
        expect([edge, eager, side]).toBeDefined();
      },
    });
    expect(Object.isFrozen(strategy)).toBe(true);
    expect(strategy.name).toBe('test');
  });

  test.each<[string, unknown, string]>([
    ['no object', null, 'a strategy is an object: { name, params, inputs, onEvent }'],
    ['an unknown field', { ...GOOD, onTick: 1 }, 'strategy: unknown field "onTick"'],
    [
      'a name with a space',
      { ...GOOD, name: 'a b' },
      'name: expected 1 to 64 letters, digits, "_", "." or "-"',
    ],
    ['no params', { ...GOOD, params: undefined }, 'params: expected an object of declarations, {} for none'],
    [
      'a parameter without a default',
      { ...GOOD, params: { a: {} } },
      'params.a: the default is a number, a text or true or false',
    ],
    [
      'an odd parameter name',
      { ...GOOD, params: { 'a-b': { default: 1 } } },
      'params.a-b: a name is letters, digits and _, and starts in lower case',
    ],
    [
      'a default out of range',
      { ...GOOD, params: { a: { default: 2, max: 1 } } },
      'params.a: expected a number of at most 1, got 2',
    ],
    [
      'a bound above the other',
      { ...GOOD, params: { a: { default: 2, min: 3, max: 1 } } },
      'params.a: min is above max',
    ],
    [
      'a declaration that is none',
      { ...GOOD, params: { a: 1 } },
      'params.a: expected an object with a default',
    ],
    [
      'an endless bound',
      { ...GOOD, params: { a: { default: 2, max: Number.POSITIVE_INFINITY } } },
      'params.a.max: expected a finite number',
    ],
    [
      'a bound that is text',
      { ...GOOD, params: { a: { default: 2, min: '1' } } },
      'params.a.min: expected a finite number',
    ],
    [
      'an odd wholeness',
      { ...GOOD, params: { a: { default: 2, whole: 'yes' } } },
      'params.a.whole: expected true or false',
    ],
    [
      'a choice without choices',
      { ...GOOD, params: { a: { default: 'x' } } },
      'params.a.choices: expected a list of texts',
    ],
    ['no inputs', { ...GOOD, inputs: undefined }, 'inputs: expected an object: { tickers, eventTypes }'],
    [
      'an unknown ticker',
      { ...GOOD, inputs: { ...GOOD.inputs, tickers: ['DOG'] } },
      'inputs.tickers: expected one or more of BTC, ETH, SOL, XRP, DOGE, BNB, HYPE, ZEC, each once',
    ],
    [
      'an event type twice',
      { ...GOOD, inputs: { ...GOOD.inputs, eventTypes: ['5m', '5m'] } },
      'inputs.eventTypes: expected one or more of 5m, 15m, 1h, 4h, daily_up_down, each once',
    ],
    [
      'a venue of no depth',
      { ...GOOD, inputs: { ...GOOD.inputs, perpDepth: ['x'] } },
      'inputs.perpDepth: expected a list of bybit, binance, okx, hyperliquid, each once',
    ],
    [
      'a text for a flag',
      { ...GOOD, inputs: { ...GOOD.inputs, model: 'yes' } },
      'inputs.model: expected true or false',
    ],
    [
      'a fast clock',
      { ...GOOD, inputs: { ...GOOD.inputs, clockMs: 1 } },
      'inputs.clockMs: expected a whole number of at least 10',
    ],
    ['a state that is no function', { ...GOOD, state: {} }, 'state: expected a function'],
    ['no handler', { ...GOOD, onEvent: undefined }, 'onEvent: expected a function'],
  ])('with %s is refused', (_, definition, message) => {
    const refused = expect(() => defineStrategy(definition as never));
    refused.toThrow(new RangeError(message));
    const request = { definition: definition as StrategyDefinition, params: {}, terms: RUN_TERMS };
    expect(() => startRun(request)).toThrow(new RangeError(message));
  });
});

test.each<[string, object]>([
  ['a name of 64 characters', { name: 'n'.repeat(64) }],
  ['a parameter name of 64 characters', { params: { ['p'.repeat(64)]: { default: 1 } } }],
  ['defaults at their bounds', { params: { a: { default: 1, min: 1 }, b: { default: 2, min: 2, max: 2 } } }],
  ['a clock of 10 ms', { inputs: { ...GOOD.inputs, clockMs: 10 } }],
  ['no prices and no depth', { inputs: { ...GOOD.inputs, priceSources: [], perpDepth: [] } }],
])('a definition with %s is accepted', (_, more) => {
  expect(defineStrategy({ ...GOOD, ...more } as never)).toEqual({ ...GOOD, ...more });
});

test.each<[string, object, string]>([
  [
    'a name that begins with a dot',
    { name: '.hidden' },
    'name: expected 1 to 64 letters, digits, "_", "." or "-"',
  ],
  [
    'a name of 65 characters',
    { name: 'n'.repeat(65) },
    'name: expected 1 to 64 letters, digits, "_", "." or "-"',
  ],
  [
    'a parameter name of 65 characters',
    { params: { ['p'.repeat(65)]: { default: 1 } } },
    `params.${'p'.repeat(65)}: a name is letters, digits and _, and starts in lower case`,
  ],
  [
    'no ticker',
    { inputs: { ...GOOD.inputs, tickers: [] } },
    'inputs.tickers: expected one or more of BTC, ETH, SOL, XRP, DOGE, BNB, HYPE, ZEC, each once',
  ],
  [
    'a clock of 10.5 ms',
    { inputs: { ...GOOD.inputs, clockMs: 10.5 } },
    'inputs.clockMs: expected a whole number of at least 10',
  ],
  [
    'a default that is not among its choices',
    { params: { a: { default: 'x', choices: ['y'] } } },
    'params.a: expected one of y, got "x"',
  ],
  [
    'an infinite default',
    { params: { a: { default: Number.POSITIVE_INFINITY } } },
    'params.a: expected a number, got null',
  ],
  [
    'a choice that is no text',
    { params: { a: { default: 'x', choices: ['x', 5] } } },
    'params.a.choices: expected a list of texts',
  ],
  ['a list of parameters', { params: [] }, 'params: expected an object of declarations, {} for none'],
  [
    'an empty list of choices',
    { params: { a: { default: 'x', choices: [] } } },
    'params.a.choices: expected a list of texts',
  ],
])('a definition with %s is refused', (_, more, message) => {
  expect(() => defineStrategy({ ...GOOD, ...more } as never)).toThrow(new RangeError(message));
});

describe('parameters of a run', () => {
  const strategy = defineStrategy(GOOD) as unknown as StrategyDefinition;

  test('are the given ones, and defaults for the others', () => {
    let seen: unknown = null;
    const definition = {
      ...strategy,
      onEvent: (_: unknown, { params }: { params: unknown }) => (seen = params),
    };
    const runner = startRun({ definition, params: { lots: 5, side: 'buy_no' }, terms: RUN_TERMS });
    runner.push({ kind: 'market', seq: 1, timeMs: 1, market: TAPE_MARKET });
    expect(seen).toEqual({ edge: 0.02, lots: 5, isEager: false, side: 'buy_no' });
    expect(Object.isFrozen(seen)).toBe(true);
  });

  test.each([
    { edge: 0, lots: 1 },
    { edge: 1, lots: 1_000_000, isEager: true },
    { edge: 0.5, isEager: false, side: 'buy_yes' },
  ])('may be at their bounds, 0 or false: %o', (params) => {
    let seen: unknown = null;
    const onEvent = (_: unknown, context: { params: unknown }) => (seen = context.params);
    const declared = { ...GOOD.params, isEager: { default: true }, lots: { default: 3, min: 1 } };
    const definition = { ...strategy, params: declared, onEvent } as StrategyDefinition;
    startRun({ definition, params, terms: RUN_TERMS }).push({
      ...({ kind: 'market', seq: 1, timeMs: 1, market: TAPE_MARKET } as const),
    });
    expect(seen).toMatchObject(params);
  });

  test.each([
    [{ edge: -0.01 }, 'parameter edge: expected a number from 0 to 1, got -0.01'],
    [{ lots: 0 }, 'parameter lots: expected a whole number of at least 1, got 0'],
    [{ nope: 1 }, 'unknown parameter "nope": the strategy has edge, lots, isEager, side'],
    [{ edge: 2 }, 'parameter edge: expected a number from 0 to 1, got 2'],
    [{ edge: Number.NaN }, 'parameter edge: expected a number from 0 to 1, got null'],
    [{ lots: 1.5 }, 'parameter lots: expected a whole number of at least 1, got 1.5'],
    [{ isEager: 'yes' }, 'parameter isEager: expected true or false, got "yes"'],
    [{ side: 'both' }, 'parameter side: expected one of buy_yes, buy_no, got "both"'],
  ])('%o are refused', (params, message) => {
    expect(() => startRun({ definition: strategy, params, terms: RUN_TERMS })).toThrow(
      new RangeError(message),
    );
  });
});

test.each([
  [{ seed: -1 }, 'seed: expected a whole number from 0'],
  [{ seed: 0.5 }, 'seed: expected a whole number from 0'],
  [
    { orderLatency: { kind: 'constant', ms: -1 } },
    'orderLatency: not a latency: {"kind":"constant","ms":-1}',
  ],
  [
    { orderLatency: { kind: 'samples', ms: [5, -1] } },
    'orderLatency: not a latency: {"kind":"samples","ms":[5,-1]}',
  ],
  [
    { orderLatency: { kind: 'log_normal', medianMs: 0, sigma: 1, maxMs: 9 } },
    'orderLatency: not a latency: {"kind":"log_normal","medianMs":0,"sigma":1,"maxMs":9}',
  ],
  [
    { orderLatency: { kind: 'log_normal', medianMs: 1, sigma: -1, maxMs: 9 } },
    'orderLatency: not a latency: {"kind":"log_normal","medianMs":1,"sigma":-1,"maxMs":9}',
  ],
  [
    { exposure: { ...RUN_TERMS.exposure, perMarketUsd: 0 } },
    'exposure.perMarketUsd: expected USD above 0, or null',
  ],
  [
    { exposure: { ...RUN_TERMS.exposure, perTickerUsd: 0 } },
    'exposure.perTickerUsd: expected USD above 0, or null',
  ],
  [{ redemptionDelayMs: -1 }, 'redemptionDelayMs: expected milliseconds from 0'],
  [
    { orderLatency: { kind: 'uniform', minMs: 5, maxMs: 4 } },
    'orderLatency: not a latency: {"kind":"uniform","minMs":5,"maxMs":4}',
  ],
  [{ orderLatency: { kind: 'samples', ms: [] } }, 'orderLatency: not a latency: {"kind":"samples","ms":[]}'],
  [{ queueModel: 'lucky' }, 'queueModel: expected one of optimistic, proportional, pessimistic'],
  [
    { orderLatency: { kind: 'log_normal', medianMs: 1, sigma: 1, maxMs: -1 } },
    'orderLatency: not a latency: {"kind":"log_normal","medianMs":1,"sigma":1,"maxMs":-1}',
  ],
  [{ cashUsd: 0 }, 'cashUsd: expected USD above 0, or null'],
  [{ cashUsd: Number.POSITIVE_INFINITY }, 'cashUsd: expected USD above 0, or null'],
  [{ redemptionDelayMs: Number.POSITIVE_INFINITY }, 'redemptionDelayMs: expected milliseconds from 0'],
  [{ exposure: { ...RUN_TERMS.exposure, totalUsd: -1 } }, 'exposure.totalUsd: expected USD above 0, or null'],
  [{ redemptionDelayMs: Number.NaN }, 'redemptionDelayMs: expected milliseconds from 0'],
])('the terms %o are refused', (terms, message) => {
  const definition = defineStrategy(GOOD) as unknown as StrategyDefinition;
  const request = { definition, params: {}, terms: { ...RUN_TERMS, ...terms } as never };
  expect(() => startRun(request)).toThrow(new RangeError(message));
});

test.each([
  { seed: 0, cashUsd: 0.01, redemptionDelayMs: 0 },
  { orderLatency: { kind: 'constant', ms: 0 } },
  { orderLatency: { kind: 'uniform', minMs: 5, maxMs: 5 } },
  { orderLatency: { kind: 'log_normal', medianMs: 1, sigma: 0, maxMs: 0 } },
  { orderLatency: { kind: 'samples', ms: [0] } },
])('the terms %o are accepted', (terms) => {
  const definition = defineStrategy(GOOD) as unknown as StrategyDefinition;
  const request = { definition, params: {}, terms: { ...RUN_TERMS, ...terms } as never };
  expect(startRun(request).result().orders).toEqual([]);
});
