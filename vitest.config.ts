import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that start services and browsers and wait for them; they begin first, so that none runs on alone at the end. */
const WAITING = /\/test\/(?:web|service)\//;

class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const [first, then] = [true, false].map((waits) =>
      sorted.filter(({ moduleId }) => WAITING.test(moduleId) === waits),
    );
    return [...(first ?? []), ...(then ?? [])];
  }
}

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Every test file gets its own process.
    pool: 'forks',
    // One more than can compute at once: many wait for what they started.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: WaitingFirst },
    globalSetup: ['test/support/onePostgres.ts'],
    // They end what hangs, and measure nothing: a machine many times slower than ours must pass.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
