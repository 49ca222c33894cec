import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { TransportError, VenueRefusedError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { ListedEvents } from '../venues/polymarket/gamma/client.ts';
import { Discovery } from './discovery.ts';

test.each([
  ['is answered', () => []],
  [
    'fails',
    () => {
      throw new TransportError('away');
    },
  ],
])('the pause of a refused request lasts although the other request under way %s', async (_, answer) => {
  const clock = new FakeClock();
  let asked = 0;
  let end: () => void = () => {};
  const discovery = new Discovery({
    ...{ clock, random: () => 0, log: silentLogger, metrics: new Metrics(), onListing: () => {} },
    listings: {
      eventsBySlug: async () => {
        asked++;
        throw new VenueRefusedError('too many requests', { retryAfterMs: 60_000 });
      },
      eventsOfSeries: async (): Promise<ListedEvents[]> => {
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        return answer();
      },
    },
  });
  const request = async () => {
    discovery.requestWindows({ missing: ['btc-updown-5m-1'], due: () => [] });
    await clock.advance(0);
  };
  discovery.list({ ticker: 'BTC', eventType: '5m', nowMs: clock.now() });
  await request();
  end();
  await clock.advance(59_000);
  await request();
  expect(asked).toBe(1);
  await clock.advance(1_000);
  await request();
  expect(asked).toBe(2);
});

test('a field with a value of another type is a finding, and the market is followed', async () => {
  const clock = new FakeClock(Date.parse('2026-11-20T12:01:00Z'));
  const metrics = new Metrics();
  const slugs: string[] = [];
  const slug = `btc-updown-5m-${Date.parse('2026-11-20T12:00:00Z') / 1000}`;
  const market = {
    ...{
      conditionId: `0x${'ab'.repeat(32)}`,
      slug,
      question: 'Bitcoin Up or Down',
      outcomes: '["Up", "Down"]',
    },
    ...{ clobTokenIds: '["111", "222"]', endDate: '2026-11-20T12:05:00Z', closed: false },
    ...{ orderPriceMinTickSize: 0.01, feeSchedule: { rate: '0.07', exponent: '1' } },
  };
  const discovery = new Discovery({
    ...{ clock, metrics, random: () => 0, log: silentLogger },
    listings: {
      eventsBySlug: async () => [{ events: [{ id: '1', slug, markets: [market] }], ageMs: 0, maxAgeMs: 0 }],
      eventsOfSeries: async () => [],
    },
    onListing: (listing) => slugs.push(listing.market.slug),
  });
  discovery.requestWindows({ missing: [slug], due: () => [] });
  await clock.advance(0);
  expect(slugs).toEqual([slug]);
  expect(metrics.venueDrift.findings()).toMatchObject([
    {
      ...{ category: 'unknown_field', feed: 'polymarket.gamma', kind: 'event' },
      ...{ key: 'markets[].feeSchedule (value)', sample: '{"rate":"0.07","exponent":"1"}', count: 1 },
    },
  ]);
});
