import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from './support/sourceFiles.ts';

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

/** The rows of the page: the number of the trap, and its tests if any. */
const traps = [...read('docs/LOOKAHEAD.md').matchAll(/^\| (\d+)\. [^|]+ \| (.*) \|$/gm)].map(
  ([, number, cell = '']) => ({
    number: Number(number),
    isBuilt: !cell.startsWith('not yet built'),
    tests: [...cell.matchAll(/`([^`]+\.test\.ts)`: `([^`]+)`/g)].map(([, path = '', title = '']) => ({
      path,
      title,
    })),
  }),
);

describe('docs/LOOKAHEAD.md', () => {
  it('lists each of the eleven traps, with a test for each implemented one', () => {
    expect(traps.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(traps.filter(({ isBuilt, tests }) => isBuilt !== tests.length > 0)).toEqual([]);
  });

  it('names existing tests for each trap', () => {
    for (const { number, tests } of traps) {
      for (const { path, title } of tests) {
        expect(title.startsWith(`trap ${number}: `), title).toBe(true);
        expect(read(path).includes(title), `${path}: ${title}`).toBe(true);
      }
    }
  });
});
