import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { MUTANTS } from './mutants.ts';

it('the text that each mutant replaces occurs once in its file, and its tests exist', () => {
  const wrong = MUTANTS.flatMap(({ file, search, tests }) => {
    const occurrences = readFileSync(join(PROJECT_ROOT, file), 'utf8').split(search).length - 1;
    const absent = tests.filter((test) => !existsSync(join(PROJECT_ROOT, test)));
    return [
      ...(occurrences === 1 ? [] : [`${file}: ${occurrences} times “${search}”`]),
      ...absent.map((test) => `${file}: no test file ${test}`),
    ];
  });
  expect(wrong).toEqual([]);
});
