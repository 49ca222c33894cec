import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import type { PolyboltState } from '../venues/polymarket/polybolt/feed.ts';
import { PriceSources } from './priceSources.ts';

function setUp() {
  const clock = new FakeClock();
  const parts = {
    state: null as PolyboltState | null,
    lacksCredentials: false,
    hasRtds: true,
    openPrices: { answeredMs: null as number | null, isFailing: false },
  };
  type Changes = Partial<Omit<typeof parts, 'openPrices'>> & { openPrices?: null };
  const make = (changes: Changes = {}) => {
    const given = { ...parts, ...changes };
    return new PriceSources(clock, { ...given, polybolt: () => parts.state });
  };
  const average = (sources: PriceSources, feed: string, isHistory = false) =>
    sources.price(
      {
        ...{ kind: 'underlying', ticker: 'BTC', source: 'twap60', price: 1 },
        ...{ eventTimeMs: clock.now() - 1000, receivedTimeMs: clock.now() },
        ...(isHistory ? { isHistory: true as const } : {}),
      },
      feed,
    );
  const states = (sources: PriceSources) => sources.status().map(({ source, state }) => `${source} ${state}`);
  return { clock, parts, make, average, states };
}

it('lists the sources best first, live while averages arrive', async () => {
  const { clock, parts, make, average, states } = setUp();
  parts.state = 'subscribed';
  const sources = make();
  expect(states(sources)).toEqual(['polybolt silent', 'rtds silent', 'crypto_price ready']);
  average(sources, 'polymarket.rtds', true);
  expect(states(sources)[1]).toBe('rtds silent');
  average(sources, 'polymarket.rtds');
  average(sources, 'polymarket.polybolt');
  const receivedMs = clock.now();
  await clock.advance(9_999);
  expect(states(sources)).toEqual(['polybolt live', 'rtds live', 'crypto_price ready']);
  await clock.advance(1);
  expect(states(sources)).toEqual(['polybolt silent', 'rtds silent', 'crypto_price ready']);
  expect(sources.status().map(({ lastMs }) => lastMs)).toEqual([receivedMs, receivedMs, null]);
});

it('a spot price alone does not show that the deciding averages arrive', () => {
  const { clock, make, states } = setUp();
  const sources = make();
  const times = { eventTimeMs: clock.now(), receivedTimeMs: clock.now() };
  sources.price(
    { kind: 'underlying', ticker: 'BTC', source: 'chainlink', price: 1, ...times },
    'polymarket.rtds',
  );
  expect(states(sources)[1]).toBe('rtds silent');
});

it('names what each source lacks and how to supply it', () => {
  const { parts, make } = setUp();
  const missing = (sources: PriceSources) => sources.status().map((row) => row.missing);
  expect(missing(make({ lacksCredentials: true }))[0]).toMatch(
    /^set the three UNDERROUND_POLYMARKET_API_ variables; .* without trading \(docs\/SETTLEMENT\.md\)$/,
  );
  expect(missing(make({ hasRtds: false, openPrices: null }))).toEqual([
    'unset UNDERROUND_POLYBOLT_URL',
    null,
    'unset UNDERROUND_CRYPTO_PRICE_URL',
  ]);
  parts.state = 'retrying_credentials';
  expect(missing(make())[0]).toMatch(/refuses the credentials: tried again every minute/);
  parts.state = 'refused';
  expect(missing(make())[0]).toBe('the venue refuses the credentials: create new ones and restart');
  parts.openPrices.isFailing = true;
  expect(make().status()[2]).toMatchObject({
    state: 'silent',
    missing: expect.stringMatching(/request failed/),
  });
});
