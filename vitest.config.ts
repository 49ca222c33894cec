import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Service files that begin after each one with a browser: about as many as end while it runs. */
const SERVICES_A_BROWSER = 10;

/**
 * Files that start services and browsers, and wait for them, begin first, so that none runs on alone at the end; those
 * with browsers apart, so that the memory of one is enough.
 */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const take = (folder: RegExp) => sorted.filter(({ moduleId }) => folder.test(moduleId));
    const [browsers, services] = [take(/\/test\/web\//), take(/\/test\/service\//)];
    const first = browsers.flatMap((file) => [file, ...services.splice(0, SERVICES_A_BROWSER)]);
    return [...new Set([...first, ...services, ...sorted])];
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
