import { expect, test } from 'vitest';
import { FairQueue } from './fairQueue.ts';

/** Runs tasks one at a time and records their users. */
function queueOf(places: number) {
  const turns = new FairQueue(places);
  const order: string[] = [];
  const hand = (user: string) =>
    turns.run(user, async () => {
      order.push(user);
    });
  return { order, hand };
}

test('a user with many tasks delays another by one round', async () => {
  const { order, hand } = queueOf(1);
  const many = Array.from({ length: 1_000 }, () => hand('a'));
  const few = [hand('b'), hand('b'), hand('c')];
  await Promise.all(few);
  await Promise.all(many);
  expect(order.slice(0, 8)).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a', 'a']);
  expect(order).toHaveLength(1_003);
});

test('the tasks of one user run in the order in which they were submitted', async () => {
  const turns = new FairQueue(1);
  const order: number[] = [];
  const submit = (task: number) => turns.run('a', async () => void order.push(task));
  await Promise.all([1, 2, 3, 4].map(submit));
  expect(order).toEqual([1, 2, 3, 4]);
});

test('never runs more at once than there are slots, and a failing task passes its slot on', async () => {
  const turns = new FairQueue(2);
  let [now, most] = [0, 0];
  const task = (fails: boolean) =>
    turns.run('a', async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
      if (fails) throw new Error('no');
    });
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => task(at % 3 === 0)));
  expect(most).toBe(2);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(7);
});

test('after a crowd has waited, as many tasks run at once as before', async () => {
  const turns = new FairQueue(2);
  await Promise.all(Array.from({ length: 5 }, (_, at) => turns.run(`${at % 3}`, async () => {})));
  const started: number[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const tasks = [1, 2, 3].map((task) =>
    turns.run('a', async () => {
      started.push(task);
      await ended;
    }),
  );
  expect(started).toEqual([1, 2]);
  end();
  await Promise.all(tasks);
  expect(started).toEqual([1, 2, 3]);
});

test('a slot that nobody waits for is free for the next task', async () => {
  const { order, hand } = queueOf(1);
  await hand('a');
  void hand('b');
  expect(order).toEqual(['a', 'b']);
});
