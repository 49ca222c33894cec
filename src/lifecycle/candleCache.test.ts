import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { TransportError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import type { CandleQuery, Kline } from '../venues/binance/klines.ts';
import { CandleCache } from './candleCache.ts';

const OPEN = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;

/** A cache over an exchange that answers with `state.answer`, or fails. */
function setUp() {
  const clock = new FakeClock(OPEN);
  const askedAt: number[] = [];
  const state = { answer: null as Kline | null, isAway: false };
  const candles = {
    candle: async (_: CandleQuery) => {
      askedAt.push(clock.monotonic());
      if (state.isAway) throw new TransportError('away');
      return state.answer;
    },
  };
  const cache = new CandleCache({ candles, clock, random: () => 0.5, log: silentLogger });
  const candle = { exchange: 'spot', ticker: 'BTC', interval: '1h', startTimeMs: OPEN } as const;
  const price = (which: 'open' | 'close') => cache.finalPrice({ ...candle, price: which }, clock.now());
  return { clock, askedAt, state, price };
}

test('an open is requested 1.5 s after the candle begins, a close 1.5 s after it ends', async () => {
  const { clock, askedAt, state, price } = setUp();
  state.answer = { open: 97_000, close: 97_010, closed: false } as Kline;
  await clock.advance(1_499);
  expect([price('open'), askedAt]).toEqual([null, []]);
  await clock.advance(1);
  expect(price('open')).toBeNull();
  await clock.advance(0);
  expect([price('open'), price('close'), askedAt]).toEqual([97_000, null, [1_500]]);
  state.answer = { open: 97_000, close: 97_500, closed: true } as Kline;
  await clock.advance(HOUR_MS - 1);
  expect([price('close'), askedAt.length]).toEqual([null, 1]);
  await clock.advance(1);
  expect(price('close')).toBeNull();
  await clock.advance(0);
  expect([price('close'), price('open'), askedAt.length]).toEqual([97_500, 97_000, 2]);
});

test('a request that fails is repeated after a delay, and is no defect', async () => {
  const { clock, askedAt, state, price } = setUp();
  state.isAway = true;
  await clock.advance(1_500);
  for (let second = 0; second < 10; second++) {
    expect(price('open')).toBeNull();
    await clock.advance(1_000);
  }
  const failures = askedAt.length;
  expect(failures).toBeGreaterThan(1);
  expect(failures).toBeLessThan(5);
  state.isAway = false;
  state.answer = { open: 97_000, close: 97_010, closed: false } as Kline;
  await clock.advance(60_000);
  price('open');
  await clock.advance(0);
  expect([price('open'), askedAt.length]).toEqual([97_000, failures + 1]);
});
