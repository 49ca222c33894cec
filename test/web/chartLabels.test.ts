import { expect, it } from 'vitest';

/** Pixels of a digit or colon at the charts' 12 px, in the widest font of `system-ui`. */
const CHARACTER_PX = 8;
/** Pixels between two labels. */
const APART_PX = 8;

it('a time label fits between two marks of the axis, also with the seconds of a five-minute chart', () => {
  const texts = CLOCK_TIMES.map((row) => String(row[1]));
  expect(texts).toEqual(['{DD} {MMM}', '{HH}:{mm}', '{HH}:{mm}:{ss}']);
  // Each part is drawn as two digits, the month as three letters.
  const lengths = texts.map((text) => text.replace('{MMM}', 'Nov').replaceAll(/\{\w+\}/g, '00').length);
  expect(CLOCK_TIME_SPACE).toBeGreaterThanOrEqual(Math.max(...lengths) * CHARACTER_PX + APART_PX);
});
