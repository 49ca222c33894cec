import { describe, expect, it } from 'vitest';
import type { Market } from '../../web/src/api/schema.ts';
import { closeText, coverageText, stateText, strikeText } from '../../web/src/pages/markets/marketText.ts';

const nowMs = Date.parse('2026-11-20T12:00:00Z');
const at = (minutes: number) => new Date(nowMs + minutes * 60_000).toISOString();
const marketOf = (part: Partial<Market>) =>
  ({
    ...{ start_time: at(-2), end_time: at(3), status: 'open', coverage: 1 },
    ...{ strike_price: null, close_price: null, outcome: null },
    ...part,
  }) as Market;

describe('a market in words', () => {
  it.each([
    [
      'ahead',
      marketOf({ start_time: at(1), end_time: at(6) }),
      ['not begun', 'not begun', 'not begun', 'not ended'],
    ],
    ['just begun', marketOf({}), ['open', '100.0\u00a0%', 'not known', 'not ended']],
    ['under way', marketOf({ strike_price: 90_000 }), ['open', '100.0\u00a0%', '$90,000.00', 'not ended']],
    [
      'closed',
      marketOf({ start_time: at(-9), end_time: at(-4), status: 'closed', strike_price: 90_000 }),
      ['closed', '100.0\u00a0%', '$90,000.00', 'not known'],
    ],
    [
      'resolved without a winner',
      marketOf({
        ...{ start_time: at(-9), end_time: at(-4), status: 'resolved', coverage: 0.5 },
        ...{ strike_price: 90_000, close_price: 90_000 },
      }),
      ['50-50', '50.0\u00a0%', '$90,000.00', '$90,000.00'],
    ],
  ])('that is %s', (_, market, shown) => {
    expect([
      stateText(market, nowMs),
      coverageText(market, nowMs),
      strikeText(market, nowMs),
      closeText(market, nowMs),
    ]).toEqual(shown);
  });
});
