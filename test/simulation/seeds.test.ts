import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { Random } from '../../src/core/random.ts';
import { runScenario } from './run.ts';
import { scenarioOf } from './scenario.ts';

const FIXED_SEEDS = 200;
const NEW_SEEDS = 50;
/** Seeds that are not among the fixed ones. */
const NEW_FROM = 1_000_000;
const SEEDS_A_TEST = 25;
const CLUSTER_SEEDS = 40;

/**
 * Seeds that have failed once. The first eight showed defects of the recorder: a loss hidden by a later trade, one while
 * the store dropped rows, numbers that fell after a restart on a clock set back, a book that was not written again
 * after the store had dropped it, states delivered seconds late by the other connection, losses hidden by such frames
 * (two seeds), and a silent end of a window. The next two showed a past book that was answered as trusted while a newer
 * one waited for the store, and a gap that began after the silence of one token. The last one showed a paper order that
 * was placed later than its replay says, because records that the store lost had moved its clock. The others showed
 * what the model of the store and the clocks and the checks lacked.
 */
const FAILED_ONCE = [43, 86, 3904, 6911, 797, 1067, 5898, 4731, 44, 52, 316, 36, 8501, 309, 327, 180_383_605];

/**
 * Of two collectors. In the first six the last changes of a window arrived late, after its end. In the next two the rest
 * of a later action excused the loss of an earlier one. In 13,129 the simulated venue hid a lost action. In 129 the last
 * book before a long outage was stored again after it.
 */
const FAILED_WITH_TWO = [10_148, 10_163, 10_938, 12_421, 13_185, 14_584, 12_663, 11_957, 13_129, 129];

async function violationsOf(seeds: readonly number[], collectors = 1): Promise<string[]> {
  const found: string[] = [];
  for (const seed of seeds)
    for (const { check, text } of (await runScenario(scenarioOf(seed, collectors))).violations)
      found.push(`${check}: ${text} (npm run simulate -- --collectors ${collectors} --seed ${seed} --trace)`);
  return found;
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

/** Other seeds for each commit; the same ones when a commit is tested again. */
function newSeeds(): number[] {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  const random = new Random(`seeds of ${stdout?.trim() || 'no commit'}`);
  return range(0, NEW_SEEDS).map(() => NEW_FROM + random.below(1_000_000_000));
}

describe('the simulation', () => {
  it.each(
    range(0, FIXED_SEEDS / SEEDS_A_TEST).map(
      (part) => [1 + part * SEEDS_A_TEST, (part + 1) * SEEDS_A_TEST] as const,
    ),
  )('holds every invariant in the seeds %i to %i', async (from, to) => {
    expect(await violationsOf(range(from, to - from + 1))).toEqual([]);
  });

  it('holds every invariant in the seeds that have failed once', async () => {
    expect(await violationsOf(FAILED_ONCE)).toEqual([]);
  });

  it('holds every invariant in seeds of this commit', async () => {
    expect(await violationsOf(newSeeds())).toEqual([]);
  });

  it('gives a seed the same trace in each run, and another seed another one', async () => {
    const seeds = [2, 3, 86];
    const traces = [];
    for (const seed of [...seeds, ...seeds]) traces.push((await runScenario(scenarioOf(seed))).trace);
    expect(traces.slice(3)).toEqual(traces.slice(0, 3));
    expect(new Set(traces).size).toBe(3);
  });
});

describe('the simulation of two collectors', () => {
  it('holds every invariant in fixed seeds', async () => {
    expect(await violationsOf(range(1, CLUSTER_SEEDS), 2)).toEqual([]);
  });

  it('holds every invariant in the seeds that have failed once', async () => {
    expect(await violationsOf(FAILED_WITH_TWO, 2)).toEqual([]);
  });

  it('gives a seed the same trace in each run, and another seed another one', async () => {
    const seeds = [4, 13];
    const traces = [];
    for (const seed of [...seeds, ...seeds]) traces.push((await runScenario(scenarioOf(seed, 2))).trace);
    expect(traces.slice(2)).toEqual(traces.slice(0, 2));
    expect(new Set(traces).size).toBe(2);
  });
});
