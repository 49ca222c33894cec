import { expect, test } from 'vitest';
import { EquityCurve } from './equityCurve.ts';

const SAMPLES_MAX = 10_000;
const INTERVAL_MS = 10_000;

const pointAt = (timeMs: number) => ({ timeMs, cash: 0, reserved: 0, locked: 0, marked: 0 });

/** Adds a sample whenever one is due, until `count` are added. */
function sampled(count: number): EquityCurve {
  const curve = new EquityCurve();
  for (let timeMs = 0, added = 0; added < count; timeMs += INTERVAL_MS) {
    if (timeMs < curve.nextMs) continue;
    curve.add(pointAt(timeMs), false);
    added++;
  }
  return curve;
}

test('half of the samples stay when there are too many, and the interval doubles', () => {
  expect(sampled(SAMPLES_MAX).points()).toHaveLength(SAMPLES_MAX);
  const thinned = sampled(SAMPLES_MAX + 1);
  expect(thinned.points()).toHaveLength(SAMPLES_MAX / 2 + 1);
  expect(thinned.nextMs).toBe((SAMPLES_MAX + 1) * INTERVAL_MS);
});

test('no run keeps more samples than the limit, however often they were thinned out', () => {
  for (const count of [15_000, 15_001, 20_001, 25_000]) {
    expect(sampled(count).points().length, `${count} samples`).toBeLessThanOrEqual(SAMPLES_MAX);
  }
});

test('points of changes of money are never thinned out', () => {
  const curve = new EquityCurve();
  for (let at = 0; at < 2 * SAMPLES_MAX; at++) curve.add(pointAt(at), at % 2 === 1);
  curve.add(pointAt(2 * SAMPLES_MAX), false);
  expect(curve.points().filter(({ timeMs }) => timeMs % 2 === 1)).toHaveLength(SAMPLES_MAX);
});

test('after thinning out, a sample keeps the new interval from the change before it', () => {
  const curve = new EquityCurve();
  for (let at = 0; at <= SAMPLES_MAX; at++) {
    curve.add(pointAt(at * INTERVAL_MS), false);
    if (at === 4) curve.add(pointAt(at * INTERVAL_MS + 5_000), true);
  }
  const times = curve.points().map(({ timeMs }) => timeMs / 1_000);
  expect(times.slice(0, 6)).toEqual([0, 20, 40, 45, 70, 90]);
});

test('after a time in which nothing was held, the next sample is one current interval later', () => {
  const curve = sampled(SAMPLES_MAX + 1);
  curve.skip(7);
  expect(curve.nextMs).toBe(7 + 2 * INTERVAL_MS);
});
