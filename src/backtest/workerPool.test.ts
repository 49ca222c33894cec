import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { BacktestFailedError } from '../runtime/errors.ts';
import type { Task } from './task.ts';
import { WorkerPool } from './workerPool.ts';

const TASK = {} as Task;
const NEVER = new AbortController().signal;

/** A pool whose threads run a few lines of JavaScript instead of a replay. */
function poolOf(lines: string): WorkerPool {
  const entry = join(temporaryDirectory(), 'worker.mjs');
  writeFileSync(entry, lines);
  const settings = { url: 'http://unasked', socketPath: null };
  const pool = new WorkerPool({ threads: 1, settings, entry, heapMbMax: 24 });
  onTestFinished(() => pool.close());
  return pool;
}

test('a thread that ends on its own twice is reported with a fixed text', async () => {
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

test('unbounded memory use is limited and reported', async () => {
  const pool = poolOf('export default () => { const all = []; for (;;) all.push({ a: [1, 2, 3], b: {} }); }');
  await expect(pool.run(TASK, NEVER)).rejects.toThrow('the job needs more memory than one may take');
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
