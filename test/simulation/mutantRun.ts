/**
 * Runs seeds with a fault planted for a check, until the check fails, and prints the names of all checks that failed.
 * Usage: node test/simulation/mutantRun.ts CHECK SEEDS COLLECTORS
 */
import { INVARIANT_MUTANTS, MERGE_MUTANTS, type Mutant } from './invariantMutants.ts';
import { plantMutant } from './plantMutant.ts';

const [check = '', seeds = '100', collectors = '1'] = process.argv.slice(2);
const mutants: Readonly<Record<string, Mutant>> = collectors === '1' ? INVARIANT_MUTANTS : MERGE_MUTANTS;
plantMutant(mutants[check] as Mutant);
const { runScenario } = await import('./run.ts');
const { scenarioOf } = await import('./scenario.ts');

const failed = new Set<string>();
let seed = 0;
while (seed < Number(seeds) && !failed.has(check)) {
  seed++;
  const { violations } = await runScenario(scenarioOf(seed, Number(collectors)));
  for (const violation of violations) failed.add(violation.check);
}
process.stdout.write(`${JSON.stringify({ seed, failed: [...failed] })}\n`);
