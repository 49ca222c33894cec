import { describe, expect, test } from 'vitest';
import { Random } from '../core/random.ts';
import { planFolds, type Span, walkForward } from './walkForward.ts';

describe('the plan of a walk-forward', () => {
  test('has train, embargo and test one after another, and tests without a gap', () => {
    expect(planFolds({ startMs: 0, endMs: 100 }, { trainMs: 40, embargoMs: 5, testMs: 20 })).toEqual([
      { train: { startMs: 0, endMs: 40 }, test: { startMs: 45, endMs: 65 } },
      { train: { startMs: 20, endMs: 60 }, test: { startMs: 65, endMs: 85 } },
    ]);
    expect(planFolds({ startMs: 0, endMs: 64 }, { trainMs: 40, embargoMs: 5, testMs: 20 })).toEqual([]);
  });

  test('never lets a train window reach its test, nor two tests overlap, nor leaves the range', () => {
    const random = new Random('plans');
    for (let run = 0; run < 500; run++) {
      const range = { startMs: random.below(1_000), endMs: 1_000 + random.below(5_000) };
      const plan = {
        trainMs: 1 + random.below(900),
        embargoMs: random.below(50),
        testMs: 1 + random.below(300),
      };
      const folds = planFolds(range, plan);
      for (const [at, { train, test: tested }] of folds.entries()) {
        expect(train.startMs).toBeGreaterThanOrEqual(range.startMs);
        expect(tested.endMs).toBeLessThanOrEqual(range.endMs);
        expect(tested.startMs - train.endMs).toBe(plan.embargoMs);
        expect([train.endMs - train.startMs, tested.endMs - tested.startMs]).toEqual([
          plan.trainMs,
          plan.testMs,
        ]);
        if (at > 0) expect(tested.startMs).toBe(folds[at - 1]?.test.endMs);
      }
      const unused =
        range.endMs - (folds.at(-1)?.test.endMs ?? range.startMs + plan.trainMs + plan.embargoMs);
      expect(unused).toBeLessThan(plan.testMs);
    }
  });
});

describe('a walk-forward', () => {
  const folds = planFolds({ startMs: 0, endMs: 100 }, { trainMs: 40, embargoMs: 5, testMs: 20 });

  test('evaluates the best candidate of each train window on its test window alone', async () => {
    const calls: [string, Span][] = [];
    const results = await walkForward(folds, {
      candidates: async (train) => {
        calls.push(['train', train]);
        return [
          { params: 'a', sharpe: train.startMs === 0 ? 0.2 : 0.1, totalPnl: 5 },
          { params: 'b', sharpe: 0.1, totalPnl: 9 },
          { params: 'c', sharpe: null, totalPnl: 99 },
        ];
      },
      evaluate: async (params, tested) => {
        calls.push([`test ${params}`, tested]);
        return params.toUpperCase();
      },
    });
    expect(calls).toEqual([
      ['train', folds[0]?.train],
      ['test a', folds[0]?.test],
      ['train', folds[1]?.train],
      ['test b', folds[1]?.test],
    ]);
    expect(results.map(({ chosen, result }) => [chosen?.params, result])).toEqual([
      ['a', 'A'],
      ['b', 'B'],
    ]);
  });

  test('has no result where nothing was replayed, or no candidate has a ratio', async () => {
    const results = await walkForward(folds, {
      candidates: async ({ startMs }) => (startMs === 0 ? null : [{ params: 1, sharpe: null, totalPnl: 0 }]),
      evaluate: async () => 1,
    });
    expect(results.map(({ chosen, result }) => [chosen, result])).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  test('does not reward noise: chosen parameters earn nothing on tests, whatever the train windows show', async () => {
    const random = new Random('noise');
    const many = planFolds({ startMs: 0, endMs: 40_000 }, { trainMs: 100, embargoMs: 0, testMs: 20 });
    const results = await walkForward(many, {
      candidates: async () =>
        Array.from({ length: 50 }, (_, params) => ({ params, sharpe: random.normal() / 10, totalPnl: 0 })),
      evaluate: async () => random.normal() / 10,
    });
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(results.map(({ chosen }) => chosen?.sharpe ?? 0))).toBeGreaterThan(0.2);
    expect(Math.abs(mean(results.map(({ result }) => result ?? 0)))).toBeLessThan(0.01);
  });
});
