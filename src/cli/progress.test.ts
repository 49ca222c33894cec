import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { printFailure } from './failure.ts';
import { Progress, printBelowBar } from './progress.ts';

const { isTTY, columns } = process.stderr;
let written: string[];
beforeEach(() => {
  written = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(process.stderr, { isTTY, columns });
});

/** Each update on a terminal of so many columns; undefined: of unknown width. */
function shown(columns: number | undefined, ...notes: readonly string[]): string[] {
  Object.assign(process.stderr, { isTTY: true, columns });
  const progress = new Progress('backup');
  for (const note of notes) progress.update(0.5, note);
  return written;
}

test.each([
  [undefined, `\rbackup [${'#'.repeat(16)}${'.'.repeat(16)}]  50 % 5 of 10 packs`],
  [0, `\rbackup [${'#'.repeat(16)}${'.'.repeat(16)}]  50 % 5 of 10 packs`],
  [80, `\rbackup [${'#'.repeat(16)}${'.'.repeat(16)}]  50 % 5 of 10 packs`],
  [46, `\rbackup [${'#'.repeat(8)}${'.'.repeat(8)}]  50 % 5 of 10 packs`],
  [38, '\rbackup [####....]  50 % 5 of 10 packs'],
  [37, '\rbackup  50 % 5 of 10 packs'],
  [16, '\rbackup  50 % 5 '],
])('a line fits into %j columns', (columns, line) => {
  expect(shown(columns, '5 of 10 packs')).toEqual([line]);
});

test('a shorter text leaves nothing of the one before', () => {
  const [first = '', second = ''] = shown(38, '5 of 10 packs', '');
  expect(second).toBe(`\rbackup [${'#'.repeat(11)}${'.'.repeat(10)}]  50 % `);
  expect(second.length).toBe(first.length);
});

test('a warning and a failure stand below the bar, which goes on in a new line', () => {
  const lines = vi.spyOn(console, 'error').mockImplementation((line) => void written.push(`${line}\n`));
  Object.assign(process.stderr, { isTTY: true, columns: 20 });
  const progress = new Progress('backup');
  progress.update(0.5, 'a');
  printBelowBar('underround: warning: b');
  progress.update(0.5, 'a');
  printFailure(new Error('c'));
  progress.done();
  expect(lines).toHaveBeenCalledTimes(2);
  const bar = '\rbackup  50 % a';
  expect(written).toEqual([bar, '\n', 'underround: warning: b\n', bar, '\n', 'underround: c\n']);
});
