import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { misplacement } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

it('the text that each mutant replaces occurs once in its file, and its tests exist', () => {
  const wrong = MUTANTS.flatMap((mutant) => {
    const { file, tests } = mutant;
    const reason = misplacement(mutant);
    const absent = tests.filter((test) => !existsSync(join(PROJECT_ROOT, test)));
    return [...(reason === null ? [] : [reason]), ...absent.map((test) => `${file}: no test file ${test}`)];
  });
  expect(wrong).toEqual([]);
});
