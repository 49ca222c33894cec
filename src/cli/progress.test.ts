import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Progress } from './progress.ts';

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
