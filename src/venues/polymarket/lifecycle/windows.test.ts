import { describe, expect, test } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../../../test/support/fixtures.ts';
import { InvalidInputError } from '../../../runtime/errors.ts';
import { DEFAULT_TICKERS, EVENT_TYPES, type EventType, type Ticker } from '../../../schema/market.ts';
import { nextWindow, parseSlug, seriesSlug, slugOf, windowAt } from './windows.ts';

const at = (text: string) => Date.parse(text);
const spelled = (window: { startTimeMs: number; endTimeMs: number }) =>
  [window.startTimeMs, window.endTimeMs].map((ms) => new Date(ms).toISOString().replace(':00.000Z', 'Z'));

describe('windowAt', () => {
  const rows: [string, EventType, string, string, string][] = [
    ['5m on the UTC grid', '5m', '2026-08-16T14:47:12Z', '2026-08-16T14:45Z', '2026-08-16T14:50Z'],
    [
      'a boundary opens the next window',
      '15m',
      '2026-08-16T14:45:00Z',
      '2026-08-16T14:45Z',
      '2026-08-16T15:00Z',
    ],
    ['an hour', '1h', '2026-08-16T18:59:59.999Z', '2026-08-16T18:00Z', '2026-08-16T19:00Z'],
    [
      'trap 3: 4h in summer: UTC multiples of 4',
      '4h',
      '2026-07-01T07:59:00Z',
      '2026-07-01T04:00Z',
      '2026-07-01T08:00Z',
    ],
    [
      'trap 3: 4h in winter: one hour later',
      '4h',
      '2025-12-16T05:00:00Z',
      '2025-12-16T05:00Z',
      '2025-12-16T09:00Z',
    ],
    [
      'trap 3: 4h across spring forward',
      '4h',
      '2026-03-08T05:30:00Z',
      '2026-03-08T05:00Z',
      '2026-03-08T08:00Z',
    ],
    ['trap 3: 4h across fall back', '4h', '2026-11-01T04:30:00Z', '2026-11-01T04:00Z', '2026-11-01T09:00Z'],
    ['4h up to midnight', '4h', '2026-11-02T02:00:00Z', '2026-11-02T01:00Z', '2026-11-02T05:00Z'],
    ['day before noon', 'daily_up_down', '2026-07-01T15:59:00Z', '2026-06-30T16:00Z', '2026-07-01T16:00Z'],
    ['day from noon on', 'daily_up_down', '2026-07-01T16:00:00Z', '2026-07-01T16:00Z', '2026-07-02T16:00Z'],
    ['trap 3: 23 h day', 'daily_up_down', '2026-03-08T05:00:00Z', '2026-03-07T17:00Z', '2026-03-08T16:00Z'],
    ['trap 3: 25 h day', 'daily_up_down', '2026-11-01T05:00:00Z', '2026-10-31T16:00Z', '2026-11-01T17:00Z'],
  ];
  test.each(rows)('%s', (_shows, eventType, time, start, end) => {
    expect(spelled(windowAt(eventType, at(time)))).toEqual([start, end]);
  });
});

test.each(['4h', 'daily_up_down'] as const)('a %s window contains no time that is none', (eventType) => {
  expect(() => windowAt(eventType, Number.NaN)).toThrow(new InvalidInputError('not a time: NaN'));
});

describe('slugs', () => {
  const rows: [string, string, EventType, Ticker, string][] = [
    ['epoch of the start', 'btc-updown-5m-1786891500', '5m', 'BTC', '2026-08-16T14:45:00Z'],
    ['ZEC', 'zec-updown-5m-1786891500', '5m', 'ZEC', '2026-08-16T14:45:00Z'],
    ['an hour of DOGE', 'dogecoin-up-or-down-august-16-2026-2pm-et', '1h', 'DOGE', '2026-08-16T18:00:00Z'],
    ['an hour of HYPE', 'hype-up-or-down-august-16-2026-2pm-et', '1h', 'HYPE', '2026-08-16T18:00:00Z'],
    ['a day of BNB', 'bnb-up-or-down-on-august-16-2026', 'daily_up_down', 'BNB', '2026-08-15T16:00:00Z'],
    ['winter 4h', 'btc-updown-4h-1765861200', '4h', 'BTC', '2025-12-16T05:00:00Z'],
    [
      'hour of the start, New York',
      'bitcoin-up-or-down-august-16-2026-2pm-et',
      '1h',
      'BTC',
      '2026-08-16T18:00:00Z',
    ],
    ['midnight is 12am', 'ethereum-up-or-down-january-1-2026-12am-et', '1h', 'ETH', '2026-01-01T05:00:00Z'],
    ['noon is 12pm', 'solana-up-or-down-july-4-2026-12pm-et', '1h', 'SOL', '2026-07-04T16:00:00Z'],
    [
      'day of the end',
      'solana-up-or-down-on-november-20-2026',
      'daily_up_down',
      'SOL',
      '2026-11-19T17:00:00Z',
    ],
  ];
  test.each(rows)('%s: %s', (_shows, slug, eventType, ticker, start) => {
    const window = windowAt(eventType, at(start));
    expect(window.startTimeMs).toBe(at(start));
    expect(slugOf(ticker, eventType, window)).toBe(slug);
    expect(parseSlug(slug)).toEqual({ ticker, eventType, windows: [window], yearless: false });
  });

  test('parses every window of a year from its own slug, adjacent to the next', () => {
    for (const eventType of EVENT_TYPES) {
      let window = windowAt(eventType, at('2026-01-01T00:00:00Z'));
      const steps = eventType === '5m' || eventType === '15m' ? 500 : 9000;
      for (let i = 0; i < steps && window.startTimeMs < at('2027-01-01T00:00:00Z'); i++) {
        const parsed = parseSlug(slugOf('ETH', eventType, window));
        expect(parsed?.windows).toContainEqual(window);
        const next = nextWindow(eventType, window);
        expect(next.startTimeMs).toBe(window.endTimeMs);
        window = next;
      }
    }
  });

  test('returns two windows for the label of the repeated hour', () => {
    const parsed = parseSlug('bitcoin-up-or-down-november-1-2026-1am-et');
    expect(parsed?.windows.map(spelled)).toEqual([
      ['2026-11-01T05:00Z', '2026-11-01T06:00Z'],
      ['2026-11-01T06:00Z', '2026-11-01T07:00Z'],
    ]);
  });

  test('returns a grid window and a 4-hour window for a 4h slug across a clock change', () => {
    expect(parseSlug(`sol-updown-4h-${at('2026-11-01T04:00:00Z') / 1000}`)?.windows.map(spelled)).toEqual([
      ['2026-11-01T04:00Z', '2026-11-01T09:00Z'],
      ['2026-11-01T04:00Z', '2026-11-01T08:00Z'],
    ]);
    // Inside the longer window there is no start on the grid.
    expect(parseSlug(`sol-updown-4h-${at('2026-11-01T06:00:00Z') / 1000}`)?.windows.map(spelled)).toEqual([
      ['2026-11-01T06:00Z', '2026-11-01T10:00Z'],
    ]);
  });

  test('completes a label without a year with the nearest one, and returns null without a hint', () => {
    const slug = 'bitcoin-up-or-down-december-31-11pm-et';
    const parsed = parseSlug(slug, at('2026-01-01T03:00:00Z'));
    expect(parsed).toMatchObject({ eventType: '1h', yearless: true });
    expect(parsed?.windows.map(spelled)).toEqual([['2026-01-01T04:00Z', '2026-01-01T05:00Z']]);
    expect(
      parseSlug('bitcoin-up-or-down-on-august-16', at('2026-08-15T00:00:00Z'))?.windows.map(spelled),
    ).toEqual([['2026-08-15T16:00Z', '2026-08-16T16:00Z']]);
    expect(parseSlug(slug)).toBeNull();
    expect(parseSlug('bitcoin-up-or-down-on-august-16', at('2026-08-15T00:00:00Z'))?.yearless).toBe(true);
    const yearOf = (day: string, near: string) =>
      parseSlug(`bitcoin-up-or-down-on-${day}`, at(near))?.windows[0]?.endTimeMs;
    expect(yearOf('december-30', '2026-01-02T12:00:00Z')).toBe(at('2025-12-30T17:00:00Z'));
    expect(yearOf('january-2', '2025-12-30T12:00:00Z')).toBe(at('2026-01-02T17:00:00Z'));
  });

  test.each([
    ['another coin', 'ada-updown-5m-1773323400'],
    ['a name of another kind of window', 'dogecoin-updown-5m-1786891500'],
    ['the short name of a day', 'doge-up-or-down-on-august-16-2026'],
    ['the title of HYPE', 'hyperliquid-up-or-down-august-16-2026-2pm-et'],
    ['a day of ZEC', 'zec-up-or-down-on-august-16-2026'],
    ['off the 5m grid', 'btc-updown-5m-1786891501'],
    ['a start in milliseconds', 'btc-updown-5m-1786891500000'],
    ['off the hour', 'btc-updown-4h-1765861260'],
    ['an hour the clocks skip', 'bitcoin-up-or-down-march-8-2026-2am-et'],
    ['no such day', 'bitcoin-up-or-down-on-february-30-2026'],
    ['no such month', 'bitcoin-up-or-down-on-brumaire-3-2026'],
    ['zero o’clock', 'bitcoin-up-or-down-march-9-2026-0am-et'],
    ['thirteen o’clock', 'bitcoin-up-or-down-march-9-2026-13pm-et'],
    ['something else', 'will-bitcoin-hit-100k'],
  ])('refuses %s: %s', (_shows, slug) => {
    expect(parseSlug(slug, at('2026-08-16T00:00:00Z'))).toBeNull();
  });

  test('series', () => {
    expect(DEFAULT_TICKERS.map((ticker) => EVENT_TYPES.map((type) => seriesSlug(ticker, type)))).toEqual([
      [
        'btc-up-or-down-5m',
        'btc-up-or-down-15m',
        'btc-up-or-down-hourly',
        'btc-up-or-down-4h',
        'btc-up-or-down-daily',
      ],
      [
        'eth-up-or-down-5m',
        'eth-up-or-down-15m',
        'eth-up-or-down-hourly',
        'eth-up-or-down-4h',
        'eth-up-or-down-daily',
      ],
      [
        'sol-up-or-down-5m',
        'sol-up-or-down-15m',
        'solana-up-or-down-hourly',
        'sol-up-or-down-4h',
        'solana-up-or-down-daily',
      ],
    ]);
  });
});

describe.skipIf(recordingsAbsent)('recorded slugs (skipped where the recordings are absent)', () => {
  const check = (slug: string, endTimeMs: number, startTimeMs?: number) => {
    const parsed = parseSlug(slug);
    expect(parsed?.windows.map((window) => window.endTimeMs)).toEqual([endTimeMs]);
    const [window] = parsed!.windows;
    if (startTimeMs !== undefined) expect(window!.startTimeMs).toBe(startTimeMs);
    expect(slugOf(parsed!.ticker, parsed!.eventType, windowAt(parsed!.eventType, window!.startTimeMs))).toBe(
      slug,
    );
  };

  test('parses the 1,717 markets of 2026-03-10..12', () => {
    const rows = recordingLines('polymarket/selcukguler0-2026-03-10-1925/active_markets.csv').slice(1);
    let checked = 0;
    for (const row of rows) {
      const slug = row.split(',')[2]!;
      const endTimeMs = Number(row.split(',').at(-1));
      check(slug, endTimeMs);
      checked++;
    }
    expect(checked).toBe(1717);
  });

  test('parses the 670 markets of 2025-12 in winter time', () => {
    const { data } = JSON.parse(
      recording('polymarket/frytegg-2025-12/markets_2025-12-12_2025-12-19.json.gz'),
    );
    for (const row of data) check(row.slug, row.endTime, row.startTime);
    expect(data).toHaveLength(670);
  });

  test('parses the 292 markets of 2026-07-24', () => {
    const rows = recordingLines('polymarket/ligengxin96-2026-07-24/BTC-5m-markets-2026-07-24.jsonl.gz');
    for (const line of rows) {
      const row = JSON.parse(line);
      check(row.slug, row.end_sec * 1000, row.start_sec * 1000);
    }
    expect(rows).toHaveLength(292);
  });
});
