import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification, type Vite } from 'vitest/node';
import { WAIT_MS_MAX } from './test/support/waitLimit.ts';

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

/** Fails a run whose set-up leaves something running: Vitest ends such a run with the status of the tests alone. */
const failWhatStaysOpen: Vite.Plugin = {
  name: 'fail-what-stays-open',
  configureVitest: ({ vitest }) => {
    const onProcessTimeout = () => {
      process.exitCode = 1;
    };
    vitest.config.reporters.push({ onProcessTimeout });
  },
};

export default defineConfig({
  plugins: [failWhatStaysOpen],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Every test file gets its own process.
    pool: 'forks',
    // One more than can compute at once: many wait for what they started.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: WaitingFirst },
    globalSetup: ['test/support/onePostgres.ts'],
    // They end what hangs, and measure nothing. A test that waits in vain ends by its own error first.
    testTimeout: 2 * WAIT_MS_MAX,
    hookTimeout: 2 * WAIT_MS_MAX,
    expect: { poll: { timeout: WAIT_MS_MAX } },
  },
});
