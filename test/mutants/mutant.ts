import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

/** A deliberate fault of one line, and the narrowest test files of which at least one must fail because of it. */
export interface TestedMutant {
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly search: string;
  readonly replacement: string;
  readonly tests: readonly string[];
  /** Why no test can fail; null: one must. */
  readonly equivalent: string | null;
}

/** Why the mutant has no definite place; null: the text that it replaces occurs exactly once in its file. */
export function misplacement({ file, search }: TestedMutant): string | null {
  const occurrences = readFileSync(join(PROJECT_ROOT, file), 'utf8').split(search).length - 1;
  return occurrences === 1 ? null : `${file} contains ${occurrences} times: ${search}`;
}

/** Plants faults in one file: call the result with the text and its replacement. */
export const of =
  (file: string, ...tests: string[]) =>
  (search: string, replacement: string, equivalent: string | null = null): TestedMutant => ({
    ...{ file, search, replacement, tests, equivalent },
  });
