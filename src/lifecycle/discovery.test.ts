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
