import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { trade } from '../../../test/support/writerRig.ts';
import { silentLogger } from '../../runtime/log.ts';
import { appendRecord } from '../tables/encoders.ts';
import { BufferPool, Segment } from './segment.ts';
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

/** A queue, and journalled segments of one trade each that only their files have still. */
async function ofFiles(count: number) {
  const path = temporaryDirectory(onTestFinished);
  const clock = new FakeClock();
  const inserted: number[] = [];
  const insert = async ({ rows }: { rows: { seqs: Float64Array; rows: number } }) =>
    void inserted.push(...rows.seqs.subarray(0, rows.rows));
  const kept = { isConfirmedAtOnce: true, add: async () => {} };
  const queue = new SegmentQueue({
    ...{ run: { path, runId: 'r' }, clock, log: silentLogger, rejectedDir: join(path, 'rejected') },
    ...{ inserter: { insert, insertMissing: insert }, kept, onRejected: () => {} },
  } as never);
  const segments: Segment[] = [];
  for (let number = 1; number <= count; number++) {
    const options = { number, path: join(path, `${number}.seg`), openedAtMs: 0, pool: new BufferPool() };
    const segment = new Segment(options);
    appendRecord(segment.buffer('trades'), 'trade', trade(number), false);
    await segment.journal(0);
    await segment.file.keep();
    segment.drop();
    segments.push(segment);
  }
  const until = async (holds: () => boolean) => {
    while (!holds()) await clock.advance(1_000);
  };
  return { queue, segments, inserted, until };
}

test('rows that cannot be read back for a while are sent afterwards', async () => {
  const { queue, segments, inserted, until } = await ofFiles(1);
  const [segment] = segments as [Segment];
  const { path } = segment.file;
  await rename(path, `${path}.away`);
  await mkdir(path);
  let attempts = 0;
  const load = segment.load.bind(segment);
  segment.load = () => {
    attempts += 1;
    return load();
  };
  queue.push(segment);
  await until(() => attempts === 3);
  expect([inserted, queue.segments]).toEqual([[], [segment]]);
  await rm(path, { recursive: true });
  await rename(`${path}.away`, path);
  await until(() => queue.segments.length === 0);
  expect(inserted).toEqual([1]);
  await queue.stop();
});

test('a file that somebody removed does not block the rows after it', async () => {
  const { queue, segments, inserted, until } = await ofFiles(3);
  await rm((segments[1] as Segment).file.path);
  for (const segment of segments) queue.push(segment);
  await until(() => queue.segments.length === 0);
  expect(inserted).toEqual([1, 3]);
  await queue.stop();
});
