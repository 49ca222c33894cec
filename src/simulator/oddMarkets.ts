/** Gamma objects that a collector must not mistake for today's market, and valid ones in unusual formats. */
import { DateTime } from 'luxon';
import { Random } from '../core/random.ts';
import type { GammaObject } from './gammaObjects.ts';

const VENUE_ZONE = 'America/New_York';
const MONTHS_DEAD = 8;

/** A window that ended months ago and was never closed. */
export function zombieEvent(seed: string, nowMs: number): GammaObject {
  const day = DateTime.fromMillis(nowMs, { zone: 'utc' }).minus({ months: MONTHS_DEAD }).startOf('day');
  const startSeconds = day.toSeconds() + 59_700;
  const slug = `btc-updown-5m-${startSeconds}`;
  return deadEvent(new Random(`${seed}/zombie`), {
    slug,
    startMs: startSeconds * 1000,
    endMs: (startSeconds + 300) * 1000,
  });
}

/**
 * The answer to an hourly slug without a year: last year's market, under the requested slug.
 * @returns Null for slugs of another format.
 */
export function lastYearEvent(slug: string): GammaObject | null {
  const match = /^[a-z]+-up-or-down-([a-z]+)-(\d{1,2})-(\d{1,2}(?:am|pm))-et$/.exec(slug);
  if (!match) return null;
  const label = `${match[1]} ${match[2]} 2025 ${match[3]?.toUpperCase()}`;
  const start = DateTime.fromFormat(label, 'LLLL d yyyy ha', { zone: VENUE_ZONE, locale: 'en-US' });
  if (!start.isValid) return null;
  const startMs = start.toMillis();
  return deadEvent(new Random(`last-year/${slug}`), { slug, startMs, endMs: startMs + 3_600_000 });
}

/** Reverses outcomes and tokens; the labels still identify them. */
export function reverseOutcomes(market: GammaObject): GammaObject {
  const reversed = (value: unknown) => JSON.stringify((JSON.parse(String(value)) as unknown[]).reverse());
  const { clobTokenIds, positionIds } = market;
  return {
    ...market,
    outcomes: reversed(market.outcomes),
    outcomePrices: reversed(market.outcomePrices),
    ...(Array.isArray(positionIds)
      ? { positionIds: positionIds.toReversed() }
      : { clobTokenIds: reversed(clobTokenIds) }),
  };
}

const OPTIONAL_NUMBERS = /^(volume|liquidity|bestBid|bestAsk|lastTradePrice|spread|rewards|maker|taker)/;

/** Removes every number that the venue may omit. */
export function stripNumbers(market: GammaObject): GammaObject {
  return Object.fromEntries(Object.entries(market).filter(([name]) => !OPTIONAL_NUMBERS.test(name)));
}

function deadEvent(random: Random, window: { slug: string; startMs: number; endMs: number }): GammaObject {
  const iso = (timeMs: number) => `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
  const dates = { startDate: iso(window.startMs), endDate: iso(window.endMs) };
  const market = {
    id: random.decimal(6),
    slug: window.slug,
    conditionId: `0x${random.hex(64)}`,
    question: 'Up or Down',
    outcomes: '["Up", "Down"]',
    outcomePrices: '["0.5", "0.5"]',
    clobTokenIds: JSON.stringify([random.decimal(77), random.decimal(77)]),
    orderPriceMinTickSize: 0.001,
    orderMinSize: 5,
    feesEnabled: false,
    feeType: null,
    active: true,
    closed: false,
    acceptingOrders: false,
    ...dates,
  };
  return {
    id: random.decimal(6),
    slug: window.slug,
    active: true,
    closed: false,
    ...dates,
    markets: [market],
  };
}
