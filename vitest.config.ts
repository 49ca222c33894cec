import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserWorkspaceConfig, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification, type Vite } from 'vitest/node';
import { WAIT_MS_MAX } from './test/support/waitLimit.ts';

/** Service test files that start after each browser test file: about as many as finish while it runs. */
const SERVICES_A_BROWSER = 10;

/**
 * Starts the test files with services and browsers first, because they mostly wait: none then runs alone at the end.
 * Browser files are spread out, so that only one browser needs memory at a time.
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

/** On a busy machine PostgreSQL alone may need more than the 10 s that Vitest gives the end of a run. */
const TEARDOWN_MS_MAX = 120_000;

/** Fails a run whose set-up leaves a process running: Vitest would end such a run with the status of the tests only. */
const failWhatStaysOpen: Vite.Plugin = {
  name: 'fail-what-stays-open',
  configureVitest: ({ vitest }) => {
    const onProcessTimeout = () => {
      process.exitCode = 1;
    };
    vitest.config.reporters.push({ onProcessTimeout });
  },
};

/** A test file whose text matches this changes or measures its process, so it gets a process of its own. */
const OWN_PROCESS =
  /\bvi\.|\bprocess\.(?!cwd|execPath|hrtime|kill|pid|platform)|\bglobalThis\b|\/(?:commandLine|failingFiles|heldMemory|keptFileHandles)\.ts'/;

const SOURCES = new URL('src/', import.meta.url);
/** Tests that share processes: loading the same modules for each of these files took as long as their tests. */
const sharing = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter(
    (name) => name.endsWith('.test.ts') && !OWN_PROCESS.test(readFileSync(new URL(name, SOURCES), 'utf8')),
  )
  .map((name) => `src/${name}`);

const TESTS = ['src/**/*.test.ts', 'test/**/*.test.ts'];
const shared = {
  // In each project: Vitest ignores plugins outside of them.
  plugins: [failWhatStaysOpen],
  // The strategies in `examples` import the engine as their users do.
  resolve: { alias: { '@underround/engine': fileURLToPath(new URL('src/core/index.ts', import.meta.url)) } },
  test: {
    pool: 'forks' as const,
    // These limits only end hanging tests; they measure nothing. A test that waits in vain fails with its own error
    // first.
    testTimeout: 2 * WAIT_MS_MAX,
    hookTimeout: 2 * WAIT_MS_MAX,
    expect: { poll: { timeout: WAIT_MS_MAX } },
  },
} satisfies UserWorkspaceConfig;
const run = {
  // One more than the cores: many tests wait for the processes they started.
  maxWorkers: availableParallelism() + 1,
  teardownTimeout: TEARDOWN_MS_MAX,
  sequence: { sequencer: WaitingFirst },
  globalSetup: ['test/support/onePostgres.ts'],
};

/** Each test file in a process of its own. */
export const base: ViteUserConfig = {
  ...shared,
  test: { ...shared.test, ...run, include: TESTS },
};

export default defineConfig({
  test: {
    ...run,
    projects: [
      { ...shared, test: { ...shared.test, name: 'own process', include: TESTS, exclude: sharing } },
      { ...shared, test: { ...shared.test, name: 'shared process', include: sharing, isolate: false } },
    ],
  },
});
