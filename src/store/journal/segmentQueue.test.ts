import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { Segment } from './segment.ts';
import { MEMORY_BYTES_MAX, SegmentQueue } from './segmentQueue.ts';

test('above the memory limit journalled segments are dropped, the newest first, up to the one being inserted', () => {
  const queue = new SegmentQueue({
    ...{ run: { path: temporaryDirectory(), runId: 'r' }, clock: new FakeClock(), log: silentLogger },
    ...{ rejectedDir: '', inserter: {}, kept: {}, onRejected: () => {} },
  } as never);
  const dropped: number[] = [];
  const push = (number: number, memoryBytes: number, isJournalled = true) => {
    const segment = {
      ...{ number, rows: 1, bytes: memoryBytes, memoryBytes, isJournalled },
      journal: () => new Promise(() => {}),
      drop: () => {
        dropped.push(number);
        segment.memoryBytes = 0;
      },
    };
    queue.push(segment as unknown as Segment);
  };
  for (const number of [1, 2]) push(number, MEMORY_BYTES_MAX);
  push(3, MEMORY_BYTES_MAX, false);
  push(4, MEMORY_BYTES_MAX);
  queue.relieve();
  expect(dropped).toEqual([4, 2]);
});
