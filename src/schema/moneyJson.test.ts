import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printJson, roundMoney, withRoundedMoney } from './moneyJson.ts';

test('money prints without floating-point noise, everything else with every digit', () => {
  const body = {
    rows: [{ model_ev_per_share: 0.05 - 0.034909, underlying: 97092.08595175031, slippage: null }],
    total_pnl: [0.1 + 0.2, -1e-12],
    ...{
      fill_price: 0.55,
      model_yes_prob: 1 / 3,
      strike_price: 97029.50000000001,
      fees: '0.30000000000000004',
    },
  };
  expect(printJson(body)).toBe(
    '{"rows":[{"model_ev_per_share":0.015091,"underlying":97092.08595175031,"slippage":null}],"total_pnl":[0.3,0],' +
      '"fill_price":0.55,"model_yes_prob":0.3333333333333333,"strike_price":97029.50000000001,"fees":"0.30000000000000004"}',
  );
});

test('a rounded copy prints unchanged', () => {
  const detection = {
    feePerShare: 0.07 * 0.46 * 0.54,
    evPerShare: 1 - 0.93 - 0.034825,
    legs: [{ price: 4600 }],
  };
  const copy = withRoundedMoney(detection);
  expect(copy).toEqual({ feePerShare: 0.017388, evPerShare: 0.035175, legs: [{ price: 4600 }] });
  expect(JSON.stringify(copy)).toBe(printJson(detection));
});

test('rounding changes an amount by at most half a nano-USD, and keeps one with nine decimals', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e15, max: 1e15 }),
      fc.double({ min: -0.4, max: 0.4, noNaN: true }),
      (nano, noise) => {
        const amount = nano / 1e9;
        expect(roundMoney(amount)).toBe(amount);
        expect(Math.abs(roundMoney(amount + noise / 1e9) - amount)).toBeLessThanOrEqual(1e-9);
        // An exponent also counts as decimals.
        const [, decimals = '', exponent = '0'] =
          /^-?\d+(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(roundMoney(amount + noise / 1e9))) ?? [];
        expect(decimals.length + Number(exponent)).toBeLessThanOrEqual(9);
      },
    ),
  );
});
