import { expect, it } from 'vitest';
import { CLOCK_TIME_SPACE, CLOCK_TIMES } from '../../web/src/charts/clockTimes.ts';

/** Of a digit or colon at the charts' 12 px, in the widest of the fonts that `system-ui` stands for. */
const CHARACTER_PX = 8;
/** Between two labels. */
const APART_PX = 8;

it('a label of a time fits between two marks of the axis, the seconds of a five-minute chart too', () => {
  const texts = CLOCK_TIMES.map((row) => String(row[1]));
  expect(texts).toEqual(['{DD} {MMM}', '{HH}:{mm}', '{HH}:{mm}:{ss}']);
  // Each part is two digits when drawn, the month three letters.
  const lengths = texts.map((text) => text.replace('{MMM}', 'Nov').replaceAll(/\{\w+\}/g, '00').length);
  expect(CLOCK_TIME_SPACE).toBeGreaterThanOrEqual(Math.max(...lengths) * CHARACTER_PX + APART_PX);
});
