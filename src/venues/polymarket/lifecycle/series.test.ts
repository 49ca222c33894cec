import { expect, test } from 'vitest';
import { InvalidInputError } from '../../../runtime/errors.ts';
import { DEFAULT_TICKERS, EVENT_TYPES, TICKERS } from '../../../schema/market.ts';
import { seriesOf, seriesSlugOf } from './series.ts';
import { parseSlug, seriesSlug, slugOf, windowAt } from './windows.ts';

const AT = Date.UTC(2026, 10, 20, 12, 2);

test('eight assets have 38 series, with irregular names for Solana and Dogecoin', () => {
  const slugs = seriesOf(TICKERS).map(({ ticker, eventType }) => seriesSlug(ticker, eventType));
  const short = ['btc', 'eth', 'sol', 'xrp', 'doge', 'bnb', 'hype', 'zec'];
  const kind = (names: readonly string[], suffix: string) =>
    names.map((name) => `${name}-up-or-down-${suffix}`);
  expect(slugs).toEqual([
    ...kind(short, '5m'),
    ...kind(short, '15m'),
    ...kind(['btc', 'eth', 'solana', 'xrp', 'doge', 'bnb', 'hype'], 'hourly'),
    ...kind(short, '4h'),
    ...kind(['btc', 'eth', 'solana', 'xrp', 'dogecoin', 'bnb', 'hype'], 'daily'),
  ]);
  expect(slugs).toHaveLength(38);
  expect(seriesOf(DEFAULT_TICKERS)).toHaveLength(15);
});

test('ZEC has no hours and days', () => {
  expect(EVENT_TYPES.map((eventType) => seriesSlugOf('ZEC', eventType))).toEqual([
    'zec-up-or-down-5m',
    'zec-up-or-down-15m',
    null,
    'zec-up-or-down-4h',
    null,
  ]);
  for (const eventType of ['1h', 'daily_up_down'] as const) {
    const refusal = new InvalidInputError(`the venue has no ${eventType} windows of ZEC`);
    expect(() => seriesSlug('ZEC', eventType)).toThrow(refusal);
    expect(() => slugOf('ZEC', eventType, windowAt(eventType, AT))).toThrow(refusal);
  }
});

test('the slug of every series names its own window', () => {
  for (const { ticker, eventType } of seriesOf(TICKERS)) {
    const window = windowAt(eventType, AT);
    const parsed = parseSlug(slugOf(ticker, eventType, window));
    expect(parsed).toMatchObject({ ticker, eventType, windows: [window] });
  }
});
