import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { trade } from '../../../test/support/writerRig.ts';
import { appendRecord } from '../tables/encoders.ts';
import { BufferPool, Segment } from './segment.ts';

test('rows that only the file has still count with their size, and are read back', async () => {
  const path = join(temporaryDirectory(onTestFinished), '1.seg');
  const segment = new Segment({ number: 1, path, openedAtMs: 0, pool: new BufferPool() });
  for (const seq of [1, 2, 3]) appendRecord(segment.buffer('trades'), 'trade', trade(seq), false);
  const { bytes } = segment;
  expect(bytes).toBeGreaterThan(100);
  await segment.journal(0);
  segment.drop();
  expect([segment.rows, segment.bytes, segment.memoryBytes]).toEqual([3, bytes, 0]);
  const loaded = (await segment.load()).get('trades');
  expect([loaded?.rows, loaded?.length]).toEqual([3, bytes]);
  await segment.retire();
});
