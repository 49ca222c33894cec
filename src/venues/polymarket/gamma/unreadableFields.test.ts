import { expect, test } from 'vitest';
import { type GammaListing, mapGammaEvent } from './mapper.ts';

const START = Date.parse('2026-08-16T14:45:00Z');
const FULL = {
  conditionId: `0x${'ab'.repeat(32)}`,
  slug: `btc-updown-5m-${START / 1000}`,
  question: 'Bitcoin Up or Down - August 16, 10:45AM-10:50AM ET',
  outcomes: '["Up", "Down"]',
  outcomePrices: '["1", "0"]',
  clobTokenIds: '["111", "222"]',
  eventStartTime: '2026-08-16T14:45:00Z',
  endDate: '2026-08-16T14:50:00Z',
  closed: true,
  closedTime: '2026-08-16 14:50:16+00',
  umaResolutionStatus: 'resolved',
  acceptingOrders: false,
  orderPriceMinTickSize: 0.01,
  feesEnabled: true,
  feeSchedule: { rate: 0.05, exponent: 1 },
  volumeNum: 10,
  liquidityNum: 20,
  resolutionSource: 'https://data.chain.link/streams/btc-usd',
  cryptoMarketConfig: { twapEnabled: true, twapLookbackSeconds: 60 },
};

function map(changes: object, eventMetadata: unknown = { priceToBeat: 64_000 }) {
  const event = { id: '77', slug: 's', eventMetadata, markets: [{ ...FULL, ...changes }] };
  return mapGammaEvent(event, START + 400_000)[0]!;
}

test.each<[string, unknown, object]>([
  ['feeSchedule', { rate: '0.05', exponent: '1' }, { takerFeeRate: null, takerFeeExponent: null }],
  ['feeSchedule', { rate: 0.05 }, { takerFeeRate: null }],
  ['feeSchedule', { rate: 1.01, exponent: 1 }, { takerFeeRate: null }],
  ['feeSchedule', { rate: -0.01, exponent: 1 }, { takerFeeRate: null }],
  ['feeSchedule', { rate: 0.05, exponent: 10.1 }, { takerFeeExponent: null }],
  ['feeSchedule', { rate: 0.05, exponent: -1 }, { takerFeeExponent: null }],
  ['feesEnabled', 'true', { takerFeeRate: 0.05 }],
  ['volumeNum', { usd: 10 }, { volume: null }],
  ['volume', [10], { volume: 10 }],
  ['liquidityNum', true, { liquidity: null }],
  ['liquidity', {}, { liquidity: 20 }],
  ['cryptoMarketConfig', 'btc-5m-twap-60', { decidingFeed: 'chainlink_spot', twapLookbackSeconds: null }],
  [
    'cryptoMarketConfig',
    { twapEnabled: true, twapLookbackSeconds: '60' },
    { decidingFeed: 'chainlink_spot' },
  ],
  ['acceptingOrders', 'no', { status: 'resolved' }],
  ['closedTime', 1_786_891_816, { status: 'resolved', resolvedTimeMs: null }],
  ['outcomePrices', [1, 0], { status: 'closed', outcome: null }],
  ['umaResolutionStatus', ['resolved'], { status: 'closed', outcome: null }],
  ['resolutionStatus', 3, { status: 'resolved', outcome: 'Up' }],
])('%s of another type or range (%j) counts as absent', (name, value, market) => {
  expect(map({ [name]: value })).toMatchObject({ ok: true, market, unreadable: [{ name, value }] });
});

test.each<[string, object, object]>([
  ['a fee of nothing', { feeSchedule: { rate: 0, exponent: 0 } }, { takerFeeRate: 0, takerFeeExponent: 0 }],
  ['the highest fee', { feeSchedule: { rate: 1, exponent: 10 } }, { takerFeeRate: 1, takerFeeExponent: 10 }],
  [
    'a config without an average',
    { cryptoMarketConfig: { twapEnabled: false } },
    { decidingFeed: 'chainlink_spot' },
  ],
  [
    'a config whose average has no length',
    { cryptoMarketConfig: { twapEnabled: false, twapLookbackSeconds: null } },
    { decidingFeed: 'chainlink_spot' },
  ],
])('%s is read', (_shows, changes, market) => {
  expect(map(changes)).toMatchObject({ ok: true, market, unreadable: [] });
});

test('a strike of another type counts as absent', () => {
  const strikes = [{ priceToBeat: 64_000 }, { priceToBeat: { usd: 64_000 } }, 'soon', []].map(
    (metadata) => (map({}, metadata) as GammaListing).market.strikePrice,
  );
  expect(strikes).toEqual([64_000, null, null, null]);
});

test.each([
  ['conditionId', 5],
  ['outcomes', 5],
  ['endDate', 5],
  ['eventStartTime', 5],
  ['closed', 'no'],
])('a market is refused with %s of another type, whatever else is unreadable', (name, value) => {
  expect(map({ [name]: value, volume: {} })).toMatchObject({ ok: false, reason: 'shape_invalid' });
});
