import { expect, test } from 'vitest';
import { beginRun, newSight, noteProven, noteTrade, wasDelivered } from './senderSight.ts';

const at = (timeMs: number) => ({ eventTimeMs: timeMs, receivedTimeMs: timeMs + 5 });

test('a run delivers each trade once, and none older than its newest; a new run begins without any', () => {
  const sight = newSight();
  const note = (id: string, eventTimeMs: number) => noteTrade(sight, { id, eventTimeMs });
  expect([note('a', 10), note('b', 10), note('a', 10), note('c', 9), note('d', 11)]).toEqual([
    ...[false, false, true, true, false],
  ]);
  beginRun(sight);
  expect([note('c', 9), note('a', 10), note('d', 11)]).toEqual([false, false, false]);
});

test('a row older than the newest proven one was delivered, one of the same time may be another', () => {
  const sight = newSight();
  expect(wasDelivered(sight, at(10))).toBe(false);
  noteProven(sight, at(10));
  expect([9, 10, 11].map((timeMs) => wasDelivered(sight, at(timeMs)))).toEqual([true, false, false]);
});
