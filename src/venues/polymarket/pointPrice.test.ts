import { expect, test } from 'vitest';
import { VenueMessageError } from '../../runtime/errors.ts';
import { chainlinkPrice, decimalPrice, isOtherPrice } from './pointPrice.ts';

test.each<[string, string | undefined, number, number]>([
  ['an integer of 18 decimals', '78803715261094101516288', 78803.7152610941, 78803.7152610941],
  ['an integer below one', '515000000000000000', 0.515, 0.515],
  ['an integer of fewer than 18 digits', '2500000000000000', 0.0025, 0.0025],
  ['a decimal', '78794.15450441', 78794.15450441, 78794.15450441],
  ['no text', undefined, 78794.15, 78794.15],
  ['a text that the number rounds', '78794.154504419', 78794.1545, 78794.154504419],
])('the price of a Chainlink point with %s', (_, text, value, price) => {
  expect(chainlinkPrice(text, value)).toBe(price);
});

test.each<[string, string | undefined, number, number]>([
  ['a decimal', '0.515', 0.515, 0.515],
  ['a whole number, which is not scaled', '97000', 97_000, 97_000],
  ['no text', undefined, 0.5, 0.5],
])('the price of a point with %s', (_, text, value, price) => {
  expect(decimalPrice(text, value)).toBe(price);
});

test.each<[string, typeof decimalPrice, string, number]>([
  ['another price', chainlinkPrice, '78803715261094101516288', 78803.8],
  ['another price', decimalPrice, '0.515', 0.516],
  ['no number', decimalPrice, '5e-1', 0.5],
  ['no number', chainlinkPrice, '', 0.5],
  ['a sign', decimalPrice, '-1.5', -1.5],
  ['no number beside nothing', decimalPrice, 'x', 0],
  ['a number that is missing', decimalPrice, '0.5', Number.NaN],
])('a text that is %s is refused', (_, price, text, value) => {
  const error = new VenueMessageError(`full_accuracy_value ${text} beside value ${value}`);
  expect(() => price(text, value)).toThrow(error);
});

test.each([
  ['equal', 97_000, 97_000, false],
  ['0.9 billionths apart', 97_000 * (1 + 0.9e-9), 97_000, false],
  ['1.1 billionths apart', 97_000 * (1 + 1.1e-9), 97_000, true],
  ['1.1 billionths below', 97_000 * (1 - 1.1e-9), 97_000, true],
  ['no number', Number.NaN, 97_000, true],
])('two prices that are %s are different ones: %s beside %s, %s', (_, price, other, isOther) => {
  expect(isOtherPrice(price, other)).toBe(isOther);
});
