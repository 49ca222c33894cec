import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatDecimal,
  formatPrice,
  formatSize,
  midOf,
  multiplyDecimals,
  parseDecimal,
  parsePrice,
  parseSize,
  sharesOf,
  sizeOfShares,
  spreadOf,
} from './money.ts';

/** A positive double and its two neighbours. */
function doublesAround(value: number): number[] {
  const [bits] = new BigUint64Array(new Float64Array([value]).buffer);
  return [-1n, 0n, 1n].map((by) => new Float64Array(new BigUint64Array([bits! + by]).buffer)[0]!);
}

describe('parsePrice', () => {
  it.each([
    ['0.5', 5000],
    ['0.50', 5000],
    ['.5', 5000],
    ['1', 10_000],
    ['0', 0],
    ['0.0001', 1],
    ['0.55000', 5500],
  ])('reads %s as %i ticks', (text, ticks) => expect(parsePrice(text)).toBe(ticks));

  it.each(['', '.', '-0.5', '1.01', '0.00001', '1e-2', ' 0.5', '0.0.5', '0.5.0', 'NaN', '0,5'])(
    'refuses %j',
    (text) => expect(parsePrice(text)).toBeNull(),
  );
});

describe('decimals', () => {
  it('print and read back to the same number', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 0, max: 8 }), (value, decimals) => {
        expect(parseDecimal(formatDecimal(value, decimals), decimals)).toBe(value);
      }),
    );
  });

  it('print like the venue, without trailing zeros', () => {
    expect([formatPrice(5000), formatPrice(10), formatSize(3_641_800_000), formatSize(55_000_000)]).toEqual([
      '0.5',
      '0.001',
      '3641.8',
      '55',
    ]);
  });

  it.each([-1, 10_001, 0.5])('are never the text of a price of %s ticks', (ticks) => {
    expect(() => formatPrice(ticks)).toThrow(new RangeError(`price out of range: ${ticks} ticks`));
  });

  it('keep a size finer than a unit unchanged', () => {
    for (const text of [
      '57.220000000000006',
      '1.1400000000000001',
      '1.5699999999999998',
      '0.0000001',
      '123456.78900000001',
      '123456789.1234567',
    ]) {
      expect(formatSize(parseSize(text)!)).toBe(String(Number(text)));
    }
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5_000_000 }),
        fc.integer({ min: 1, max: 9 }),
        (hundredths, step) => {
          const shares = hundredths / 100 + step;
          const size = parseSize(String(shares))!;
          expect([size / 1_000_000, formatSize(size)]).toEqual([shares, String(shares)]);
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('have no size for shares that no nearby double converts back to', () => {
    expect([sizeOfShares(446.8297068218698), parseSize('1.1300000000000001')]).toEqual([null, null]);
    let absent = 0;
    fc.assert(
      fc.property(fc.double({ min: 1e-7, max: 1e6, noNaN: true }), (shares) => {
        const size = sizeOfShares(shares);
        if (size === null) absent++;
        if (size === null) expect(doublesAround(shares * 1e6).map(sharesOf)).not.toContain(shares);
        else expect(sharesOf(size)).toBe(shares);
      }),
      { numRuns: 5000, seed: 1 },
    );
    expect(absent).toBeGreaterThan(50);
  });

  it('of a whole size come back from its shares as that whole size', () => {
    // 0.000123 x 1,000,000 is 123.00000000000001 in doubles.
    for (const size of [123, 246, 249, 7_150_000]) expect(sizeOfShares(sharesOf(size))).toBe(size);
  });

  it('keep a size of twenty decimals unchanged', () => {
    for (const text of ['0.010000000000000002', '0.00000100000000000002']) {
      expect(sharesOf(parseSize(text)!)).toBe(Number(text));
    }
  });

  it('refuse values that a double cannot represent exactly, from 2^53 on', () => {
    expect(parseDecimal('9007199254740991', 0)).toBe(Number.MAX_SAFE_INTEGER);
    expect([parseDecimal('9007199254740992', 0), parseSize('9007199254.740993')]).toEqual([null, null]);
  });
});

describe('mid and spread', () => {
  it('need both sides', () => {
    expect([midOf(5300, 5400), spreadOf(5300, 5400)]).toEqual([0.535, 0.01]);
    expect([midOf(null, 5400), midOf(5300, null), spreadOf(null, null)]).toEqual([null, null, null]);
  });
});

describe('multiplyDecimals', () => {
  it.each([
    ['60.5', '0.01', '0.605'],
    ['0.01', '0.01', '0.0001'],
    ['30', '0.1', '3'],
    ['1.10', '1', '1.1'],
    ['0', '0.01', '0'],
    ['12', '1000', '12000'],
    ['99999999.99', '0.1', '9999999.999'],
    ['007', '0.10', '0.7'],
  ])('%s x %s is %s', (a, b, product) => {
    expect(multiplyDecimals(a, b)).toBe(product);
    expect(multiplyDecimals(b, a)).toBe(product);
  });

  it('rounds no digit', () => {
    const decimal = fc.tuple(fc.nat(), fc.nat(8)).map(([digits, decimals]) => ({
      text: formatDecimal(digits, decimals),
      scaled: BigInt(digits) * 10n ** BigInt(8 - decimals),
    }));
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const [whole = '', fraction = ''] = multiplyDecimals(a.text, b.text).split('.');
        expect(BigInt(whole + fraction.padEnd(16, '0'))).toBe(a.scaled * b.scaled);
      }),
    );
  });

  it.each(['', '.5', '1.', '-1', '1e3', ' 1'])('refuses %j', (text) => {
    expect(() => multiplyDecimals(text, '1')).toThrow(new RangeError(`not a plain decimal: ${text}`));
  });
});
