import { openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { untilOutputFails, watchOutput, writeWholly } from './standardOutput.ts';

const before = process.listeners('beforeExit');

afterEach(() => {
  for (const listener of process.listeners('beforeExit'))
    if (!before.includes(listener)) process.off('beforeExit', listener);
  process.exitCode = undefined;
  vi.restoreAllMocks();
});

/** What a command prints on standard error, and its status, after each of these writes failed. */
function endOf(failures: readonly { code?: string }[], status = 0) {
  const printed: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void printed.push(line));
  const out = new Writable();
  watchOutput(out);
  for (const failure of failures) out.emit('error', Object.assign(new Error('failed'), failure));
  process.exitCode = status;
  // Before these listeners there may be some of the test runner.
  const own = process.listeners('beforeExit').filter((listener) => !before.includes(listener));
  for (const listener of own) listener(status);
  return { printed, status: process.exitCode };
}

test('a command whose output failed ends with status 1 and one line', () => {
  const printed = ['underround: standard output cannot be written: its disk is full'];
  expect(endOf([{ code: 'ENOSPC' }, { code: 'EIO' }])).toEqual({ printed, status: 1 });
});

test.each([
  ['without a failure', [], 0],
  ['whose reader closed the pipe', [{ code: 'EPIPE' }], 0],
  ['that failed anyway', [{ code: 'ENOSPC' }], 1],
])('a command %s keeps its status', (_which, failures, status) => {
  expect(endOf(failures, status)).toEqual({ printed: [], status });
});

test.each(['EPIPE', 'ENOSPC'])('a command that runs until it is stopped ends after %s', (code) => {
  const out = new Writable();
  const signal = untilOutputFails(new AbortController().signal, out);
  expect(signal.aborted).toBe(false);
  out.emit('error', Object.assign(new Error('failed'), { code }));
  expect([signal.aborted, signal.reason.code]).toEqual([true, code]);
});

/** A stream to a file, of which each write of the system accepts some bytes only. */
function fileOutput(roomBytes: number) {
  const path = join(temporaryDirectory(), 'out');
  const fd = openSync(path, 'w');
  const out = new Writable();
  let room = roomBytes;
  const write = (_fd: number, bytes: Buffer, at: number, length: number) => {
    if (room === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    const written = writeSync(fd, bytes, at, Math.min(3, length, room));
    room -= written;
    return written;
  };
  writeWholly(out, fd, write as typeof writeSync);
  return { out, read: () => readFileSync(path, 'utf8') };
}

test('a file gets every byte', () => {
  const { out, read } = fileOutput(100);
  out.write('ten bytes\n');
  expect(read()).toBe('ten bytes\n');
});

test('a file on a disk with room for a part is an error', async () => {
  const { out, read } = fileOutput(7);
  const failed = new Promise((resolve) => out.once('error', resolve));
  out.write('ten bytes\n');
  expect(await failed).toMatchObject({ code: 'ENOSPC' });
  expect(read()).toBe('ten byt');
});
