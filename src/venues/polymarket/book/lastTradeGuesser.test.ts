import { expect, it } from 'vitest';
import { LastTradeGuesser, tradePriceText } from './lastTradeGuesser.ts';

it('tries the first twelve prices of an action, and none of them after it', () => {
  const guesses = new LastTradeGuesser();
  guesses.replaced('0.500');
  // A price that the action touches twice is one price.
  for (const price of [1, 1, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]) guesses.note(price * 100);
  const prices = [...guesses.texts('0.300')].slice(2);
  expect(prices).toEqual(Array.from({ length: 12 }, (_, at) => (0.01 * (at + 1)).toFixed(3)));
  expect([...guesses.texts('0.020')].slice(2), 'the known price is no guess').toEqual(prices.toSpliced(1, 1));
  guesses.clear();
  expect([...guesses.texts('0.300')]).toEqual(['0.500', '0.700']);
});

it.each([
  [5000, '0.500'],
  [1250, '0.125'],
  [1255, '0.1255'],
  [1, '0.0001'],
  [0, '0.000'],
  [10_000, '1.000'],
])('a trade of %i ticks is %s in a hash', (ticks, text) => {
  expect(tradePriceText(ticks)).toBe(text);
});
