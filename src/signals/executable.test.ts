import { describe, expect, it } from 'vitest';
import { book } from '../../test/support/records.ts';
import { TakerFee } from '../core/fees.ts';
import { executableFill } from './executable.ts';

const SHARE = 1_000_000;
const FEE = new TakerFee({ rate: 0, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });
const YES = {
  token: 'yes',
  levels: [
    { price: 4_000, size: SHARE },
    { price: 4_200, size: 2 * SHARE },
  ],
} as const;
const NO = { token: 'no', levels: [{ price: 5_000, size: 3 * SHARE }] } as const;
const NOTHING = { afterMs: 500, fillPrice: null, size: 0 };

type Asks = readonly (readonly [number, number])[];
const traded = (yes: Asks, no: Asks = []) => ({ trusted: true, yes: book([], yes), no: book([], no) });
const fillOf = (shown: Parameters<typeof executableFill>[0], ...legs: readonly (typeof YES | typeof NO)[]) =>
  executableFill(shown, { legs, fee: FEE, afterMs: 500 });

describe('a detection bought again later', () => {
  it('fills nothing without a book, and none on an untrusted one', () => {
    expect(fillOf(null, YES)).toEqual(NOTHING);
    expect(fillOf({ ...traded([[4_000, SHARE]]), trusted: false }, YES)).toEqual(NOTHING);
  });

  it('fills no more than all detected levels offered, at their worst price at most', () => {
    const deep = traded([
      [4_100, 2 * SHARE],
      [4_200, 9 * SHARE],
    ]);
    const fillPrice = (2 * 4_100 + 4_200) / 3 / 10_000;
    expect(fillOf(deep, YES)).toEqual({ afterMs: 500, fillPrice, size: 3 });
    expect(fillOf(traded([[4_201, SHARE]]), YES)).toEqual(NOTHING);
  });

  it('of a pair fills as many shares as the shorter leg has, each at its own limit', () => {
    const yes: Asks = [
      [4_000, SHARE],
      [4_200, SHARE],
    ];
    expect(fillOf(traded(yes, [[5_000, SHARE]]), YES, NO)).toEqual({ afterMs: 500, fillPrice: 0.9, size: 1 });
    expect(fillOf(traded(yes), YES, NO)).toEqual(NOTHING);
    expect(fillOf(traded(yes, [[5_001, SHARE]]), YES, NO)).toEqual(NOTHING);
  });
});
