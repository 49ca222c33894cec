import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from './sourceFiles.ts';

const declared = readFileSync(join(PROJECT_ROOT, 'src/config.ts'), 'utf8');

/** The environment variables that the service reads, and the one that its packages read. */
export const SERVICE_VARIABLES: readonly string[] = [
  ...[...declared.matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name = '']) => name),
  'NODE_ENV',
];
