import { describe, expect, test } from 'vitest';
import { runOrderSequence } from '../../test/support/orderSequences.ts';
import { Ledger } from './ledger.ts';

/** The suite runs a sample; `ORDER_SEQUENCES=1000000` runs them all. */
const SEQUENCES = Number(process.env.ORDER_SEQUENCES ?? 5_000);

describe('a ledger', () => {
  test('moves money without creating any', () => {
    const ledger = new Ledger(100);
    ledger.buy({ principal: 60, fee: 3 });
    expect([ledger.cash, ledger.positions, ledger.fees, ledger.won]).toEqual([37, 60, 3, 0]);
    ledger.close({ proceeds: 50, fee: 2, cost: 40 });
    expect([ledger.cash, ledger.positions, ledger.fees, ledger.won]).toEqual([85, 20, 5, 10]);
    const posting = ledger.close({ proceeds: 0, fee: 0, cost: 20 });
    expect([ledger.cash, ledger.positions, ledger.won]).toEqual([85, 0, -10]);
    ledger.reverse(posting);
    expect([ledger.cash, ledger.positions, ledger.won]).toEqual([85, 20, 10]);
  });

  test('refuses amounts that are not whole or do not balance', () => {
    const ledger = new Ledger();
    expect(() => ledger.buy({ principal: 0.5, fee: 0 })).toThrow(
      new RangeError('not a whole amount of micro-USD: -0.5'),
    );
    expect(() => ledger.buy({ principal: 2 ** 53, fee: 0 })).toThrow(
      new RangeError(`not a whole amount of micro-USD: ${-(2 ** 53)}`),
    );
    for (const part of ['cash', 'positions', 'fees', 'won'] as const) {
      const posting = { cash: 0, positions: 0, fees: 0, won: 0, [part]: -1 };
      const reversed = { cash: -0, positions: -0, fees: -0, won: -0, [part]: 1 };
      const message = `not balanced: ${JSON.stringify(reversed)}`;
      expect(() => ledger.reverse(posting)).toThrow(new RangeError(message));
      expect(() => ledger.reverse({ ...posting, [part]: 1 })).toThrow(/^not balanced: /);
    }
    expect(ledger.cash).toBe(0);
  });

  test('refuses a deposit that is not whole', () => {
    expect(() => new Ledger(0.5)).toThrow(new RangeError('not a whole amount of micro-USD: 0.5'));
  });

  test.each(['cash', 'positions', 'fees', 'won'] as const)('refuses %s beyond 2^53', (part) => {
    const ledger = new Ledger();
    const none = { cash: 0, positions: 0, fees: 0, won: 0 };
    const [first, second] = (['cash', 'fees', 'won'] as const).filter((name) => name !== part);
    const post = (amount: number, from = first) =>
      ledger.reverse({ ...none, [part]: -amount, [from as string]: amount });
    post(Number.MAX_SAFE_INTEGER);
    expect(() => post(1, second)).toThrow(new RangeError(`not a whole amount of micro-USD: ${2 ** 53}`));
  });
});

test(`${SEQUENCES.toLocaleString('en')} random sequences of orders conserve money and displayed size`, {
  timeout: 1_800_000,
}, () => {
  for (let seed = 0; seed < SEQUENCES; seed++) runOrderSequence(seed);
});
