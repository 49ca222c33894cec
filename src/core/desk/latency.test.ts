import { expect, test } from 'vitest';
import { Random } from '../random.ts';
import { delayOf } from './latency.ts';
import type { LatencyModel } from './order.ts';

function drawn(model: LatencyModel, seed = 'latency'): number[] {
  const random = new Random(seed);
  return Array.from({ length: 4_000 }, () => delayOf(model, random)).sort((a, b) => a - b);
}

const medianOf = (sorted: readonly number[]) => sorted[sorted.length / 2] as number;

test('a constant delay draws nothing', () => {
  expect(delayOf({ kind: 'constant', ms: 70 })).toBe(70);
});

test('a uniform delay has every whole millisecond from the first to the last', () => {
  const all = drawn({ kind: 'uniform', minMs: 40, maxMs: 44 });
  expect([...new Set(all)]).toEqual([40, 41, 42, 43, 44]);
});

test('a log-normal delay has its median and its spread, up to the largest', () => {
  const all = drawn({ kind: 'log_normal', medianMs: 100, sigma: 0.5, maxMs: 400 });
  expect(Math.abs(medianOf(all) - 100)).toBeLessThan(4);
  // One standard deviation of the logarithm.
  expect(Math.abs((all[Math.floor(all.length * 0.841)] as number) - 165)).toBeLessThan(8);
  expect(all.at(-1)).toBe(400);
  expect(all.every((ms) => Number.isInteger(ms) && ms > 0)).toBe(true);
});

test('samples are drawn equally often', () => {
  const all = drawn({ kind: 'samples', ms: [30, 80, 81] });
  for (const ms of [30, 80, 81]) {
    expect(Math.abs(all.filter((one) => one === ms).length / all.length - 1 / 3)).toBeLessThan(0.03);
  }
});

test('the same seed gives the same delays, another one others', () => {
  const model = { kind: 'log_normal', medianMs: 100, sigma: 1, maxMs: 5_000 } as const;
  expect(drawn(model)).toEqual(drawn(model));
  expect(drawn(model, 'other')).not.toEqual(drawn(model));
});

test('a drawn delay needs random numbers', () => {
  expect(() => delayOf({ kind: 'uniform', minMs: 1, maxMs: 2 })).toThrow(
    new RangeError('no random numbers for a uniform latency'),
  );
});
