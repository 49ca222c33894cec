import { expect, test } from 'vitest';
import { VenueMessageError } from '../runtime/errors.ts';
import { bestLevels, type DepthLevel, DepthSide } from './depthLadder.ts';

/** A small seeded generator, so that a failure can be reproduced. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test.each([
  ['bids', 7],
  ['asks', 8],
] as const)('%s equal a sorted map over 5,000 random changes (seed %i)', (side, seed) => {
  const random = seeded(seed);
  const ladder = new DepthSide(side);
  const model = new Map<number, DepthLevel>();
  for (let i = 0; i < 5_000; i++) {
    const price = (61_000 + Math.floor(random() * 300) / 10).toFixed(random() < 0.5 ? 1 : 2);
    const size = random() < 0.4 ? '0.000' : (random() * 9).toFixed(3);
    ladder.apply([[price, size]]);
    if (Number(size) === 0) model.delete(Number(price));
    else model.set(Number(price), [price, size]);
    if (i % 50 !== 0) continue;
    const sign = side === 'bids' ? -1 : 1;
    const expected = [...model.entries()].sort((a, b) => sign * (a[0] - b[0])).map(([, level]) => level);
    expect(ladder.count).toBe(expected.length);
    expect(ladder.top(1000)).toEqual(expected);
    expect(ladder.top()).toEqual(expected.slice(0, 50));
  }
});

const DIGITS = '123456789012345';

test.each([
  '1e3',
  '-1',
  '',
  'NaN',
  '0x1',
  ' 1',
  '1 ',
  '1.',
  '.5',
  '1.5x',
  'x1.5',
  '1,5',
  `${DIGITS}6`,
  `1.${DIGITS}6`,
])('rejects the price or size “%s”', (text) => {
  for (const level of [[text, '1'] as const, ['1', text] as const])
    expect(() => new DepthSide('bids').apply([level])).toThrow(
      new VenueMessageError(`not a level: ${level[0]} x ${level[1]}`),
    );
});

test('keeps decimals as the venue wrote them, and shortens what it repeats of others', () => {
  const levels: DepthLevel[] = [
    [DIGITS, `12.${DIGITS}`],
    ['1', '0.10'],
  ];
  expect(bestLevels('bids', levels)).toEqual(levels);
  expect(bestLevels('asks', levels)).toEqual(levels.toReversed());
  const long = 'x'.repeat(41);
  expect(() => bestLevels('asks', [[long, long]])).toThrow(
    new VenueMessageError(`not a level: ${'x'.repeat(40)} x ${'x'.repeat(40)}`),
  );
});

test('is empty after it is cleared', () => {
  const side = new DepthSide('asks');
  side.apply([
    ['2', '1'],
    ['1', '1'],
  ]);
  side.clear();
  expect([side.count, side.top()]).toEqual([0, []]);
  side.apply([['3', '1']]);
  expect(side.top()).toEqual([['3', '1']]);
});

test('a cleared side has no levels, and accepts a price that it had before', () => {
  const ladder = new DepthSide('asks');
  ladder.apply([
    ['2', '1'],
    ['1', '1'],
  ]);
  ladder.clear();
  expect([ladder.count, ladder.top()]).toEqual([0, []]);
  ladder.apply([['2', '5']]);
  expect([ladder.count, ladder.top()]).toEqual([1, [['2', '5']]]);
});
