import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Ticker } from '../../schema/market.ts';
import { Recorder } from '../recorder.ts';
import { FrameRouter } from './frameRouter.ts';

const START = Date.UTC(2026, 10, 20, 12);

function recorded(tickers?: readonly Ticker[]): string[] {
  const sink = new MemorySink();
  const clock = new FakeClock(START);
  const recorder = new Recorder({
    ...{ clock, sink, log: silentLogger, metrics: new Metrics(), timeBy: 'clock' },
  });
  const router = new FrameRouter({ recorder, log: silentLogger, ...(tickers ? { tickers } : {}) });
  for (const symbol of ['btc/usd', 'hype/usd', 'ada/usd']) {
    const payload = { symbol, timestamp: START, value: 34.5 };
    const frame = { topic: 'crypto_prices_chainlink', type: 'update', timestamp: START, payload };
    router.route('polymarket.rtds', JSON.stringify(frame), START);
  }
  return sink.underlyings.map(({ ticker }) => ticker);
}

test('a live relay that sends more than was subscribed adds no price of another asset', () => {
  expect(recorded(['BTC', 'ETH', 'SOL'])).toEqual(['BTC']);
  expect(recorded(['HYPE'])).toEqual(['HYPE']);
});

test('an import records every known asset', () => {
  expect(recorded()).toEqual(['BTC', 'HYPE']);
});
