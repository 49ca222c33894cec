/**
 * Measures how many random faults the tests notice. Stryker makes every fault it knows on lines that a seed chooses, and
 * runs the tests that reach each one. The checkout stays as it is: the faults are in a copy.
 * Usage: npm run mutants:sample -- --area core [--within src/core/fills] [--seed 1] [--lines 40]
 * With at least as many lines as there are, it plants the faults of them all.
 */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { MutantResult } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { Random } from '../../src/core/random.ts';
import { PROJECT_ROOT, sourceFiles, withoutComments } from '../support/sourceFiles.ts';

/** The folder with the faults, and the tests that may notice them. */
const AREAS = {
  core: { sources: 'src/core', tests: ['src/core/**/*.test.ts'] },
  venues: { sources: 'src/venues', tests: ['src/venues/**/*.test.ts', 'src/recorder/**/*.test.ts'] },
  trading: { sources: 'src/trading', tests: ['src/trading/**/*.test.ts'] },
  webhooks: { sources: 'src/webhooks', tests: ['src/webhooks/**/*.test.ts'] },
} as const;
/** The copy is made beside a link to the shared files, where the tests look for them. */
const COPIES = '.stryker-tmp';
/** A fault in a loop ends its run after this time; the slowest test takes a few seconds on a busy machine. */
const TEST_MS_MAX = 60_000;
const KILLED_PERCENT_MIN = 90;
/** Only the log shows a fault of such a line. */
const WRITES_LOG = /\blog\.(?:debug|info|warn|error)\(/;

const { area, within, seed, lines } = readWords();
const chosen = chooseLines(AREAS[area].sources, { within, seed, count: lines });
if (chosen.length === 0) throw new Error(`no line of ${AREAS[area].sources} is within ${within}`);
process.stdout.write(`${chosen.length} lines of ${within}, seed ${seed}\n`);
const results = await plant(chosen, AREAS[area].tests);
report(results);

function readWords() {
  const { values } = parseArgs({
    options: {
      area: { type: 'string', default: '' },
      within: { type: 'string' },
      seed: { type: 'string', default: '1' },
      lines: { type: 'string', default: '40' },
    },
  });
  const names = Object.keys(AREAS);
  if (!names.includes(values.area)) throw new Error(`--area must be one of ${names.join(', ')}`);
  const area = values.area as keyof typeof AREAS;
  const within = values.within ?? AREAS[area].sources;
  return { area, within, seed: values.seed, lines: Number(values.lines) };
}

/** Lines with code, as Stryker's ranges: `src/core/fees.ts:12-12`. */
function chooseLines(
  folder: string,
  { within, seed, count }: { within: string; seed: string; count: number },
): string[] {
  const all = sourceFiles(folder)
    .filter(({ path }) => path.startsWith(within) && path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ path, text }) => codeLines(text).map((line) => `${path}:${line}-${line}`));
  const random = new Random(seed);
  const chosen = new Set<string>();
  while (chosen.size < Math.min(count, all.length))
    chosen.add(all[Math.floor(random.next() * all.length)] as string);
  return [...chosen].sort();
}

/** The numbers of the lines after the imports that have more than a comment and do not write the log. */
function codeLines(text: string): number[] {
  const lines = withoutComments(text).split('\n');
  const imports = lines.findLastIndex((line) => /^(?:import\b.*|\}) from '/.test(line));
  return lines.flatMap((line, at) =>
    at > imports && line.trim() !== '' && !WRITES_LOG.test(line) ? [at + 1] : [],
  );
}

async function plant(mutate: string[], tests: readonly string[]): Promise<MutantResult[]> {
  process.env.SAMPLE_TESTS = tests.join(' ');
  const shared = join(PROJECT_ROOT, '../shared');
  mkdirSync(join(PROJECT_ROOT, COPIES), { recursive: true });
  const link = join(PROJECT_ROOT, COPIES, 'shared');
  if (existsSync(shared) && !existsSync(link)) symlinkSync(shared, link);
  const stryker = new Stryker({
    ...{ mutate, tempDirName: COPIES, ignorePatterns: ['/.cache', '/data*', '/dist-bench', '/site'] },
    ...{ testRunner: 'vitest', plugins: ['@stryker-mutator/vitest-runner'], coverageAnalysis: 'perTest' },
    ...{ vitest: { configFile: 'vitest.sample.config.ts', related: true }, disableTypeChecks: false },
    // Stryker would move the paths of `tsconfig.json` with an interface that TypeScript 7 does not have.
    tsconfigFile: 'none',
    ...{ reporters: ['progress-append-only'], timeoutMS: TEST_MS_MAX, dryRunTimeoutMinutes: 30 },
  });
  return stryker.runMutationTest();
}

/** Prints what no test noticed, with its line, and the share that one did. */
function report(results: readonly MutantResult[]): void {
  const isNoticed = ({ status }: MutantResult) => status === 'Killed' || status === 'Timeout';
  for (const { fileName, location, mutatorName, replacement, status } of results.filter(
    (one) => !isNoticed(one),
  ))
    process.stdout.write(
      `${status} ${relative(PROJECT_ROOT, fileName)}:${location.start.line} ${mutatorName}: ${JSON.stringify(replacement)}\n`,
    );
  const noticed = results.filter(isNoticed).length;
  const percent = (100 * noticed) / results.length;
  process.stdout.write(`${noticed} of ${results.length} faults noticed: ${percent.toFixed(0)} %\n`);
  process.exitCode = percent < KILLED_PERCENT_MIN ? 1 : 0;
}
