import { afterEach, expect, test } from 'vitest';
import { type TimeTick, timeTicks } from '../../web/src/charts/timeTicks.ts';
import { momentText, zoneName } from '../../web/src/charts/timeZone.ts';

const zoneOfProcess = process.env.TZ;
afterEach(() => {
  process.env.TZ = zoneOfProcess;
});

const secondsOf = (time: string) => Date.parse(time) / 1000;
const ticksOf = (
  from: string,
  { seconds, width = 700, zone = 'UTC' }: { seconds: number; width?: number; zone?: 'UTC' | 'local' },
) => timeTicks({ from: secondsOf(from), to: secondsOf(from) + seconds }, { width, fontPx: 12, zone });
const textsOf = (ticks: readonly TimeTick[]) => ticks.map(({ text }) => text);

test('a five-minute window has a label each minute, the day and the zone under the first', () => {
  const ticks = ticksOf('2026-11-23T11:40:00Z', { seconds: 600 });
  expect(textsOf(ticks)).toEqual([
    '11:40',
    '11:41',
    '11:42',
    '11:43',
    '11:44',
    '11:45',
    '11:46',
    '11:47',
    '11:48',
    '11:49',
    '11:50',
  ]);
  expect(ticks.map(({ below }) => below)).toEqual(['23 Nov, UTC', ...Array(10).fill(null)]);
});

test.each([
  ['5m', 600],
  ['15m', 1_200],
  ['1h', 3_900],
  ['4h', 14_700],
  ['1d', 86_700],
  ['a part of a second', 0.4],
  ['some seconds', 7],
  ['a month', 30 * 86_400],
])('no two labels of %s meet, whatever the width and the start', (_name, seconds) => {
  for (const width of [120, 230, 560, 900, 1800]) {
    for (const start of ['2026-11-23T11:40:00Z', '2026-11-23T23:58:30Z', '2026-11-22T17:00:01.300Z']) {
      const ticks = ticksOf(start, { seconds, width });
      const wide = (text: string | null) => (text?.length ?? 0) * 12 * 0.64;
      for (const row of ['text', 'below'] as const) {
        const shown = ticks.filter((tick) => tick[row] !== null);
        shown.slice(1).forEach((tick, index) => {
          const before = shown[index] as TimeTick;
          const apart = ((tick.time - before.time) / seconds) * width;
          expect(apart, `${before[row]} and ${tick[row]} at ${width}`).toBeGreaterThan(
            (wide(before[row]) + wide(tick[row])) / 2,
          );
        });
      }
    }
  }
});

test('a new day is named under its first label', () => {
  const ticks = ticksOf('2026-11-23T22:00:00Z', { seconds: 14_400 });
  expect(ticks.find(({ text }) => text === '00:00')).toMatchObject({
    time: secondsOf('2026-11-24T00:00:00Z'),
    below: '24 Nov',
  });
});

test('local labels are round on the local clock, also with a half hour and after a change of the clocks', () => {
  process.env.TZ = 'Asia/Kolkata';
  const [first] = ticksOf('2026-11-23T11:45:00Z', { seconds: 14_400, zone: 'local' });
  expect(first).toEqual({
    time: secondsOf('2026-11-23T12:00:00Z'),
    text: '17:30',
    below: '23 Nov, UTC+5:30',
  });
  process.env.TZ = 'Europe/Berlin';
  const texts = textsOf(ticksOf('2026-10-24T22:00:00Z', { seconds: 6 * 3600, width: 500, zone: 'local' }));
  // Six hours after midnight of summer time it is five o'clock.
  expect(texts.slice(0, 2)).toEqual(['00:00', '01:00']);
  expect(texts.at(-1)).toBe('05:00');
});

test('an hour that the clock shows twice has its labels twice, the second time with another zone', () => {
  process.env.TZ = 'America/New_York';
  const shown = (from: string, seconds: number, width = 700) =>
    ticksOf(from, { seconds, width, zone: 'local' }).map(({ time, text, below }) => [
      new Date(time * 1000).toISOString().slice(11, 16),
      text,
      below,
    ]);
  expect(shown('2026-11-01T05:50:00Z', 1_200, 300)).toEqual([
    ['05:50', '01:50', '1 Nov, UTC−4'],
    ['05:55', '01:55', null],
    ['06:00', '01:00', 'UTC−5'],
    ['06:05', '01:05', null],
    ['06:10', '01:10', null],
  ]);
  expect(shown('2026-11-01T03:30:00Z', 6 * 3600)).toEqual([
    ['04:00', '00:00', '1 Nov, UTC−4'],
    ['05:00', '01:00', null],
    ['06:00', '01:00', 'UTC−5'],
    ['07:00', '02:00', null],
    ['08:00', '03:00', null],
    ['09:00', '04:00', null],
  ]);
});

test('an hour that the clock skips has no label', () => {
  process.env.TZ = 'America/New_York';
  const ticks = ticksOf('2026-03-08T04:50:00Z', { seconds: 5 * 3600, width: 500, zone: 'local' });
  expect(ticks.map(({ text, below }) => [text, below])).toEqual([
    ['00:00', '8 Mar, UTC−5'],
    ['01:00', null],
    ['03:00', 'UTC−4'],
    ['04:00', null],
    ['05:00', null],
  ]);
});

test('a time is named with its zone', () => {
  expect(momentText(Date.parse('2026-11-23T11:40:05Z'), 'UTC')).toBe('23 Nov, 11:40:05 UTC');
  process.env.TZ = 'America/New_York';
  expect(zoneName('local', Date.parse('2026-11-23T11:40:05Z'))).toBe('UTC−5');
});
