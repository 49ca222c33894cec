import { expect, test } from 'vitest';
import {
  beginRun,
  isInOwnGap,
  newSight,
  noteGap,
  noteProven,
  noteTrade,
  wasBlindAt,
  wasDelivered,
} from './senderSight.ts';

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

test('a sender saw the rows at both ends of its gap, none between them, and none before its first', () => {
  const sight = newSight();
  expect(wasBlindAt(sight, at(10))).toBe(true);
  noteProven(sight, at(10));
  const gap = {
    ...{
      gapId: 'gap_1',
      marketId: '0x1',
      startTimeMs: 20,
      startReceivedMs: 25,
      cause: 'disconnected' as const,
    },
    ...{ feed: 'polymarket.clob', knownTimeMs: 30, knownSeq: 1, repairedBy: null },
  };
  noteGap(sight, { ...gap, endTimeMs: null, endReceivedMs: null });
  const blindAt = () => [9, 10, 20, 21, 39, 40].map((timeMs) => wasBlindAt(sight, at(timeMs)));
  expect(blindAt()).toEqual([true, false, false, true, true, true]);
  noteGap(sight, { ...gap, endTimeMs: 40, endReceivedMs: 45, repairedBy: 'snapshot' });
  expect(blindAt()).toEqual([true, false, false, true, true, false]);
  expect([20, 21, 39, 40].map((timeMs) => isInOwnGap(sight, at(timeMs)))).toEqual([false, true, true, false]);
});
