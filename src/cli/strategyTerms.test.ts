import { expect, test } from 'vitest';
import { InvalidInputError } from '../runtime/errors.ts';
import { curveOf, termsOf } from './strategyTerms.ts';

test('without options the terms are the documented ones', () => {
  expect(termsOf({})).toEqual({
    ...{ seed: 1, orderLatency: { kind: 'constant', ms: 50 }, queueModel: 'pessimistic', cashUsd: null },
    exposure: { perMarketUsd: null, perTickerUsd: null, totalUsd: null },
    redemptionDelayMs: 7_200_000,
  });
});

test('each option has its unit', () => {
  const terms = termsOf({
    ...{ seed: '7', cash: '100', latency: 'uniform:20:80', queue: 'optimistic' },
    ...{ maxExposure: 'market=50,ticker=200,total=500', redemptionDelay: '60' },
  });
  expect(terms).toEqual({
    ...{ seed: 7, orderLatency: { kind: 'uniform', minMs: 20, maxMs: 80 }, queueModel: 'optimistic' },
    ...{ cashUsd: 100, exposure: { perMarketUsd: 50, perTickerUsd: 200, totalUsd: 500 } },
    redemptionDelayMs: 60_000,
  });
  expect(termsOf({ maxExposure: '500' }).exposure).toMatchObject({ perMarketUsd: null, totalUsd: 500 });
  expect(termsOf({ latency: 'log_normal:40:0.5:300' }).orderLatency).toEqual({
    ...{ kind: 'log_normal', medianMs: 40, sigma: 0.5, maxMs: 300 },
  });
});

test.each([
  [{ queue: 'first' }, /^--queue first: expected /],
  [{ latency: 'uniform:20' }, /^--latency uniform:20: expected 50, uniform:20:80, /],
  [{ maxExposure: 'day=5' }, /^--max-exposure day=5: expected 500, or market=50/],
  [{ redemptionDelay: ' ' }, /^--redemption-delay: " " is not a number$/],
])('%j is refused with the forms there are', (options, message) => {
  expect(() => termsOf(options)).toThrow(InvalidInputError);
  expect(() => termsOf(options)).toThrow(message);
});

test('the points of a latency curve', () => {
  expect([curveOf(undefined), curveOf(true), curveOf('0,25')]).toEqual([[], [0, 50, 150, 300, 600], [0, 25]]);
});
