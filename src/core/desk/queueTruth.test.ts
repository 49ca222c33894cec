/** Our orders in a venue where every queue is known: the desk must fill them as the venue does. */
import { expect, test } from 'vitest';
import { type Cancels, filledUntil, scripted } from '../../../test/support/queueTruth.ts';
import { START_MS } from '../../../test/support/tapes.ts';
import { QUEUE_MODELS } from '../../schema/strategy.ts';
import { Random } from '../random.ts';

const SEEDS = 100;
/** When about half of the orders are filled. */
const HALFWAY_MS = START_MS + 60_000;

test.each([
  ['nobody cancels', 'none', QUEUE_MODELS],
  ['only orders behind us are cancelled', 'behind', ['pessimistic']],
  ['only orders ahead of us are cancelled', 'ahead', ['optimistic']],
] as const)('where %s, orders fill exactly when the venue fills them', (_, cancels, models) => {
  let fills = 0;
  for (let seed = 0; seed < SEEDS; seed++) {
    const { truth, modelled } = scripted(`${cancels} ${seed}`, models, cancels);
    for (const model of models) expect(modelled.get(model), `${model}, seed ${seed}`).toEqual(truth);
    fills += truth.length;
  }
  expect(fills).toBeGreaterThan(SEEDS / 3);
});

test('optimistic fills no later than proportional, and proportional no later than pessimistic', () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const { modelled } = scripted(`models ${seed}`, QUEUE_MODELS, 'any');
    const [optimistic, proportional, pessimistic] = QUEUE_MODELS.map((model) => modelled.get(model) ?? []);
    for (const [early = [], late = []] of [
      [optimistic, proportional],
      [proportional, pessimistic],
    ]) {
      for (const { timeMs } of late) {
        const [sooner, later] = [early, late].map((fills) => filledUntil(fills, timeMs)) as [number, number];
        expect(sooner, `seed ${seed}`).toBeGreaterThanOrEqual(later - 1e-9);
      }
    }
  }
});

test('where cancels come from anywhere in the queue, the truth is between optimistic and pessimistic', () => {
  const sums = { truth: 0, optimistic: 0, proportional: 0, pessimistic: 0 };
  for (let seed = 0; seed < SEEDS; seed++) {
    const { truth, modelled } = scripted(`between ${seed}`, QUEUE_MODELS, 'any' satisfies Cancels);
    sums.truth += filledUntil(truth, HALFWAY_MS);
    for (const model of QUEUE_MODELS) sums[model] += filledUntil(modelled.get(model) ?? [], HALFWAY_MS);
  }
  expect(sums.optimistic).toBeGreaterThan(sums.truth);
  expect(sums.pessimistic).toBeLessThan(sums.truth);
  expect(Math.abs(sums.proportional - sums.truth)).toBeLessThan(0.05 * sums.truth);
});

test('no order is filled beyond its size, and each ends once', () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const { reports } = scripted(`sizes ${seed}`, QUEUE_MODELS, 'any');
    for (const [model, all] of reports) {
      const filled = new Map<number, number>();
      const ended = new Set<number>();
      for (const report of all) {
        if (report.kind === 'taken_back') continue;
        const { orderId, terms } = report.order;
        const at = `${model}, seed ${seed}, order ${orderId}`;
        expect(ended.has(orderId), at).toBe(false);
        if (report.kind === 'accepted') continue;
        if (report.kind === 'fill') {
          const size = (filled.get(orderId) ?? 0) + report.fill.size;
          filled.set(orderId, size);
          expect(size, at).toBeLessThanOrEqual(terms.size as number);
          expect(report.isOpen, at).toBe(size < (terms.size as number));
          // Money is rounded against us, below a micro-USD for each fill.
          const exact = (report.fill.size * terms.limitPrice) / 10_000;
          expect(Math.abs(report.fill.principal - exact), at).toBeLessThan(1);
        }
        if (report.kind !== 'fill' || !report.isOpen) ended.add(orderId);
      }
    }
  }
});

test('the same script gives the same fills again', () => {
  const seed = `again ${new Random('again').below(1_000)}`;
  expect(scripted(seed, QUEUE_MODELS, 'any')).toEqual(scripted(seed, QUEUE_MODELS, 'any'));
});
