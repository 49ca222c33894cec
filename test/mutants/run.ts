/**
 * Plants each mutant in turn and requires that its test file fails. Usage: npm run mutants [-- --from 0 --count 10]
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MUTANTS } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const TESTS_FAILED = /Tests\s.*\d+ failed/;

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '0' },
    count: { type: 'string', default: String(MUTANTS.length) },
  },
});
const from = Number(values.from);
const survivors: string[] = [];
for (const [at, { file, search, test }] of MUTANTS.entries()) {
  if (at < from || at >= from + Number(values.count)) continue;
  const command = [VITEST, 'run', '--config', 'vitest.mutants.config.ts', test];
  const env = { ...process.env, MUTANT: String(at), NO_COLOR: '1' };
  const { stdout, stderr } = spawnSync(process.execPath, command, { cwd: ROOT, env, encoding: 'utf8' });
  const isKilled = TESTS_FAILED.test(stdout);
  const outcome = isKilled ? 'killed' : / passed/.test(stdout) ? 'SURVIVED' : 'NOT RUN';
  process.stdout.write(`${at} ${outcome} ${file}: ${search.split('\n')[0]}\n`);
  if (outcome === 'NOT RUN') process.stdout.write(`${stderr.slice(-500)}\n`);
  if (!isKilled) survivors.push(`${file}: ${search}`);
}
process.stdout.write(
  `${survivors.length} of ${Math.min(MUTANTS.length - from, Number(values.count))} not killed\n`,
);
process.exitCode = survivors.length > 0 ? 1 : 0;
