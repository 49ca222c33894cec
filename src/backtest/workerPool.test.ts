import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import type { Task } from './task.ts';
import type { ThreadMemory } from './threadMemory.ts';
import { WorkerPool } from './workerPool.ts';

const TASK = {} as Task;
const NEVER = new AbortController().signal;

/** A pool whose threads run a few lines of JavaScript in place of a replay. */
function poolOf(
  lines: string,
  options: { threads?: number; onMemoryExceeded?: (memory: ThreadMemory) => void } = {},
) {
  const entry = join(temporaryDirectory(), 'worker.mjs');
  writeFileSync(entry, lines);
  const settings = { url: 'http://unasked', socketPath: null };
  const limits = { heapMbMax: 24, memoryMbMax: 64 };
  const pool = new WorkerPool({ threads: 1, settings, entry, ...limits, ...options });
  onTestFinished(() => pool.close());
  return pool;
}

/** What a user reads of a job that exceeds a limit. */
const tooMuch = (limitMb: number) =>
  `the job needs more than the ${limitMb} MiB of memory of a worker thread; submit a smaller request: fewer cells or markets, or a smaller size_usd`;

test('no thread starts before the first task', async () => {
  let started = 0;
  const onWorker = () => started++;
  process.on('worker', onWorker);
  onTestFinished(() => void process.off('worker', onWorker));
  const pool = poolOf('export default () => "done"', { threads: 2 });
  await nextTurn();
  expect(started).toBe(0);
  expect(await pool.run(TASK, NEVER)).toBe('done');
  expect(started).toBeGreaterThan(0);
});

test('a thread that ends by itself, twice, is told as that and nothing else', async () => {
  const pool = poolOf('export default () => process.exit(3)');
  const failed = pool.run(TASK, NEVER);
  await expect(failed).rejects.toBeInstanceOf(BacktestFailedError);
  await expect(failed).rejects.toThrow('the worker that ran the job ended, twice');
});

test('a thread that ended once is replaced, and its task completes', async () => {
  const mark = join(temporaryDirectory(), 'mark');
  const pool = poolOf(`import { existsSync, writeFileSync } from 'node:fs';
    export default () => {
      if (existsSync(${JSON.stringify(mark)})) return 'done';
      writeFileSync(${JSON.stringify(mark)}, '');
      process.exit(3);
    }`);
  expect(await pool.run(TASK, NEVER)).toBe('done');
});

test('a JavaScript heap without end is bounded, and the error names the limit and the next step', async () => {
  const exceeded: ThreadMemory[] = [];
  const lines = 'export default () => { const all = []; for (;;) all.push({ a: [1, 2, 3], b: {} }); }';
  const pool = poolOf(lines, { onMemoryExceeded: (memory) => exceeded.push(memory) });
  const failed = pool.run(TASK, NEVER);
  await expect(failed).rejects.toBeInstanceOf(BacktestFailedError);
  await expect(failed).rejects.toThrow(new BacktestFailedError(tooMuch(24)));
  expect(exceeded).toEqual([{ usedBytes: null, limitBytes: 24 * 1024 * 1024 }]);
});

test('typed arrays beyond the limit end their thread alone, once, and the pool runs on', async () => {
  const exceeded: ThreadMemory[] = [];
  const pool = poolOf(
    `export default ({ arrays, flag }) => {
      const held = Array.from({ length: arrays }, () => new Float64Array(131_072).fill(1));
      // The greedy task has no end of its own.
      while (flag === null ? held.length > 0 : Atomics.load(flag, 0) === 0);
      return 'done';
    }`,
    { threads: 2, onMemoryExceeded: (memory) => exceeded.push(memory) },
  );
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const other = pool.run({ arrays: 16, flag } as never, NEVER);
  const greedy = pool.run({ arrays: 128, flag: null } as never, NEVER);
  await expect(greedy).rejects.toBeInstanceOf(BacktestFailedError);
  await expect(greedy).rejects.toThrow(new BacktestFailedError(tooMuch(64)));
  const limitBytes = 64 * 1024 * 1024;
  expect(exceeded).toEqual([{ usedBytes: expect.any(Number), limitBytes }]);
  expect(exceeded[0]?.usedBytes).toBeGreaterThan(limitBytes);
  Atomics.store(flag, 0, 1);
  expect(await other).toBe('done');
  expect(await pool.run({ arrays: 0, flag: null } as never, NEVER)).toBe('done');
});

test('arrays that are no longer held do not count', async () => {
  const pool = poolOf(`export default () => {
    let last = 0;
    for (let i = 0; i < 256; i++) last += new Float64Array(131_072).fill(i)[0];
    return last;
  }`);
  expect(await pool.run(TASK, NEVER)).toBe((255 * 256) / 2);
});

test('aborting ends a thread that never finishes, and the next task runs', async () => {
  const pool = poolOf('export default ({ ends }) => { while (!ends); return 1; }');
  const controller = new AbortController();
  const running = pool.run(TASK, controller.signal);
  controller.abort(new Error('cancelled'));
  await expect(running).rejects.toThrow('cancelled');
  expect(await pool.run({ ends: true } as never, NEVER)).toBe(1);
});

test('an error of a task is passed on unchanged', async () => {
  const pool = poolOf("export default () => { throw new RangeError('of the task'); }");
  await expect(pool.run(TASK, NEVER)).rejects.toThrow(RangeError);
});
