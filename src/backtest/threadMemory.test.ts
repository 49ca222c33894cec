import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { type ThreadMemory, ThreadMemoryGuard } from './threadMemory.ts';

const MIB = 1024 * 1024;
const POLL_MS = 50;
const statistics = (heapMib: number, arraysMib: number) => ({
  used_heap_size: heapMib * MIB,
  external_memory: arraysMib * MIB,
});

/** A guard with a limit of 64 MiB over one thread, whose answers are the test's. */
function guardOf(answer: (measurement: number) => Promise<ReturnType<typeof statistics>>) {
  const clock = new FakeClock();
  const exceeded: ThreadMemory[] = [];
  let measurements = 0;
  const thread = { getHeapStatistics: () => answer(++measurements) };
  const guard = new ThreadMemoryGuard({
    ...{ threads: () => [thread], limitMb: 64, clock },
    onExceeded: (_, memory) => exceeded.push(memory),
  });
  return { clock, exceeded, guard, measured: () => measurements };
}

const NEVER = new Promise<never>(() => undefined);

test('heap and arrays count together, and a thread is reported once', async () => {
  const { clock, exceeded, guard } = guardOf(async (measurement) =>
    statistics(32, measurement === 1 ? 32 : 33),
  );
  void guard.during(() => NEVER);
  await clock.advance(POLL_MS);
  expect(exceeded).toEqual([]);
  await clock.advance(10 * POLL_MS);
  expect(exceeded).toEqual([{ usedBytes: 65 * MIB, limitBytes: 64 * MIB }]);
});

test('a thread that refuses while it starts is asked again', async () => {
  const { clock, exceeded, guard } = guardOf(async (measurement) => {
    if (measurement === 1) throw new Error('Worker instance not running');
    return statistics(0, 65);
  });
  void guard.during(() => NEVER);
  await clock.advance(2 * POLL_MS);
  expect(exceeded).toHaveLength(1);
});

test('a thread that has not answered is not asked again', async () => {
  const { clock, guard, measured } = guardOf(() => NEVER);
  void guard.during(() => NEVER);
  await clock.advance(10 * POLL_MS);
  expect(measured()).toBe(1);
});

test('threads are measured only while a task is under way', async () => {
  const { clock, guard, measured } = guardOf(async () => statistics(1, 1));
  let end = () => {};
  const tasks = [
    guard.during(async () => 'done'),
    guard.during(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    ),
  ];
  await clock.advance(POLL_MS);
  expect(measured()).toBe(1);
  end();
  expect(await Promise.all(tasks)).toEqual(['done', undefined]);
  expect(clock.waiting).toBe(0);
  void guard.during(() => NEVER);
  await clock.advance(POLL_MS);
  expect(measured()).toBe(2);
});
