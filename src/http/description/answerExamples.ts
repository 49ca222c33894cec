import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Answers of a demo that `scripts/examples.mjs` requested, by operation id. */
const FILE = fileURLToPath(new URL('../../../docs/examples.json', import.meta.url));

export interface AnswerExample {
  readonly status: number;
  /** JSON, with long lists cut, or text. */
  readonly body: unknown;
}

/** @returns Empty without the file. */
export function readAnswerExamples(file = FILE): ReadonlyMap<string, AnswerExample> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, AnswerExample>));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
}
