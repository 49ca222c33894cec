import { describe, expect, test } from 'vitest';
import { SecondPrices } from './secondPrices.ts';

function filled(seconds: readonly number[]): SecondPrices {
  const prices = new SecondPrices();
  for (const second of seconds) prices.push(second * 1_000, second);
  return prices;
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('the mean of the last seconds', () => {
  test('covers (from, to]: sixty points end with the last second', () => {
    expect(filled(range(100, 400)).mean({ fromMs: 300_000, toMs: 360_000 })).toBe((301 + 360) / 2);
  });

  test('does not include a second that begins after its end', () => {
    const prices = filled(range(101, 111));
    expect(prices.mean({ fromMs: 100_999, toMs: 110_001 })).toBe((101 + 110) / 2);
    expect(prices.mean({ fromMs: 101_000, toMs: 110_999 })).toBe((102 + 110) / 2);
  });

  test('uses the last price of a second, and late points', () => {
    const prices = filled([101, 103]);
    prices.push(102_000, 5);
    prices.push(102_900, 102);
    expect(prices.mean({ fromMs: 100_000, toMs: 103_000 })).toBe(102);
  });

  test('tolerates up to one missing second in five', () => {
    const odd = range(101, 110).filter((second) => second !== 104 && second !== 105);
    expect(filled(odd).mean({ fromMs: 100_000, toMs: 110_000 })).toBeCloseTo((1_055 - 209) / 8, 12);
    expect(filled(odd.slice(1)).mean({ fromMs: 100_000, toMs: 110_000 })).toBeNull();
    expect(filled(odd).mean({ fromMs: 101_000, toMs: 110_000 }), 'seven of nine').toBeNull();
  });

  test('does not use a second of four minutes ago for a current one', () => {
    const prices = filled(range(1, 60));
    prices.push(300_000, 300);
    prices.push(10_000, 7);
    expect(prices.mean({ fromMs: 256_000, toMs: 300_000 })).toBeNull();
    expect(prices.mean({ fromMs: 43_000, toMs: 44_000 })).toBeNull();
    prices.push(44_000, 44);
    expect(prices.mean({ fromMs: 43_000, toMs: 44_000 })).toBeNull();
    expect(prices.mean({ fromMs: 299_000, toMs: 300_000 })).toBe(300);
  });

  test('is null over nothing, or over more than is kept', () => {
    const prices = filled(range(1, 600));
    expect(prices.mean({ fromMs: 600_000, toMs: 600_000 })).toBeNull();
    expect(prices.mean({ fromMs: 600_000, toMs: 600_999 })).toBeNull();
    expect(prices.mean({ fromMs: 343_000, toMs: 600_000 })).toBeNull();
    expect(prices.mean({ fromMs: 344_000, toMs: 600_000 })).toBe((345 + 600) / 2);
  });
});
