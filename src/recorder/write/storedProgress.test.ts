import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemoryValues } from '../../../test/support/memoryElection.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { ReceivedPlaces, StoredProgress } from './storedProgress.ts';

/** A follower of two partitions, what it received, and what the writers noted. */
function rig() {
  const clock = new FakeClock();
  const values = new MemoryValues();
  const received = new ReceivedPlaces(clock);
  let lastSeq = 0;
  const progress = new StoredProgress({
    ...{ values, clock, log: silentLogger, metrics: new Metrics() },
    stream: { partitions: 2, lastSeq: async () => lastSeq },
    received,
  });
  const send = (partition: number, place: { streamSeq: number; timeMs: number }) => {
    lastSeq = Math.max(lastSeq, place.streamSeq);
    return { arrives: () => received.note({ ...place, partition }) };
  };
  const store = (partition: number, place: { streamSeq: number; timeMs: number }) =>
    writeCheckpoint(values, partition, { ...place, state: null });
  return { clock, progress, received, send, store };
}

test('the lag is the time between what is received and what is stored', async () => {
  const { clock, progress, send, store } = rig();
  expect(progress.lagMs()).toBe(0);
  await store(0, { streamSeq: 10, timeMs: 1_000 });
  await store(1, { streamSeq: 9, timeMs: 900 });
  send(0, { streamSeq: 10, timeMs: 1_000 }).arrives();
  send(1, { streamSeq: 12, timeMs: 4_900 }).arrives();
  await clock.advance(500);
  expect([progress.lagMs(), progress.lagsMs()]).toEqual([4_000, [0, 4_000]]);
  await store(1, { streamSeq: 12, timeMs: 4_900 });
  await clock.advance(500);
  expect(progress.lagMs()).toBe(0);
  progress.stop();
});

test('the lag grows while nothing further is received', async () => {
  const { clock, progress, send, store } = rig();
  send(0, { streamSeq: 1, timeMs: 1_000 }).arrives();
  await store(0, { streamSeq: 1, timeMs: 1_000 });
  await clock.advance(500);
  expect(progress.lagMs()).toBe(0);
  send(0, { streamSeq: 2, timeMs: 1_020 }).arrives();
  await clock.advance(200);
  send(0, { streamSeq: 3, timeMs: 1_220 }).arrives();
  await clock.advance(4_800);
  expect(progress.lagMs()).toBe(5_000);
  await store(0, { streamSeq: 2, timeMs: 1_020 });
  await progress.refresh();
  expect(progress.lagMs()).toBe(4_800);
  progress.stop();
});

test('the lag counts from the oldest waiting message, however many have arrived since', async () => {
  const { clock, progress, send, store } = rig();
  for (let streamSeq = 1; streamSeq <= 2_500; streamSeq++) {
    send(0, { streamSeq, timeMs: 1_000 }).arrives();
    await clock.advance(100);
  }
  expect(progress.lagMs()).toBe(250_000);
  // The oldest arrivals are one by now: their message 1,001 is younger, and still waits.
  await store(0, { streamSeq: 1_000, timeMs: 1_000 });
  await progress.refresh();
  expect(progress.lagMs()).toBe(250_000);
  progress.stop();
});

test('the lag of a long pause does not count messages that were stored before it', async () => {
  const { clock, progress, send, store } = rig();
  for (let streamSeq = 1; streamSeq <= 2_500; streamSeq++) {
    if (streamSeq <= 1_000) await store(0, { streamSeq, timeMs: 1_000 });
    send(0, { streamSeq, timeMs: 1_000 }).arrives();
    await clock.advance(100);
  }
  // The first message after the pause arrived 150 s ago; those before it were stored as they came.
  expect(progress.lagMs()).toBe(150_000);
  progress.stop();
});

test('a read of the checkpoints that is asked for ends after one in progress', async () => {
  const { progress, send, store } = rig();
  await store(0, { streamSeq: 1, timeMs: 1_000 });
  send(0, { streamSeq: 2, timeMs: 3_000 }).arrives();
  void progress.refresh();
  await progress.refresh();
  expect(progress.lagMs()).toBe(2_000);
  progress.stop();
});

test('before the first checkpoint the lag is the time since the first message', async () => {
  const { clock, progress, send } = rig();
  send(0, { streamSeq: 1, timeMs: 1_795_415_000_000 }).arrives();
  await clock.advance(500);
  expect(progress.lagMs()).toBe(500);
  send(0, { streamSeq: 9, timeMs: 1_795_415_003_000 }).arrives();
  await clock.advance(500);
  expect(progress.lagMs()).toBe(3_000);
  progress.stop();
});

test('waits until what the stream has is received here and stored', async () => {
  const { clock, progress, send, store } = rig();
  const first = send(0, { streamSeq: 1, timeMs: 1 });
  const second = send(1, { streamSeq: 2, timeMs: 2 });
  let isStored = false;
  const waiting = progress.stored().then(() => {
    isStored = true;
  });
  first.arrives();
  await store(0, { streamSeq: 1, timeMs: 1 });
  await clock.advance(1_000);
  expect(isStored).toBe(false);
  second.arrives();
  await clock.advance(1_000);
  expect(isStored).toBe(false);
  await store(1, { streamSeq: 2, timeMs: 2 });
  await clock.advance(1_000);
  expect(isStored).toBe(true);
  await waiting;
  progress.stop();
});
