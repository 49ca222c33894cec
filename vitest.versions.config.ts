import { defineConfig } from 'vitest/config';
import { base } from './vitest.config.ts';

/** The tests of the built service whose result may depend on the version of Node; the excluded ones wait for minutes. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/service/**/*.test.ts'], exclude: ['**/{clean,fault,paper}*'] },
});
