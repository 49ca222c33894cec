import { expect, test } from 'vitest';
import { RecentSnapshotCounter } from './recentSnapshotCounter.ts';

const T0 = 1_795_176_000_000;

test('counts the snapshots of the last 300 seconds, and knows the newest', () => {
  const counter = new RecentSnapshotCounter();
  expect([counter.count(T0), counter.latestTimeMs]).toEqual([0, null]);
  counter.add(T0, 2);
  counter.add(T0 + 299_999);
  expect([counter.count(T0 + 299_999), counter.latestTimeMs]).toEqual([3, T0 + 299_999]);
  expect(counter.count(T0 + 300_000)).toBe(1);
  counter.add(T0 + 200_000);
  expect([counter.count(T0 + 300_000), counter.latestTimeMs]).toEqual([2, T0 + 299_999]);
});

test('a second takes the place of the one 300 seconds before it, and a late snapshot does not', () => {
  const counter = new RecentSnapshotCounter();
  counter.add(T0 + 300_000);
  counter.add(T0, 5);
  expect([counter.count(T0 + 300_000), counter.latestTimeMs]).toEqual([1, T0 + 300_000]);
  counter.add(T0 + 600_000, 3);
  expect(counter.count(T0 + 600_000)).toBe(3);
});
