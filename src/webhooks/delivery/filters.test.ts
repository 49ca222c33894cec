import { expect, it } from 'vitest';
import { InvalidInputError } from '../../runtime/errors.ts';
import { DEFAULT_TICKERS } from '../../schema/market.ts';
import { eventsText, filtersSince, tickersText, tiersText } from './filters.ts';

it('stores a filter in the order of the enumeration, each name once', () => {
  expect(tiersText(['endgame', 'logical', 'endgame'])).toBe('["logical","endgame"]');
  expect(tiersText(null)).toBe('["logical","endgame"]');
  expect(tickersText(['SOL', 'BTC'], DEFAULT_TICKERS)).toBe('["BTC","SOL"]');
  expect(tickersText(null, DEFAULT_TICKERS)).toBeNull();
  expect(eventsText(['system.lag', 'opportunity'])).toBe('["opportunity","system.lag"]');
});

it.each([
  ['no tier', () => tiersText([]), 'tiers must be some of logical, endgame'],
  ['an unknown tier', () => tiersText(['stable' as 'logical']), 'tiers must be some of logical, endgame'],
  [
    'one unknown tier of two',
    () => tiersText(['logical', 'x' as 'logical']),
    'tiers must be some of logical, endgame',
  ],
  [
    'an asset that is not followed',
    () => tickersText(['XRP'], DEFAULT_TICKERS),
    'tickers must be some of BTC, ETH, SOL',
  ],
  [
    'no event',
    () => eventsText([]),
    'events must be some of opportunity, system.gap, system.disk, system.lag, system.webhook_paused, system.backup',
  ],
])('refuses %s', (_shows, text, message) => {
  expect(text).toThrow(new InvalidInputError(message));
});

it('notes since when each added name is wanted, and forgets names that are removed', () => {
  const events = '["opportunity"]';
  const before = { tiers: '["logical"]', tickers: '["BTC","SOL"]', events, filters_since: '{"SOL":5}' };
  const after = { tiers: '["logical","endgame"]', tickers: '["ETH","SOL"]', events };
  expect(JSON.parse(filtersSince(before, after, 9))).toEqual({ endgame: 9, ETH: 9, SOL: 5 });
  const all = { ...after, tickers: null };
  expect(JSON.parse(filtersSince(before, all, 9))).toEqual({
    ...{ endgame: 9, ETH: 9, SOL: 5, XRP: 9, DOGE: 9, BNB: 9, HYPE: 9, ZEC: 9 },
  });
  const hadAll = { ...before, tickers: null, filters_since: '{}' };
  expect(JSON.parse(filtersSince(hadAll, { ...after, events: '["system.lag"]' }, 9))).toEqual({
    ...{ endgame: 9, 'system.lag': 9 },
  });
});
