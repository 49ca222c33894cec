import { describe, expect, test } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../../../test/support/fixtures.ts';
import { VENUE_RULES_VERSION } from '../../../core/venueRules.ts';
import { NO_SETTLEMENT } from '../../../schema/market.ts';
import { type GammaListing, type GammaRejection, mapGammaEvent, mapGammaMarket } from './mapper.ts';

const START = Date.parse('2026-08-16T14:45:00Z');
const END = START + 300_000;
const BEFORE_END = END - 60_000;

function rawMarket(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    conditionId: `0x${'ab'.repeat(32)}`,
    slug: `btc-updown-5m-${START / 1000}`,
    question: 'Bitcoin Up or Down - August 16, 10:45AM-10:50AM ET',
    outcomes: '["Up", "Down"]',
    outcomePrices: '["0.505", "0.495"]',
    clobTokenIds: '["111", "222"]',
    startDate: '2026-08-15T14:52:00Z',
    eventStartTime: '2026-08-16T14:45:00Z',
    endDate: '2026-08-16T14:50:00Z',
    closed: false,
    acceptingOrders: true,
    orderPriceMinTickSize: 0.01,
    ...changes,
  };
}

function map(changes: Record<string, unknown> = {}, event: Record<string, unknown> = {}, nowMs = BEFORE_END) {
  const results = mapGammaEvent({ id: '77', slug: 's', markets: [rawMarket(changes)], ...event }, nowMs);
  expect(results).toHaveLength(1);
  return results[0]!;
}
const listed = (...args: Parameters<typeof map>) => {
  const result = map(...args);
  expect(result).toMatchObject({ ok: true });
  return result as GammaListing;
};
const refused = (...args: Parameters<typeof map>) => map(...args) as GammaRejection;

describe('mapGammaEvent', () => {
  test('maps a bare market with null for absent fields', () => {
    expect(listed()).toEqual({
      ok: true,
      acceptingOrders: true,
      upIndex: 0,
      unreadable: [],
      market: {
        marketId: `0x${'ab'.repeat(32)}`,
        eventId: '77',
        slug: 'btc-updown-5m-1786891500',
        question: 'Bitcoin Up or Down - August 16, 10:45AM-10:50AM ET',
        eventType: '5m',
        ticker: 'BTC',
        yesTokenId: '111',
        noTokenId: '222',
        status: 'open',
        startTimeMs: START,
        endTimeMs: END,
        strikePrice: null,
        strikeSource: null,
        closePrice: null,
        outcome: null,
        payoutYes: null,
        resolvedTimeMs: null,
        volume: null,
        liquidity: null,
        tickSize: 100,
        takerFeeRate: null,
        takerFeeExponent: null,
        takerDelayMs: null,
        recordedSinceMs: null,
        ...NO_SETTLEMENT,
        rulesReadTimeMs: BEFORE_END,
        rulesVersion: VENUE_RULES_VERSION,
      },
    });
  });

  test('assigns tokens by label when the outcomes are in reverse order', () => {
    const { market, upIndex } = listed({ outcomes: '["Down","Up"]' });
    expect([market.yesTokenId, market.noTokenId, upIndex]).toEqual(['222', '111', 1]);
  });

  test('reads fee, tick, volume, liquidity and the average’s length', () => {
    const { market } = listed({
      feeSchedule: { rate: 0.07, exponent: 1, takerOnly: true, rebateRate: 0.2 },
      orderPriceMinTickSize: '0.001',
      volume: '37175.5',
      liquidityNum: 0,
      cryptoMarketConfig: { id: 'btc-5m-twap-60', twapLookbackSeconds: 60 },
    });
    expect(market).toMatchObject({ takerFeeRate: 0.07, takerFeeExponent: 1, tickSize: 10, volume: 37175.5 });
    expect(market.liquidity).toBe(0);
    expect(market.twapLookbackSeconds).toBe(60);
  });

  test.each([
    ['0.1', 1000],
    ['0.01', 100],
    ['0.005', 50],
    ['0.0025', 25],
    ['0.001', 10],
    ['0.0001', 1],
  ])('reads a tick size of %s USDC', (text, tickSize) => {
    expect(listed({ orderPriceMinTickSize: text }).market.tickSize).toBe(tickSize);
  });

  test('reads the market’s own taker delay and deciding feed', () => {
    const { market } = listed({
      secondsDelay: 3,
      resolutionSource: 'https://data.chain.link/streams/btc-usd-twap-60s-streams',
    });
    expect(market).toMatchObject({ takerDelayMs: 3000, takerDelaySource: 'listing' });
    expect(market).toMatchObject({ decidingFeed: 'chainlink_twap', twapLookbackSeconds: 60 });
    const bare = listed({ secondsDelay: 0, resolutionSource: ['?'] }).market;
    expect(bare).toMatchObject({ takerDelayMs: null, takerDelaySource: null, decidingFeed: null });
  });

  test('maps a market declared free of fees to a fee of 0', () => {
    const { market } = listed({ feesEnabled: false, feeSchedule: { rate: 0.07, exponent: 2 } });
    expect(market).toMatchObject({ takerFeeRate: 0, takerFeeExponent: 1 });
    expect(listed({ feeSchedule: { rate: 0.07, exponent: 2 } }).market.takerFeeExponent).toBe(2);
  });

  test('takes volume and liquidity from the number fields, and from the texts where those are absent', () => {
    const numbers = { volumeNum: 5, volume: '6', liquidityNum: 7, liquidity: '8' };
    expect(listed(numbers).market).toMatchObject({ volume: 5, liquidity: 7 });
    const zeros = { ...numbers, volumeNum: 0, liquidityNum: 0 };
    expect(listed(zeros).market).toMatchObject({ volume: 0, liquidity: 0 });
    const texts = { ...numbers, volumeNum: undefined, liquidityNum: null };
    expect(listed(texts).market).toMatchObject({ volume: 6, liquidity: 8 });
  });

  test('does not say whether orders are accepted where the venue does not', () => {
    expect(listed({ acceptingOrders: undefined }).acceptingOrders).toBeNull();
    expect(listed({ acceptingOrders: false }).acceptingOrders).toBe(false);
  });

  test('maps every market of an event', () => {
    const results = mapGammaEvent({ id: '77', slug: 's', markets: [rawMarket(), {}] }, BEFORE_END);
    expect(results.map(({ ok }) => ok)).toEqual([true, false]);
  });

  test('marks strike and close as official when the venue states them', () => {
    const stated = { eventMetadata: { priceToBeat: 65026.457815, finalPrice: '65030.5' } };
    expect(listed({}, stated, END + 1).market).toMatchObject({
      strikePrice: 65026.457815,
      strikeSource: 'official',
      strikeBasis: 'listing',
      strikeKnownTimeMs: END + 1,
      closePrice: 65030.5,
      closeBasis: 'listing',
      computedPayoutYes: 1,
    });
    expect(listed({}, { eventMetadata: { priceToBeat: null, finalPrice: 'soon' } }).market).toMatchObject({
      strikePrice: null,
      strikeSource: null,
      closePrice: null,
    });
    expect(listed({}, { eventMetadata: { priceToBeat: 0 } }).market.strikePrice).toBeNull();
  });

  test('trap 2: ignores a strike stated before the window opens and a close stated before it ends', () => {
    const stated = { eventMetadata: { priceToBeat: 65026.457815, finalPrice: 65030.5 } };
    expect(listed({}, stated, START - 1).market).toMatchObject({ strikePrice: null, strikeBasis: null });
    expect(listed({}, stated, START).market).toMatchObject({ strikePrice: 65026.457815, closePrice: null });
    expect(listed({}, stated, END - 1).market.closePrice).toBeNull();
  });

  test('trap 1: uses the slug’s window, never the listing’s startDate', () => {
    const { market } = listed({ startDate: '2026-08-15T14:52:00Z', createdAt: '2026-08-15T14:51:00Z' });
    expect([market.startTimeMs, market.endTimeMs]).toEqual([START, END]);
  });

  test('proves the window by slug and endDate without eventStartTime, never by startDate', () => {
    const { market } = listed({ eventStartTime: undefined, startDate: '2026-08-16T14:44:00Z' });
    expect([market.startTimeMs, market.endTimeMs]).toEqual([START, END]);
  });

  test('chooses the repeated hour’s window by its endDate', () => {
    const slug = 'bitcoin-up-or-down-november-1-2026-1am-et';
    const nowMs = Date.parse('2026-11-01T04:00:00Z');
    const times = (endDate: string) =>
      listed({ slug, eventStartTime: null, endDate }, {}, nowMs).market.startTimeMs;
    expect(times('2026-11-01T06:00:00Z')).toBe(Date.parse('2026-11-01T05:00:00Z'));
    expect(times('2026-11-01T07:00:00Z')).toBe(Date.parse('2026-11-01T06:00:00Z'));
  });
});

describe('the protocol version', () => {
  const up = '651150819117105875331414918119047680898421632356043490229292782433651916800';
  const down = '651150819117105875331414918119047680898421632356043490229292782433651916801';
  /** The documentation's example of a V2 market, as an Up/Down window. */
  const V2 = {
    ...{ version: 'v2', clobTokenIds: null, positionIds: [up, down] },
    conditionId: '0x017089ce3ba22aaa0a4cba8250b8c8e1eb0000000000000000000000000000',
  };

  test('V2 has its tokens in positionIds and a shorter condition id', () => {
    expect(listed(V2).market).toMatchObject({
      marketId: '0x017089ce3ba22aaa0a4cba8250b8c8e1eb000000000000000000000000000000',
      ...{ yesTokenId: up, noTokenId: down },
    });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['v2 with both fields', { ...V2, clobTokenIds: '["111","222"]' }, up],
    ['v2 with JSON inside a text', { ...V2, positionIds: JSON.stringify([up, down]) }, up],
    ['v2 with reversed outcomes', { ...V2, outcomes: '["Down","Up"]' }, down],
    ['v1 with both fields', { version: 'v1', positionIds: [up, down] }, '111'],
    ['v1 with a real list', { version: 'v1', clobTokenIds: ['111', '222'] }, '111'],
    ['no version', { positionIds: [up, down] }, '111'],
    ['a version of null', { version: null, positionIds: [up, down] }, '111'],
  ])('alone selects the field of the tokens: %s', (_shows, changes, yesTokenId) => {
    expect(listed(changes).market.yesTokenId).toBe(yesTokenId);
  });

  test.each<[string, Record<string, unknown>, string]>([
    [
      'v2 without positionIds',
      { ...V2, positionIds: undefined, clobTokenIds: '["1","2"]' },
      'ids_not_available',
    ],
    ['v2 with null', { ...V2, positionIds: null }, 'ids_not_available'],
    ['v2 with an empty list', { ...V2, positionIds: [] }, 'ids_not_available'],
    ['v1 without clobTokenIds', { clobTokenIds: null, positionIds: [up, down] }, 'ids_not_available'],
    ['one token', { ...V2, positionIds: [up] }, 'not_two_tokens'],
    ['three tokens', { ...V2, positionIds: [up, down, '3'] }, 'not_two_tokens'],
    ['a hexadecimal id', { ...V2, positionIds: [up, '0x22'] }, 'not_two_tokens'],
    ['numbers', { ...V2, positionIds: [1, 2] }, 'not_two_tokens'],
    ['more labels than tokens', { ...V2, outcomes: '["Up","Down","Flat"]' }, 'outcomes_unclear'],
    ['a condition id of 63 digits', { ...V2, conditionId: `0x${'a'.repeat(63)}` }, 'shape_invalid'],
  ])('refuses %s', (_shows, changes, reason) => {
    expect(refused(changes)).toMatchObject({ ok: false, reason });
  });

  test('that is unknown is a refusal of its own, with the version as its detail', () => {
    expect(refused({ ...V2, version: 'v3' })).toMatchObject({ reason: 'version_unknown', detail: 'v3' });
    expect(refused({ version: 2 })).toMatchObject({ reason: 'version_unknown', detail: '2' });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['v2 by its own status', { ...V2, resolutionStatus: 'resolved' }, 'resolved'],
    ['v2 active', { ...V2, resolutionStatus: 'active' }, 'closed'],
    ['v2 inactive', { ...V2, resolutionStatus: 'inactive', umaResolutionStatus: 'resolved' }, 'closed'],
    ['v2 without its own status', { ...V2, umaResolutionStatus: 'resolved' }, 'resolved'],
    ['v1 by the oracle alone', { resolutionStatus: 'resolved' }, 'closed'],
  ])('selects the field of the resolution: %s', (_shows, changes, status) => {
    const final = { closed: true, closedTime: '2026-08-16 14:50:16+00', outcomePrices: '["1","0"]' };
    expect(listed({ ...final, ...changes }, {}, END).market.status).toBe(status);
  });
});

describe('status and resolution', () => {
  const final = { closed: true, umaResolutionStatus: 'resolved', closedTime: '2026-08-16 14:50:16+00' };
  const rows: [string, Record<string, unknown>, number, Record<string, unknown>][] = [
    ['past the end, not closed', {}, END, { status: 'closed', outcome: null, payoutYes: null }],
    [
      'closed, not yet resolved by the oracle',
      { closed: true },
      END,
      { status: 'closed', resolvedTimeMs: null },
    ],
    [
      'prices near 1',
      { ...final, outcomePrices: '["0.9995","0.0005"]' },
      END,
      { status: 'closed', outcome: null },
    ],
    [
      'zero and zero (2020)',
      { ...final, outcomePrices: '["0","0"]' },
      END,
      { status: 'closed', outcome: null },
    ],
    ['prices not a list', { ...final, outcomePrices: '1, 0' }, END, { status: 'closed', payoutYes: null }],
    [
      'oracle still disputed',
      { ...final, umaResolutionStatus: 'disputed', outcomePrices: '["1","0"]' },
      END,
      { status: 'closed' },
    ],
    [
      'resolved but still open',
      { ...final, closed: false, outcomePrices: '["1","0"]' },
      END,
      { status: 'closed' },
    ],
    [
      'Up',
      { ...final, outcomePrices: '["1","0"]' },
      END,
      { status: 'resolved', outcome: 'Up', payoutYes: 1 },
    ],
    [
      'Down',
      { ...final, outcomePrices: '["0","1"]' },
      END,
      { status: 'resolved', outcome: 'Down', payoutYes: 0 },
    ],
    [
      'reversed labels',
      { ...final, outcomes: '["Down","Up"]', outcomePrices: '["1","0"]' },
      END,
      { outcome: 'Down' },
    ],
    [
      'tie',
      { ...final, outcomePrices: '["0.5","0.5"]' },
      END,
      { status: 'resolved', outcome: null, payoutYes: 0.5 },
    ],
  ];
  test.each(rows)('%s', (_shows, changes, nowMs, expected) => {
    expect(listed(changes, {}, nowMs).market).toMatchObject(expected);
  });

  test('dates the resolution by the other date format, and its confirmation by the time of reading', () => {
    const nowMs = END + 3_600_000;
    const resolved = { ...final, outcomePrices: '["1","0"]' };
    expect(listed(resolved, {}, nowMs).market).toMatchObject({
      ...{ resolvedBy: 'listing', confirmedTimeMs: nowMs },
      ...{ resolvedTimeMs: Date.parse('2026-08-16T14:50:16Z'), resolvedTimeSource: 'listing' },
    });
    expect(listed({ ...resolved, closedTime: undefined }, {}, nowMs).market).toMatchObject({
      ...{ status: 'resolved', resolvedBy: 'listing', confirmedTimeMs: nowMs },
      ...{ resolvedTimeMs: null, resolvedTimeSource: null },
    });
    expect(listed(final, {}, nowMs).market).toMatchObject({
      ...{ status: 'closed', resolvedBy: null, confirmedTimeMs: null },
      ...{ resolvedTimeMs: null, resolvedTimeSource: null },
    });
  });

  test('does not treat a market resolved long ago as a zombie', () => {
    expect(listed({ ...final, outcomePrices: '["1","0"]' }, {}, END + 90 * 86_400_000).market.status).toBe(
      'resolved',
    );
  });
});

describe('refusals', () => {
  const rows: [string, Record<string, unknown>, string][] = [
    ['no condition id', { conditionId: 'x' }, 'shape_invalid'],
    ['closed missing', { closed: undefined }, 'shape_invalid'],
    ['a series we do not follow', { slug: 'ada-updown-5m-1786891500' }, 'other_series'],
    ['one token', { clobTokenIds: '["111"]' }, 'not_two_tokens'],
    ['the same token twice', { clobTokenIds: '["111","111"]' }, 'not_two_tokens'],
    ['tokens no JSON', { clobTokenIds: '[' }, 'not_two_tokens'],
    ['an id of 79 digits', { clobTokenIds: `["111","${'1'.repeat(79)}"]` }, 'not_two_tokens'],
    ['an id with a sign', { clobTokenIds: '["111","-22"]' }, 'not_two_tokens'],
    ['token not a number', { clobTokenIds: '["111","0x22"]' }, 'not_two_tokens'],
    ['Yes and No', { outcomes: '["Yes","No"]' }, 'outcomes_unclear'],
    ['outcomes that are no JSON', { outcomes: 'Up, Down' }, 'outcomes_unclear'],
    ['Up twice', { outcomes: '["Up","Up"]' }, 'outcomes_unclear'],
    ['three outcomes', { outcomes: '["Up","Down","Flat"]' }, 'outcomes_unclear'],
    ['another end', { endDate: '2026-08-16T14:55:00Z' }, 'times_disagree'],
    ['another start', { eventStartTime: '2026-08-16T14:40:00Z' }, 'times_disagree'],
    ['unreadable start', { eventStartTime: 'soon' }, 'times_disagree'],
    ['unreadable end', { endDate: 'soon' }, 'times_disagree'],
    ['a tick size not in use', { orderPriceMinTickSize: 0.02 }, 'tick_size_unknown'],
    ['no tick', { orderPriceMinTickSize: null }, 'tick_size_unknown'],
  ];
  test.each(rows)('%s', (_shows, changes, reason) => {
    expect(refused(changes)).toMatchObject({ ok: false, reason });
  });

  test('an hourly slug without a year that returns last year’s market', () => {
    const changes = {
      slug: 'bitcoin-up-or-down-august-16-2pm-et',
      eventStartTime: undefined,
      endDate: '2025-08-16T19:00:00Z',
    };
    expect(refused(changes)).toMatchObject({ reason: 'wrong_year', slug: changes.slug });
    expect(refused({ ...changes, slug: 'bitcoin-up-or-down-august-16-2026-2pm-et' }).reason).toBe(
      'wrong_year',
    );
  });

  test('a zombie: not closed more than 6 h after its end', () => {
    expect(listed({}, {}, END + 6 * 3_600_000).market.status).toBe('closed');
    expect(refused({}, {}, END + 6 * 3_600_000 + 1)).toMatchObject({ reason: 'zombie' });
  });

  test('quotes at most 200 characters of a slug and 500 of the reason', () => {
    const invalid = { conditionId: 1, question: 1, outcomes: 1, closed: 1, endDate: 1 };
    const { slug, detail } = refused({ slug: 'x'.repeat(300), ...invalid });
    expect([slug?.length, detail.length]).toEqual([200, 500]);
  });

  test('an invalid event, and a market without its event', () => {
    expect(mapGammaEvent('x', BEFORE_END)).toMatchObject([
      { ok: false, reason: 'shape_invalid', slug: null },
    ]);
    expect(mapGammaEvent({ id: 1, slug: 'a' }, BEFORE_END)).toMatchObject([
      { reason: 'shape_invalid', slug: 'a' },
    ]);
    expect(mapGammaMarket(rawMarket(), BEFORE_END)).toMatchObject({ ok: false, reason: 'event_unknown' });
  });
});

describe.skipIf(recordingsAbsent)('recorded objects (skipped where the recordings are absent)', () => {
  test('resolves all 292 markets of 2026-07-24 as their collector recorded', () => {
    const nowMs = Date.parse('2026-11-20T00:00:00Z');
    const lines = recordingLines('polymarket/ligengxin96-2026-07-24/BTC-5m-markets-2026-07-24.jsonl.gz');
    const absent = { volume: 0, liquidity: 0 };
    const ticks: Record<number, number> = {};
    for (const line of lines) {
      const row = JSON.parse(line);
      const [result] = mapGammaEvent({ id: '1', slug: row.slug, markets: [row.raw] }, nowMs);
      expect(result).toMatchObject({ ok: true });
      const { market } = result as GammaListing;
      expect(market).toMatchObject({
        marketId: row.condition_id,
        startTimeMs: row.start_sec * 1000,
        endTimeMs: row.end_sec * 1000,
        yesTokenId: row.token_ids[0],
        noTokenId: row.token_ids[1],
        status: 'resolved',
        payoutYes: Number(row.outcome_prices[0]),
        takerFeeRate: 0.07,
        takerFeeExponent: 1,
      });
      const delay = market.resolvedTimeMs! - market.endTimeMs;
      expect(delay).toBeGreaterThan(0);
      expect(delay).toBeLessThan(400_000);
      ticks[market.tickSize] = (ticks[market.tickSize] ?? 0) + 1;
      if (market.volume === null) absent.volume++;
      if (market.liquidity === null) absent.liquidity++;
    }
    expect(lines).toHaveLength(292);
    expect(absent).toEqual({ volume: 44, liquidity: 99 });
    expect(ticks).toEqual({ 10: 210, 100: 82 });
  });

  const pulsearb = (name: string, nowMs: number) => {
    // The captures lack the question; the live interface has it.
    const raw = { question: 'left out', ...JSON.parse(recording(`polymarket/pulsearb/${name}.json`)) };
    return mapGammaEvent({ id: '1', slug: raw.slug, markets: [raw] }, nowMs)[0];
  };
  const LIVE = Date.parse('2026-08-16T14:46:00Z');

  test('maps live objects without eventStartTime', () => {
    expect(pulsearb('gamma_market_btc_updown_5m', LIVE)).toMatchObject({
      ok: true,
      market: {
        ...{ startTimeMs: START, endTimeMs: END, takerFeeRate: null, status: 'open', volume: null },
        ...{ decidingFeed: 'chainlink_twap', twapLookbackSeconds: 60, takerDelayMs: null },
      },
    });
    expect(pulsearb('gamma_market_with_feeschedule', LIVE)).toMatchObject({
      ok: true,
      market: { eventType: '15m', startTimeMs: START, endTimeMs: START + 900_000, takerFeeRate: 0.07 },
    });
    expect(pulsearb('gamma_market_hourly_current', LIVE)).toMatchObject({
      ok: true,
      market: {
        ...{ eventType: '1h', startTimeMs: Date.parse('2026-08-16T18:00:00Z'), volume: 3174.925 },
        decidingFeed: 'binance_spot',
      },
    });
  });

  test('rejects the zombie and last year’s namesake', () => {
    expect(pulsearb('gamma_market_zombie', LIVE)).toMatchObject({ ok: false, reason: 'zombie' });
    expect(pulsearb('gamma_market_stale_slug_resolution', LIVE)).toMatchObject({
      ok: false,
      reason: 'wrong_year',
    });
  });

  test('maps an object of /markets with its event, and ignores the listing time', () => {
    const raw = JSON.parse(recording('polymarket/nautilus_trader/rust_gamma_market.json'));
    expect(mapGammaMarket(raw, Date.parse('2026-03-11T15:00:00Z'))).toMatchObject({
      ok: true,
      acceptingOrders: true,
      market: { eventId: '260654', startTimeMs: 1773307200_000, takerFeeRate: null, volume: 9.999997 },
    });
  });

  test('rejects markets of other series', () => {
    const events = JSON.parse(recording('polymarket/nautilus_trader/rust_gamma_event.json'));
    const results = events.flatMap((event: unknown) => mapGammaEvent(event, LIVE));
    expect(results.length).toBeGreaterThan(0);
    for (const result of results) expect(result).toMatchObject({ ok: false, reason: 'other_series' });
  });
});
