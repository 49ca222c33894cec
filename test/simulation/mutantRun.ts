/**
 * Runs seeds with a fault planted for a check, until the check fails, and prints the names of all checks that failed.
 * Usage: node test/simulation/mutantRun.ts CHECK SEEDS
 */
import type { CheckName } from './checks/check.ts';
import { INVARIANT_MUTANTS } from './invariantMutants.ts';
import { plantMutant } from './plantMutant.ts';

const [check = '', seeds = '100'] = process.argv.slice(2);
plantMutant(INVARIANT_MUTANTS[check as CheckName]);
const { runScenario } = await import('./run.ts');
const { scenarioOf } = await import('./scenario.ts');

const failed = new Set<string>();
let seed = 0;
while (seed < Number(seeds) && !failed.has(check)) {
  seed++;
  for (const violation of (await runScenario(scenarioOf(seed))).violations) failed.add(violation.check);
}
process.stdout.write(`${JSON.stringify({ seed, failed: [...failed] })}\n`);
