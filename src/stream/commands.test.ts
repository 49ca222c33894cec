import { expect, test } from 'vitest';
import { EVENT_TYPES } from '../schema/market.ts';
import { CommandError, parseCommand } from './commands.ts';

const subscribe = (names: object) => JSON.stringify({ type: 'subscribe', ...names });

test.each([
  ['assets alone', { tickers: ['HYPE'] }, ['HYPE'], EVENT_TYPES],
  ['windows alone: of every followed asset', { event_types: ['5m'] }, ['ETH', 'HYPE'], ['5m']],
  ['both', { tickers: ['ETH'], event_types: ['1h'] }, ['ETH'], ['1h']],
  ['neither', { market_ids: ['0x1'] }, [], []],
])('names %s', (_shows, names, tickers, eventTypes) => {
  expect(parseCommand(subscribe(names), ['ETH', 'HYPE'])).toMatchObject({
    selection: { tickers, eventTypes },
  });
});

test('refuses an asset that the service does not follow', () => {
  const text = subscribe({ tickers: ['XRP'] });
  expect(() => parseCommand(text, ['ETH', 'HYPE'])).toThrow(new CommandError('unknown ticker XRP'));
  expect(parseCommand(text, ['XRP'])).toMatchObject({ selection: { tickers: ['XRP'] } });
});

test('accepts 500 names in a list, and no more', () => {
  const ids = Array.from({ length: 501 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`);
  const command = parseCommand(subscribe({ market_ids: ids.slice(1) }), ['ETH']);
  expect(command).toMatchObject({ selection: { marketIds: ids.slice(1) } });
  expect(() => parseCommand(subscribe({ market_ids: ids }), ['ETH'])).toThrow(
    new CommandError('market_ids has more than 500 names'),
  );
});
