import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { silentLogger } from '../runtime/log.ts';
import { HttpRefusedError } from '../venues/http.ts';
import { CandleCache } from './candleCache.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 20, 12);

/** A cache whose exchanges refuse candles as `refusal` says, and the times at which each was asked. */
function refusing(refusal: { status: number; retryAfterMs: number | null }) {
  const clock = new FakeClock(START_MS);
  const startAt = clock.monotonic();
  const asked: [string, number][] = [];
  const candles = {
    candle: async ({ exchange }: { exchange: string }) => {
      asked.push([exchange, clock.monotonic() - startAt]);
      throw new HttpRefusedError('refused', { ...refusal, excerpt: '' });
    },
  };
  const cache = new CandleCache({ candles, clock, random: () => 1, log: silentLogger });
  const want = (exchange: 'spot' | 'futures', hoursAgo = 1) =>
    cache.finalPrice(
      { exchange, ticker: 'BTC', interval: '1h', startTimeMs: START_MS - hoursAgo * HOUR_MS, price: 'open' },
      clock.now(),
    );
  return { clock, asked, want };
}

test('a ban or a limit stops the requests for all candles of the exchange for as long as it says', async () => {
  const { clock, asked, want } = refusing({ status: 418, retryAfterMs: 120_000 });
  want('spot', 1);
  await clock.advance(1_000);
  want('futures');
  for (let second = 1; second < 120; second++) {
    for (const hoursAgo of [1, 2, 3]) want('spot', hoursAgo);
    await clock.advance(1_000);
  }
  expect(asked.filter(([exchange]) => exchange === 'spot')).toEqual([['spot', 0]]);
  expect(asked[1]).toEqual(['futures', 1_000]);
  want('spot', 2);
  await clock.advance(0);
  expect(asked.at(-1)).toEqual(['spot', 120_000]);
});

test('another refusal concerns its candle alone', async () => {
  const { clock, asked, want } = refusing({ status: 403, retryAfterMs: null });
  want('spot', 1);
  await clock.advance(0);
  want('spot', 1);
  want('spot', 2);
  await clock.advance(0);
  expect(asked).toHaveLength(2);
});
