import { expect, test } from 'vitest';
import { START_MS } from '../../../test/support/tapes.ts';
import type { Strategy } from '../../schema/strategy.ts';
import { wholeWindows } from './divergence.ts';
import type { PaperStrategy } from './strategies.ts';

const MINUTE_MS = 60_000;
const THRESHOLD: Strategy = { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' };
/** It reads the volatility of a token over one window in each list of conditions. */
const VOLATILITIES = ([entry, profit, loss]: readonly [number, number, number]): Strategy => {
  const over = (window_s: number) =>
    ({ metric: 'token_volatility', operator: 'above', value: 0.1, window_s }) as const;
  const lists = { entry: [over(entry)], take_profit: [over(profit)], stop_loss: [over(loss)] };
  return { type: 'condition_based', side: 'buy_yes', max_trades_per_market: 1, ...lists };
};
/** The volatility of the underlying is known before the strategy starts. */
const UNDERLYING: Strategy = {
  ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 1, take_profit: [], stop_loss: [] },
  entry: [{ metric: 'underlying_volatility', operator: 'above', value: 0.1, window_s: 3_600 }],
};
const REVERSION = (lookback: number): Strategy => ({ type: 'mean_reversion', lookback, z_threshold: 2 });

test.each([
  ['it is active from the start', THRESHOLD, 0, 5],
  ['it is active one millisecond later', THRESHOLD, 1, 10],
  ['it has seen its whole lookback', REVERSION(120), -121_000, 5],
  ['it has seen less than its lookback', REVERSION(120), -120_999, 10],
  ['its lookback is an hour', REVERSION(3_600), -10_000, 65],
  ['it has seen the longest window, of its entry', VOLATILITIES([120, 60, 90]), -121_000, 5],
  ['it has seen less than the longest window, of its entry', VOLATILITIES([120, 60, 90]), -120_999, 10],
  ['it has seen the longest window, of its profit', VOLATILITIES([60, 120, 90]), -121_000, 5],
  ['it has seen less than the longest window, of its profit', VOLATILITIES([60, 120, 90]), -120_999, 10],
  ['it has seen the longest window, of its loss', VOLATILITIES([60, 90, 120]), -121_000, 5],
  ['it has seen less than the longest window, of its loss', VOLATILITIES([60, 90, 120]), -120_999, 10],
  ['it reads the volatility of the underlying', UNDERLYING, 0, 5],
])('the first compared window, if %s', (_, strategy, fromMs, endMinute) => {
  const of = { strategy, universe: { ticker: 'BTC', event_type: '5m' }, entriesUntilMs: null };
  const live = { ...of, activeFromMs: START_MS + fromMs } as PaperStrategy;
  expect(wholeWindows(live, START_MS + 90 * MINUTE_MS)).toEqual({
    startMs: START_MS + endMinute * MINUTE_MS,
    endMs: START_MS + 90 * MINUTE_MS,
  });
});
