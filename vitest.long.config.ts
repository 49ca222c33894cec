import { defineConfig } from 'vitest/config';

/** Tests too long to run on every change: an hour of the venue in some minutes. */
export default defineConfig({
  test: { include: ['test/**/*.long.ts'], pool: 'forks', testTimeout: 3_600_000 },
});
