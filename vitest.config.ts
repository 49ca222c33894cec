import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // chdb may live in one thread of one process only, so every test file gets its own process.
    pool: 'forks',
    globalSetup: ['test/support/onePostgres.ts'],
    // They end what hangs, and measure nothing: a machine many times slower than ours must pass.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
