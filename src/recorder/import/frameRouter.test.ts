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

describe('a relayed price whose time cannot be right', () => {
  function route(timeBy: 'clock' | 'receipt', wrongTimeMs: number) {
    const metrics = new Metrics();
    const sink = new MemorySink();
    const recorder = new Recorder({
      ...{ clock: new FakeClock(START), sink, log: silentLogger, metrics, timeBy },
    });
    const router = new FrameRouter({ recorder, log: silentLogger });
    const timesMs = [START + 1_000, wrongTimeMs, START + 3_000];
    for (const [index, timestamp] of timesMs.entries()) {
      const payload = { symbol: 'btcusd', source: 'chainlink', timestamp, value: 97_000 };
      const frame = { v: 1, channel: 'price.crypto', seq: index + 1, ts: START, payload };
      router.route('polymarket.polybolt', JSON.stringify(frame), START + (index + 1) * 1_000 + 900);
    }
    const stored = sink.underlyings.map(({ eventTimeMs }) => eventTimeMs - START);
    return { stored, rejected: router.rejected, setAside: metrics.venueDrift.takeSetAside().length };
  }
  const DAY_MS = 86_400_000;

  test.each([
    ['in microseconds', 'clock', (START + 2_000) * 1_000],
    ['in microseconds, in a recording', 'receipt', (START + 2_000) * 1_000],
    ['in seconds', 'clock', START / 1_000 + 2],
    ['more than a day ahead', 'clock', START + 2_901 + DAY_MS],
  ] as const)('is set aside, and the series goes on: %s', (_, timeBy, timeMs) => {
    expect(route(timeBy, timeMs)).toEqual({ stored: [1_000, 3_000], rejected: 1, setAside: 1 });
  });

  test('the clock of a recording is unknown, and our own may be wrong by hours', () => {
    expect(route('receipt', START + 3 * DAY_MS).rejected).toBe(0);
    expect(route('clock', START + 2_900 + DAY_MS).rejected).toBe(0);
  });
});
