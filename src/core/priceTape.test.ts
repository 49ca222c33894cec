import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PointTape, TradeTape } from './priceTape.ts';

const T = Date.UTC(2026, 10, 20, 12);

/** The plain definition: every second of (end - n, end] exists, and their sum is divided by n. */
function naiveMean(points: ReadonlyMap<number, number>, endMs: number, seconds: number): number | null {
  let sum = 0;
  for (let back = 0; back < seconds; back++) {
    const price = points.get(endMs - back * 1000);
    if (price === undefined) return null;
    sum += price;
  }
  return sum / seconds;
}

const points = fc.array(
  fc.record({
    second: fc.integer({ min: 0, max: 200 }),
    price: fc.double({ min: 1, max: 200_000, noNaN: true }),
  }),
  { maxLength: 300 },
);

describe('PointTape', () => {
  it('averages by the definition, in any order and with any repeats and holes', () => {
    const asked = fc.record({
      end: fc.integer({ min: 0, max: 210 }),
      seconds: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(points, asked, fc.boolean(), (received, { end, seconds }, whole) => {
        const tape = new PointTape();
        const first = new Map<number, number>();
        // Half the runs start from a tape without holes, so that means exist.
        const all = whole
          ? [...received, ...Array.from({ length: 201 }, (_, second) => ({ second, price: 100 + second }))]
          : received;
        for (const { second, price } of all) {
          tape.add(T + second * 1000, price);
          if (!first.has(T + second * 1000)) first.set(T + second * 1000, price);
        }
        const expected = naiveMean(first, T + end * 1000, seconds);
        const mean = tape.meanUntil(T + end * 1000, seconds);
        if (expected === null) expect(mean).toBeNull();
        else expect(Math.abs(mean! / expected - 1)).toBeLessThan(1e-12);
      }),
    );
  });

  it('has no average while one second of sixty is missing, and has one once it arrives late', () => {
    const tape = new PointTape();
    for (let back = 59; back >= 0; back--) if (back !== 31) tape.add(T - back * 1000, 100);
    expect(tape.meanUntil(T, 60)).toBeNull();
    tape.add(T - 31_000, 160);
    expect(tape.meanUntil(T, 60)).toBe(101);
  });

  it('ends the average at the requested second: the next one and the 61st before are not in it', () => {
    const tape = new PointTape();
    for (let back = 60; back >= -1; back--) tape.add(T - back * 1000, back === 60 || back === -1 ? 1e9 : 100);
    expect(tape.meanUntil(T, 60)).toBe(100);
  });

  it('ignores points between seconds, and forgets a second whose slot another has taken', () => {
    const tape = new PointTape();
    tape.add(T + 500, 1);
    expect(tape.at(T)).toBeNull();
    tape.add(T, 2);
    tape.add(T + 600_000, 3);
    tape.add(T, 4);
    expect([tape.at(T), tape.at(T + 600_000)]).toEqual([null, 3]);
  });
});

describe('TradeTape', () => {
  it('returns the last trade at or before a second, once a later one has arrived', () => {
    const tape = new TradeTape();
    tape.add(T - 400, 10);
    tape.add(T, 11);
    expect(tape.at(T)).toBeNull();
    tape.add(T + 1, 12);
    expect([tape.at(T), tape.at(T - 1000)]).toEqual([11, null]);
  });

  it('uses the latest trade of a second, also if it is received first', () => {
    const tape = new TradeTape();
    for (const [timeMs, price] of [
      [T - 100, 2],
      [T - 900, 1],
      [T + 5000, 9],
    ] as const)
      tape.add(timeMs, price);
    expect(tape.at(T)).toBe(2);
  });

  it('keeps a second final when an earlier trade arrives late', () => {
    const tape = new TradeTape();
    tape.add(T - 100, 2);
    tape.add(T + 5000, 9);
    tape.add(T - 3000, 1);
    expect([tape.at(T), tape.at(T - 3000)]).toEqual([2, 1]);
  });

  it('uses the last received of two trades of one time', () => {
    const tape = new TradeTape();
    for (const price of [1, 2]) tape.add(T, price);
    tape.add(T + 1, 9);
    expect(tape.at(T)).toBe(2);
  });

  it('trap 9: carries no price over more than five seconds without a trade', () => {
    const tape = new TradeTape();
    tape.add(T, 7);
    tape.add(T + 60_000, 8);
    expect([5, 6].map((second) => tape.at(T + second * 1000))).toEqual([7, null]);
    expect(tape.meanUntil(T + 10_000, 10)).toBeNull();
  });

  it('keeps ten minutes, whatever arrives', () => {
    const tape = new TradeTape();
    for (let second = 0; second < 1000; second++) tape.add(T + second * 1000, second);
    expect([tape.at(T + 400_000), tape.at(T + 399_000)]).toEqual([400, null]);
  });
});

it('a point for averages alone is not the price of its second until it is added for any use', () => {
  const tape = new PointTape();
  tape.add(1_000, 10);
  tape.add(2_000, 20, 'average');
  tape.add(2_000, 20, 'average');
  expect([tape.at(2_000), tape.meanUntil(2_000, 2)]).toEqual([null, 15]);
  tape.add(1_000, 11, 'average');
  tape.add(2_000, 21);
  expect([tape.at(1_000), tape.at(2_000), tape.meanUntil(2_000, 2)]).toEqual([10, 20, 15]);
});

it('a price for averages only leaves the price of ten minutes later as it is', () => {
  const tape = new PointTape();
  tape.add(1_000, 5, 'average');
  tape.add(601_000, 6);
  expect(tape.at(601_000)).toBe(6);
});
