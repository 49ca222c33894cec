import { expect, test } from 'vitest';
import { Random } from './random.ts';

test('a seed gives the same draws in every release, on every machine', () => {
  const random = new Random('market 1');
  expect([random.bits(), random.bits(), random.bits()]).toEqual([1655725789, 2648615031, 1287435039]);
  const each = new Random('market 1');
  expect([each.next(), each.uniform(10, 20), each.below(6), each.chance(0.5)]).toEqual([
    0.38550370116718113,
    16.16678742459044,
    1,
    true,
  ]);
  const normals = [each.normal(), each.normal(), each.normal(), each.lognormal(50, 0.5)];
  const known = [1.5307270944444156, 3.0827581266857655, -1.5416181982035428, 38.565115797321866];
  normals.forEach((value, at) => {
    expect(value).toBeCloseTo(known[at] as number, 12);
  });
  expect(each.exponential(30)).toBeCloseTo(11.119481371173213, 12);
  expect([each.hex(11), each.decimal(12)]).toEqual(['c3a0bc48705', '210985795999']);
});

test('streams of different seeds do not depend on each other', () => {
  const [one, other] = [new Random('a'), new Random('b')];
  const alone = Array.from({ length: 4 }, () => one.bits());
  const again = new Random('a');
  const mixed = Array.from({ length: 4 }, () => {
    other.normal();
    return again.bits();
  });
  expect(mixed).toEqual(alone);
});

const DRAWS = 20_000;
/** The draws of a kind, with their mean and their deviation. */
function drawn(draw: (random: Random) => number) {
  const random = new Random('draws');
  const values = Array.from({ length: DRAWS }, () => draw(random));
  const mean = values.reduce((sum, value) => sum + value, 0) / DRAWS;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / DRAWS);
  return { values, mean, deviation };
}

test('every number below a count is drawn equally often, the count itself never', () => {
  const times = new Map<number, number>();
  for (const value of drawn((random) => random.below(5)).values)
    times.set(value, (times.get(value) ?? 0) + 1);
  expect([...times.keys()].sort()).toEqual([0, 1, 2, 3, 4]);
  // Five standard errors.
  for (const count of times.values()) expect(Math.abs(count - DRAWS / 5)).toBeLessThan(285);
});

test.each([
  ['uniform', (random: Random) => random.uniform(2, 4), 3, 2 / Math.sqrt(12)],
  ['chance', (random: Random) => Number(random.chance(0.2)), 0.2, 0.4],
  ['normal', (random: Random) => random.normal(), 0, 1],
  ['logarithm of lognormal', (random: Random) => Math.log(random.lognormal(Math.E, 0.5)), 1, 0.5],
  ['exponential', (random: Random) => random.exponential(7), 7, 7],
])('%s draws have their mean and their deviation', (_, draw, mean, deviation) => {
  const found = drawn(draw);
  expect(Math.abs(found.mean - mean)).toBeLessThan((5 * deviation) / Math.sqrt(DRAWS));
  expect(Math.abs(found.deviation / deviation - 1)).toBeLessThan(0.04);
});

test('decimal digits never begin with 0', () => {
  const { values } = drawn((random) => Number(random.decimal(2)));
  expect([Math.min(...values), Math.max(...values)]).toEqual([10, 99]);
});

test('hex digits are those of the bits, with leading zeros', () => {
  const [digits, bits] = [new Random('hex'), new Random('hex')];
  const expected = Array.from({ length: 100 }, () => bits.bits().toString(16).padStart(8, '0')).join('');
  expect(digits.hex(800)).toBe(expected);
});
