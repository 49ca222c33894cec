import { expect, it } from 'vitest';
import { STOPS, stopOf, timeBefore } from '../../web/src/pages/calibration/minutesBefore.ts';

it('the slider covers the range of the API in order, and each stop maps to itself', () => {
  expect([STOPS[0], STOPS.at(-1)]).toEqual([0, 1440]);
  expect([...STOPS].sort((a, b) => a - b)).toEqual(STOPS);
  expect(STOPS.map(stopOf)).toEqual(STOPS.map((_, index) => index));
});

it.each([
  [100, 90],
  [0.2, 0],
  [1300, 1440],
  [6.25, 5],
])('%d minutes, which an address may say, are shown at %d', (minutes, shown) => {
  expect(STOPS[stopOf(minutes)]).toBe(shown);
});

it.each([
  [0, '0 min'],
  [1.5, '1.5 min'],
  [60, '1 h'],
  [90, '90 min'],
  [1440, '24 h'],
])('%d minutes read %s', (minutes, text) => {
  expect(timeBefore(minutes)).toBe(text);
});
