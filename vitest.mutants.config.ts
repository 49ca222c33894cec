import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import { MUTANTS } from './test/mutants/mutants.ts';
import base from './vitest.config.ts';

/** The tests with one deliberate fault in one module: `npm run mutants` names its number. The file stays as it is. */
const mutant = MUTANTS[Number(process.env.MUTANT)];
if (mutant === undefined) throw new Error('MUTANT is not the number of a mutant');
const file = fileURLToPath(new URL(mutant.file, import.meta.url));
if (!readFileSync(file, 'utf8').includes(mutant.search))
  throw new Error(`${mutant.file} does not contain ${mutant.search}`);

export default mergeConfig(
  base,
  defineConfig({
    plugins: [
      {
        name: 'plant-mutant',
        enforce: 'pre',
        transform: (code, id) =>
          id.split('?')[0] === file ? code.replace(mutant.search, () => mutant.replacement) : undefined,
      },
    ],
    test: { globalSetup: [], bail: 1 },
  }),
);
