import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { LineWriter } from './lineWriter.ts';

/** A writer of lines, and a file that fails with `error` and takes at most `most` bytes at a time. */
function rig() {
  const clock = new FakeClock();
  let written = Buffer.alloc(0);
  const file = {
    get text() {
      return written.toString();
    },
    error: null as string | null,
    most: Number.POSITIVE_INFINITY,
    attempts: 0,
    pausedMs: 0,
    whenPaused: () => {},
  };
  const writeNow = (bytes: Buffer) => {
    file.attempts += 1;
    if (file.error !== null) throw Object.assign(new Error(file.error), { code: file.error });
    const taken = bytes.subarray(0, file.most);
    written = Buffer.concat([written, taken]);
    return taken.length;
  };
  let lost = 0;
  const pause = (forMs: number) => {
    file.pausedMs += forMs;
    file.whenPaused();
  };
  const target = { write: async (bytes: Buffer) => writeNow(bytes), writeNow, pause };
  const lossLine = (count: number) => `lost ${count}\n`;
  const onLost = () => {
    lost += 1;
  };
  return { clock, file, lines: new LineWriter(target, { clock, lossLine, onLost }), lost: () => lost };
}

const MEBIBYTE_LINE = `${'x'.repeat(2 ** 20 - 1)}\n`;

test('lines of the same milliseconds are one write, and idle time needs no timer', async () => {
  const { clock, file, lines } = rig();
  lines.write('1\n');
  await clock.advance(9);
  lines.write('2\n');
  expect(file.text).toBe('');
  await clock.advance(1);
  expect([file.text, file.attempts, clock.waiting]).toEqual(['1\n2\n', 1, 0]);
  lines.write('3\n');
  await clock.advance(10);
  expect([file.text, file.attempts]).toEqual(['1\n2\n3\n', 2]);
});

test('a file that takes a few bytes at a time gets each byte once, in order', async () => {
  const { clock, file, lines } = rig();
  file.most = 3;
  lines.write('first\n');
  await clock.advance(10);
  lines.write('größer\n');
  await clock.advance(1_000);
  expect(file.text).toBe('first\ngrößer\n');
});

test('lines of a full disk wait, and are written in order when space is free', async () => {
  const { clock, file, lines, lost } = rig();
  file.error = 'ENOSPC';
  lines.write('1\n');
  await clock.advance(1_000);
  lines.write('2\n');
  expect(file.attempts).toBe(7);
  file.error = null;
  await clock.advance(1_000);
  expect([file.text, lost(), clock.waiting]).toEqual(['1\n2\n', 0, 0]);
});

test('a disk that stays full is tried again at the next line only, so that a command can end', async () => {
  const { clock, file, lines } = rig();
  file.error = 'ENOSPC';
  lines.write('1\n');
  await clock.advance(60_000);
  expect([file.attempts, clock.waiting]).toEqual([11, 0]);
  lines.write('2\n');
  lines.write('3\n');
  await clock.advance(60_000);
  expect([file.attempts, clock.waiting]).toEqual([12, 0]);
  file.error = null;
  lines.write('4\n');
  await clock.advance(1_010);
  expect(file.text).toBe('1\n2\n3\n4\n');
  file.error = 'ENOSPC';
  lines.write('5\n');
  await clock.advance(60_000);
  expect(file.attempts).toBe(12 + 2 + 11);
});

test('memory is bounded: lines beyond 8 MiB are lost, counted, and reported in the log', async () => {
  const { clock, file, lines, lost } = rig();
  file.error = 'ENOSPC';
  lines.write('first\n');
  await clock.advance(10);
  for (let i = 0; i < 8; i++) lines.write(MEBIBYTE_LINE);
  lines.write('lost\n');
  lines.write(MEBIBYTE_LINE);
  expect(lost()).toBe(2);
  file.error = null;
  await clock.advance(120);
  lines.write('after\n');
  await clock.advance(20);
  expect(file.text).toBe(`first\n${MEBIBYTE_LINE.repeat(8)}lost 2\nafter\n`);
  expect(lost()).toBe(2);
});

test('without a reader of the pipe nothing is kept, and nothing is tried again', async () => {
  const { clock, file, lines, lost } = rig();
  file.error = 'EPIPE';
  lines.write('1\n');
  await clock.advance(10);
  file.error = null;
  lines.write('2\n');
  await clock.advance(60_000);
  lines.writeNow();
  expect([file.text, file.attempts, lost(), clock.waiting]).toEqual(['', 1, 0, 0]);
});

test('a process that exits writes all waiting lines, even if the file takes a few bytes at a time', async () => {
  const { clock, file, lines } = rig();
  file.error = 'EAGAIN';
  lines.write('first\n');
  await clock.advance(10);
  lines.write('last\n');
  file.most = 4;
  file.whenPaused = () => {
    file.error = null;
  };
  lines.writeNow();
  expect([file.text, file.pausedMs]).toEqual(['first\nlast\n', 20]);
});

test('a process that exits gives a full disk up after a second', async () => {
  const { file, lines } = rig();
  file.error = 'ENOSPC';
  lines.write('1\n');
  lines.writeNow();
  expect([file.text, file.attempts, file.pausedMs]).toEqual(['', 8, 1_270]);
});

test('a process that exits does not touch a pipe that took nothing for a second: it could wait there forever', async () => {
  const { clock, file, lines } = rig();
  file.error = 'EAGAIN';
  lines.write('1\n');
  await clock.advance(2_000);
  const { attempts } = file;
  lines.writeNow();
  expect([file.attempts, file.pausedMs]).toEqual([attempts, 0]);
});
