/**
 * Plants each mutant in turn and requires that one of its test files fails.
 * Usage: npm run mutants [-- --from 0 --count 10] [-- --only src/core/fees]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { TestedMutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const TESTS_FAILED = /Tests\s.*\d+ failed/;
/** The narrow tests take seconds, minutes on a busy machine. A fault that makes one wait for ever is found too. */
const RUN_MS_MAX = 300_000;

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '0' },
    count: { type: 'string', default: String(MUTANTS.length) },
    only: { type: 'string', default: '' },
  },
});

/** The outcome of a mutant, and the end of the output where its tests did not run. */
async function outcomeOf(mutant: TestedMutant): Promise<{ outcome: string; errors: string }> {
  const command = [VITEST, 'run', '--config', 'vitest.mutants.config.ts', ...mutant.tests];
  const env = { ...process.env, MUTANT: JSON.stringify(mutant), NO_COLOR: '1' };
  // A group of its own: a test in an endless loop outlives the process that started it.
  const run = spawn(process.execPath, command, { cwd: ROOT, env, detached: true });
  let output = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (part) => (output += part));
  const limit = AbortSignal.timeout(RUN_MS_MAX);
  const kill = () => process.kill(-(run.pid as number), 'SIGKILL');
  limit.addEventListener('abort', kill);
  await once(run, 'close');
  limit.removeEventListener('abort', kill);
  if (limit.aborted) return { outcome: 'killed, tests hang', errors: '' };
  if (TESTS_FAILED.test(output)) return { outcome: 'killed', errors: '' };
  if (/Tests\s.* passed/.test(output)) return { outcome: 'SURVIVED', errors: '' };
  return { outcome: 'NOT RUN', errors: `${output.slice(-1_000)}\n` };
}

const from = Number(values.from);
const counts = { killed: 0, explained: 0, survived: 0 };
for (const [at, mutant] of MUTANTS.entries()) {
  const { file, search, equivalent } = mutant;
  if (at < from || at >= from + Number(values.count) || !file.includes(values.only)) continue;
  const { outcome, errors } =
    equivalent === null ? await outcomeOf(mutant) : { outcome: 'explained', errors: '' };
  if (outcome.startsWith('killed')) counts.killed++;
  else if (outcome === 'explained') counts.explained++;
  else counts.survived++;
  process.stdout.write(`${at} ${outcome} ${file}: ${search.split('\n')[0]}\n${errors}`);
}
const { killed, explained, survived } = counts;
process.stdout.write(`${killed} killed, ${explained} explained, ${survived} not killed\n`);
process.exitCode = survived > 0 ? 1 : 0;
