import { defineConfig } from 'vitest/config';

/** Tests too long to run on every change: an hour of the venue in some minutes. */
export default defineConfig({
  test: { include: ['test/soak/**/*.soak.ts'], pool: 'forks', testTimeout: 3_600_000 },
});
