import { expect, it } from 'vitest';
import { pnlText } from '../../web/src/trades/pnlText.ts';

it.each([
  ['one that was closed', [-1.234], 'one trade, −$1.23'],
  ['closed ones', [2, -0.5], '2 trades, $1.50'],
  ['held ones: their P&L is not known, so it is not 0', [null, null], '2 trades, none closed'],
  ['both', [2, null, -3], '3 trades, −$1.00 of the 2 closed'],
])('the P&L of %s', (_what, pnls, text) => {
  expect(pnlText(pnls.map((net_pnl) => ({ net_pnl })))).toBe(text);
});
