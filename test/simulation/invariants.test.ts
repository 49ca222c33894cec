import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CHECKS, CLUSTER_CHECKS } from './checks/check.ts';
import { runScenario } from './run.ts';
import { scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';

const MUTANT_RUN = fileURLToPath(new URL('mutantRun.ts', import.meta.url));
const SEEDS_MAX = '20';

function expectToFailAlone(check: string, collectors: number): void {
  const args = [MUTANT_RUN, check, SEEDS_MAX, String(collectors)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({
    stderr: stderr.replaceAll(/^.*Warning.*$\n?/gm, ''),
    stdout: stdout && JSON.parse(stdout),
  }).toMatchObject({
    stdout: { failed: [check] },
  });
}

describe('each invariant', () => {
  it.each(CHECKS)('%s alone fails when its fault is planted in the product', (check) => {
    expectToFailAlone(check, 1);
  });

  it.each(CLUSTER_CHECKS)('%s alone fails when its fault is planted in the merge', (check) => {
    expectToFailAlone(check, 2);
  });
});

describe('shrinking', () => {
  it('keeps a scenario that violates nothing', async () => {
    const scenario = { ...scenarioOf(2), faults: [] };
    expect((await runScenario(scenario)).violations).toEqual([]);
    expect(await shrink(scenario, 'book_equals_truth')).toEqual(scenario);
  });
});
