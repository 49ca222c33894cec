import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import { misplacement, type TestedMutant } from './test/mutants/mutant.ts';
import { base } from './vitest.config.ts';

/** The tests with one deliberate fault in one module: `npm run mutants` gives it. The file stays as it is. */
const mutant: TestedMutant = JSON.parse(process.env.MUTANT ?? 'null');
if (mutant === null) throw new Error('MUTANT is not a mutant');
const file = fileURLToPath(new URL(mutant.file, import.meta.url));
const reason = misplacement(mutant);
if (reason !== null) throw new Error(reason);

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
