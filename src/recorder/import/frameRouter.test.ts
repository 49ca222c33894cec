import { describe, expect, test } from 'vitest';
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

describe('the snapshot of a Binance futures book, which names no symbol', () => {
  function route(frames: readonly object[]) {
    const sink = new MemorySink();
    const parts = { clock: new FakeClock(START), sink, log: silentLogger, metrics: new Metrics() };
    const recorder = new Recorder({ ...parts, timeBy: 'receipt' });
    const router = new FrameRouter({ recorder, log: silentLogger });
    for (const frame of frames) router.route('binance', JSON.stringify(frame), START);
    return sink.depths.map(({ ticker, updateId, bids }) => [ticker, updateId, bids[0]?.[0]]);
  }
  const update = (s: string, U: number, u: number, pu: number) => ({
    ...{ e: 'depthUpdate', E: START, T: START, s },
    ...{ U, u, pu, b: [], a: [] },
  });
  const snapshot = (lastUpdateId: number, bid: string) => ({
    ...{ lastUpdateId, E: START, T: START },
    ...{ bids: [[bid, '1']], asks: [] },
  });

  test('is used at once while the recording has named one symbol', () => {
    expect(route([update('BTCUSDT', 100, 105, 99), snapshot(103, '90000')])).toEqual([['BTC', 105, '90000']]);
  });

  test('is used for the one symbol whose updates enclose its id', () => {
    const named = [update('BTCUSDT', 100, 105, 99), update('ETHUSDT', 900, 905, 899)];
    const later = [update('BTCUSDT', 106, 950, 105), update('BTCUSDT', 951, 960, 950)];
    expect(route([...named, snapshot(903, '3000')])).toEqual([]);
    expect(route([update('BTCUSDT', 906, 907, 905), named[1]!, snapshot(903, '3000')])).toEqual([
      ['ETH', 905, '3000'],
    ]);
    // Both enclose it.
    expect(route([...named, snapshot(903, '3000'), ...later])).toEqual([]);
  });
});
