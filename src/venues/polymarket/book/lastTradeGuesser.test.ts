import { expect, it } from 'vitest';
import { LastTradeGuesser } from './lastTradeGuesser.ts';

it('tries the first twelve prices of an action, and none of them after it', () => {
  const guesses = new LastTradeGuesser();
  guesses.replaced('0.500');
  for (let price = 1; price <= 14; price++) guesses.note(price * 100);
  guesses.note(100);
  const prices = [...guesses.texts('0.300')].slice(2);
  expect(prices).toEqual(Array.from({ length: 12 }, (_, at) => (0.01 * (at + 1)).toFixed(3)));
  guesses.clear();
  expect([...guesses.texts('0.300')]).toEqual(['0.500', '0.700']);
});
