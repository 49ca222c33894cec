import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { sleep } from '../runtime/clock.ts';
import { SerialQueue } from './serialQueue.ts';

/** A queue whose items take a second each, and when each began and ended. */
function rig(waitingMax = 2) {
  const clock = new FakeClock();
  const log: string[] = [];
  const queue = new SerialQueue<string>({
    waitingMax,
    work: async (item) => {
      log.push(`${item} ${clock.monotonic()}`);
      await sleep(clock, 1_000);
      log.push(`/${item} ${clock.monotonic()}`);
    },
  });
  return { clock, log, queue };
}

test('items are processed one at a time, also those that arrive meanwhile', async () => {
  const { clock, log, queue } = rig();
  queue.add('a', 'a1');
  await clock.advance(500);
  queue.add('b', 'b1');
  await clock.advance(2_000);
  expect(log).toEqual(['a1 0', '/a1 1000', 'b1 1000', '/b1 2000']);
  queue.add('c', 'c1');
  await clock.advance(1_000);
  expect(log.slice(4)).toEqual(['c1 2500', '/c1 3500']);
});

test('a waiting item is replaced by a newer one with its key; beyond the limit a new key is refused', async () => {
  const { clock, log, queue } = rig();
  const added = ['a1', 'b1', 'c1', 'd1', 'c2'].map((item) => queue.add(item.slice(0, 1), item));
  expect(added).toEqual([true, true, true, false, true]);
  await clock.advance(5_000);
  expect(log.filter((line) => !line.startsWith('/'))).toEqual(['a1 0', 'b1 1000', 'c2 2000']);
});

test('cleared items are not processed', async () => {
  const { clock, log, queue } = rig();
  queue.add('a', 'a1');
  queue.add('b', 'b1');
  queue.clear();
  await clock.advance(5_000);
  expect(log).toEqual(['a1 0', '/a1 1000']);
});
