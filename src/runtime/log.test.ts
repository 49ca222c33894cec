import { pbkdf2 } from 'node:crypto';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { createLogger } from './log.ts';
import { Metrics } from './metrics.ts';

/** Work for the threads that also write files: in Node there are four of them. */
const slowHash = promisify(pbkdf2);

/** A logger that writes to a file, a reader of that file, and the logger's exit handler. */
function rig(path = join(temporaryDirectory(), 'log')) {
  const fd = openSync(path, 'w');
  const others = new Set(process.listeners('exit'));
  const log = createLogger('info', { fd });
  const own = process.listeners('exit').filter((listener) => !others.has(listener));
  onTestFinished(() => {
    for (const listener of own) process.off('exit', listener);
  });
  const messages = () =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
  const exit = () => {
    for (const listener of own) listener(0);
  };
  return { log, messages, exit };
}

test('lines are written in order, soon after they are created', async () => {
  const { log, messages } = rig();
  log.info('first');
  log.debug('too fine');
  log.info('second');
  await expect.poll(messages).toEqual(['first', 'second']);
  log.info('third: “größer”');
  await expect.poll(messages).toEqual(['first', 'second', 'third: “größer”']);
});

test('a process that exits while lines wait has written them, in order, however busy the other threads are', async () => {
  const { log, messages, exit } = rig();
  log.info('before');
  // Lines that another thread is writing may appear after lines written at the exit.
  await expect.poll(messages).toEqual(['before']);
  const busy = Array.from({ length: 8 }, () => slowHash('password', 'salt', 100_000, 64, 'sha512'));
  log.warn('unusual');
  log.error('why it ends');
  exit();
  expect(messages()).toEqual(['before', 'unusual', 'why it ends']);
  await Promise.all(busy);
});

test.skipIf(!existsSync('/dev/full'))('lines lost on a full disk are counted', async () => {
  const { log } = rig('/dev/full');
  const metrics = new Metrics();
  metrics.addProcess();
  const counted = async () =>
    /^underround_log_lost_lines_total (\d+)/m.exec(await metrics.registry.metrics())?.[1];
  expect(await counted()).toBe('0');
  for (let i = 0; i < 10; i++) log.info('x'.repeat(2 ** 20));
  expect(await counted()).toBe('3');
});
