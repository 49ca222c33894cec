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

test('lines are written in order, soon after their event loop turn', async () => {
  const { log, messages } = rig();
  log.info('first');
  log.debug('too fine');
  log.info('second');
  await new Promise(setImmediate);
  log.info('third');
  while (messages().length < 3) await new Promise(setImmediate);
  expect(messages()).toEqual(['first', 'second', 'third']);
});

test('a process that exits within an event loop turn loses none of its lines', async () => {
  const { log, messages, exit } = rig();
  log.info('before');
  // Lines that another thread is writing may appear after lines written at the exit.
  while (messages().length < 1) await new Promise(setImmediate);
  log.error('why it ends');
  exit();
  expect(messages()).toEqual(['before', 'why it ends']);
});
