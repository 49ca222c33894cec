import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { createLogger } from './log.ts';

/** A logger that writes to a file, a reader of that file, and the logger's exit handler. */
function rig() {
  const path = join(temporaryDirectory(), 'log');
  const fd = openSync(path, 'w');
  const others = new Set(process.listeners('exit'));
  const log = createLogger('info', { fd });
  const own = process.listeners('exit').filter((listener) => !others.has(listener));
  onTestFinished(() => {
    for (const listener of own) process.off('exit', listener);
    closeSync(fd);
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

test('a process that exits while lines wait loses none of them', async () => {
  const { log, messages, exit } = rig();
  log.info('before');
  // Lines that another thread is writing may appear after lines written at the exit.
  await expect.poll(messages).toEqual(['before']);
  log.error('why it ends');
  exit();
  expect(messages()).toEqual(['before', 'why it ends']);
});
