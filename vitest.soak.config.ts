import { defineConfig } from 'vitest/config';

/** Runs too long for every change: an hour of the venue, in some minutes. */
export default defineConfig({
  test: { include: ['test/soak/**/*.soak.ts'], pool: 'forks', testTimeout: 3_600_000 },
});
