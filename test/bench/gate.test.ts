import { describe, expect, it } from 'vitest';
import type { Figure } from '../../bench/figure.ts';
import { type MeasuredFigure, mediansOf, regressions } from '../../bench/gate.ts';

const figure = (value: number, more: Partial<MeasuredFigure> = {}): MeasuredFigure => ({
  part: 'api',
  name: '  of bare node:http',
  value,
  unit: '%',
  better: 'more',
  ...more,
});

describe('a benchmark of several runs', () => {
  it('has the median of each figure', () => {
    const run = (a: number, b: number): Figure[] => [
      { name: 'a', value: a, unit: 'ms' },
      { name: 'b', value: b, unit: 's', goal: '< 4' },
    ];
    expect(mediansOf([run(5, 10), run(1, 30), run(3, 20)])).toEqual(run(3, 20));
  });

  it('fails when a run measured something else', () => {
    const run = (name: string): Figure[] => [{ name, value: 1, unit: 'ms' }];
    expect(() => mediansOf([run('a'), run('b')])).toThrow('“a” was not measured in every run');
  });
});

describe('the comparison with a committed result', () => {
  it.each([
    ['more', 115, 100],
    ['more', 100, 200],
    ['less', 100, 115],
    ['less', 100, 50],
  ] as const)('accepts up to 15 %% when %s is better: %d, then %d', (better, before, now) => {
    expect(regressions([figure(now, { better })], [figure(before, { better })])).toEqual([]);
  });

  it.each([
    ['more', 60, 50, 20],
    ['less', 50, 60, 20],
  ] as const)('fails beyond that when %s is better: %d, then %d', (better, before, now, percent) => {
    expect(regressions([figure(now, { better })], [figure(before, { better })])).toEqual([
      `api: of bare node:http: ${before} % before, ${now} % now (${percent} % worse, at most 15 %)`,
    ]);
  });

  it('fails for a value that is not a number, and for a figure that is no longer measured', () => {
    expect(regressions([figure(Number.NaN)], [figure(60)])).toHaveLength(1);
    expect(regressions([figure(60, { name: 'other' })], [figure(60)])).toEqual([
      'api: of bare node:http: in the committed result, not measured now',
    ]);
  });

  it('ignores parts that did not run and figures that depend on the machine', () => {
    expect(regressions([], [figure(60)])).toEqual([]);
    const { better: _, ...speed } = figure(60);
    expect(regressions([{ ...speed, value: 1 }], [speed])).toEqual([]);
  });
});
