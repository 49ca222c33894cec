import { describe, expect, it } from 'vitest';
import { type Retention, retention } from '../../config/values.ts';
import { type DatasetDay, daysToThin, forecastDisk, judgedTime, planRemovals } from './removals.ts';

const NOW_MS = Date.parse('2026-11-23T12:00:00Z');
const day = (table: DatasetDay['table'], date: string, bytes = 10): DatasetDay => ({
  table,
  day: date,
  bytes,
});
const DAYS = [
  day('quotes', '2026-11-01'),
  day('books', '2026-11-01', 100),
  day('books', '2026-11-10', 100),
  day('trades', '2026-11-19'),
  day('books', '2026-11-20', 100),
  day('books', '2026-11-22', 100),
  day('books', '2026-11-23', 100),
];

function plan(periods: Retention, budgetBytes: number | null = null, openSinceMs = NOW_MS) {
  const options = { retention: periods, budgetBytes, otherBytes: 5, nowMs: NOW_MS, openSinceMs };
  const { removals, overBudgetBytes } = planRemovals(DAYS, options);
  return { removed: removals.map((one) => `${one.table} ${one.day}`), overBudgetBytes };
}

describe('what retention removes', () => {
  it.each([
    ['nothing without a period or a budget', {}, null, []],
    ['days that ended before the period', { books: 13 }, null, ['books 2026-11-01']],
    [
      'not a day that is partly within it',
      { books: 12 },
      null,
      ['books 2026-11-01', 'books 2026-11-10'].slice(0, 2),
    ],
    ['nothing of a dataset kept for ever', { books: null, quotes: 2 }, null, ['quotes 2026-11-01']],
    [
      'never the current and the previous day',
      { books: 2 },
      0,
      ['books 2026-11-01', 'quotes 2026-11-01', 'books 2026-11-10', 'trades 2026-11-19', 'books 2026-11-20'],
    ],
    ['the oldest and largest first for a budget', {}, 430, ['books 2026-11-01']],
    ['no more than the budget needs', {}, 425, ['books 2026-11-01']],
    [
      'not what is kept for ever, for a budget',
      { books: null },
      100,
      ['quotes 2026-11-01', 'trades 2026-11-19'],
    ],
  ] as const)('%s', (_, retention, budgetBytes, removed) => {
    expect(plan(retention, budgetBytes).removed).toEqual(removed);
  });

  it('a day that ended exactly as long ago as its period', () => {
    const atMidnight = { retention: { books: 3 }, budgetBytes: null, otherBytes: 0 };
    const nowMs = Date.parse('2026-11-24T00:00:00Z');
    const { removals } = planRemovals(DAYS, { ...atMidnight, nowMs, openSinceMs: nowMs });
    expect(removals.map((one) => one.day)).toEqual(['2026-11-01', '2026-11-10', '2026-11-20']);
  });

  it('never rows of a window that is open', () => {
    expect(plan({ books: 2 }, null, Date.parse('2026-11-10T23:00:00Z')).removed).toEqual([
      'books 2026-11-01',
    ]);
  });

  it('names the bytes that nothing may be removed for', () => {
    expect(plan({ books: null }, 100)).toMatchObject({ overBudgetBytes: 405 });
    expect(plan({}, 1_000)).toEqual({ removed: [], overBudgetBytes: 0 });
  });
});

it.each([
  ['the clock', NOW_MS, NOW_MS],
  ['the clock where it was set back', 0, 0],
  [
    'the newest recorded day where the clock was set ahead',
    NOW_MS + 365 * 86_400_000,
    Date.parse('2026-11-23T23:59:59.999Z'),
  ],
])('ages are judged by %s', (_, clockMs, judgedMs) => {
  expect(judgedTime(DAYS, clockMs)).toBe(judgedMs);
});

describe('the forecast', () => {
  it('divides free space by the mean of the last complete days', () => {
    expect(forecastDisk(DAYS, { freeBytes: 700, nowMs: NOW_MS })).toEqual({
      bytesPerDay: 70,
      fullAtMs: NOW_MS + 10 * 86_400_000,
    });
  });

  it('counts seven complete days, also at midnight', () => {
    const week = [15, 16, 17, 18, 19, 20, 21, 22].map((date) => day('books', `2026-11-${date}`, date));
    const forecast = forecastDisk(week, { freeBytes: 0, nowMs: Date.parse('2026-11-23T00:00:00Z') });
    expect(forecast.bytesPerDay).toBe((16 + 17 + 18 + 19 + 20 + 21 + 22) / 7);
  });

  it.each([
    [
      'on the first day, in spite of rows with the time of a change before',
      [
        ['2026-11-22', 84],
        ['2026-11-23', 12_000],
      ],
    ],
    [
      'on the second day: the first was recorded in part',
      [
        ['2026-11-22', 900],
        ['2026-11-23', 500],
      ],
    ],
  ] as const)('is unknown %s', (_when, sizes) => {
    const days = sizes.map(([date, bytes]) => day('books', date, bytes));
    expect(forecastDisk(days, { freeBytes: 1_000, nowMs: NOW_MS }).bytesPerDay).toBeNull();
  });

  it('leaves out the day on which recording began, once there is a complete one', () => {
    const sizes = [
      ['2026-11-20', 5],
      ['2026-11-21', 200],
      ['2026-11-22', 1_000],
      ['2026-11-23', 500],
    ] as const;
    const days = sizes.map(([date, bytes]) => day('books', date, bytes));
    expect(forecastDisk(days, { freeBytes: 1_000, nowMs: NOW_MS }).bytesPerDay).toBe(1_000);
  });

  it('is unknown without a complete day', () => {
    const today = [day('books', '2026-11-23')];
    expect(forecastDisk(today, { freeBytes: 1, nowMs: NOW_MS })).toEqual({
      bytesPerDay: null,
      fullAtMs: null,
    });
  });
});

describe('thinned rows', () => {
  const thinned = (periods: Retention, openSinceMs = NOW_MS) => {
    const { removals } = planRemovals(DAYS, {
      ...{ retention: periods, budgetBytes: null, otherBytes: 5, nowMs: NOW_MS, openSinceMs },
    });
    return daysToThin(DAYS, { retention: periods, removals, nowMs: NOW_MS, openSinceMs });
  };

  it.each([
    ['nothing unless asked', { books: 13 }, NOW_MS, []],
    ['days of books that ended before the age', { books_thinned: 3 }, NOW_MS, ['2026-11-01', '2026-11-10']],
    ['no day that is removed anyway', { books_thinned: 3, books: 13 }, NOW_MS, ['2026-11-10']],
    ['no day of an open window', { books_thinned: 3 }, Date.parse('2026-11-05T00:00:00Z'), ['2026-11-01']],
  ])('%s', (_name, periods, openSinceMs, days) => {
    expect(thinned(periods, openSinceMs)).toEqual(days);
  });
});

describe('UNDERROUND_RETENTION', () => {
  it('reads periods and the age of thinning', () => {
    expect(retention.parse('books_thinned:14d, books:90d,quotes:forever')).toEqual({
      ...{ books_thinned: 14, books: 90, quotes: null },
    });
  });

  it.each([
    'books_thinned:forever',
    'books_thinned:1d',
    'books_thinned:3d,books_thinned:4d',
    'quotes_thinned:3d',
  ])('refuses %s', (text) => {
    expect(retention.safeParse(text).error?.issues[0]?.message).toMatch(/^must be a list such as /);
  });
});
