import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../test/support/localVenue.ts';
import { DelayedSocketDriver } from '../../test/support/waitingSockets.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { UnderlyingEvent } from '../schema/events.ts';
import { UnderlyingSource, type UnderlyingSourceOptions } from './underlying.ts';
import { DirectSocketDriver } from './venueSocket.ts';

let binance: LocalVenue;
let coinbase: LocalVenue;
let clock: FakeClock;
let metrics: Metrics;
let events: UnderlyingEvent[];
let source: UnderlyingSource;

beforeEach(async () => {
  binance = await LocalVenue.start();
  coinbase = await LocalVenue.start();
  clock = new FakeClock();
  metrics = new Metrics();
  events = [];
});
afterEach(async () => {
  await source.close();
  await binance.stop();
  await coinbase.stop();
});

function start(options: Partial<UnderlyingSourceOptions> = {}): void {
  source = new UnderlyingSource({
    spotWsUrl: binance.wsUrl,
    spotFallbackWsUrl: coinbase.wsUrl,
    tickers: ['BTC', 'ETH', 'SOL'],
    sockets: new DirectSocketDriver(clock),
    clock,
    random: () => 0,
    log: silentLogger,
    metrics,
    onEvent: (event) => events.push(event),
    ...options,
  });
}

async function trade(price: string): Promise<void> {
  const data = { e: 'trade', s: 'BTCUSDT', p: price, T: clock.now() };
  binance.latest.socket.send(JSON.stringify({ stream: 'btcusdt@trade', data }));
  const known = events.length;
  await until(() => events.length === known + 1);
}

describe('UnderlyingSource', () => {
  test('delivers prices that wait before it judges the primary silent', async () => {
    const sockets = new DelayedSocketDriver();
    start({ sockets });
    sockets.connections[0]!.onOpen();
    const data = { e: 'trade', s: 'BTCUSDT', p: '61000.5', T: clock.now() };
    for (let second = 1; second <= 10; second++) {
      const frame = JSON.stringify({ stream: 'btcusdt@trade', data: { ...data, T: clock.now() + second } });
      sockets.wait(() => sockets.connections[0]!.onFrame(frame, clock.now(), frame.length));
      await clock.advance(1_000);
    }
    expect(events).toHaveLength(10);
    await clock.advance(4_000);
    expect(sockets.connections).toHaveLength(1);
    sockets.isBehind = true;
    await clock.advance(10_000);
    expect(sockets.connections).toHaveLength(1);
    sockets.isBehind = false;
    await clock.advance(1_000);
    expect(sockets.connections).toHaveLength(2);
  });

  test('subscribes to the trades of all tickers on the primary, without the fallback', async () => {
    start();
    await until(() => binance.connections.length === 1);
    expect(binance.latest.path).toBe('/stream?streams=btcusdt@trade/ethusdt@trade/solusdt@trade');
    for (let i = 0; i < 10; i++) {
      await trade(`${61_000 + i}.5`);
      await clock.advance(2_000);
    }
    expect(coinbase.connections).toHaveLength(0);
    expect(events.at(-1)).toMatchObject({
      source: 'binance_spot',
      price: 61009.5,
      eventTimeMs: clock.now() - 2_000,
    });
  });

  test('starts the fallback after 5 s without a price, stops it 5 s after the primary is back', async () => {
    start();
    await until(() => binance.connections.length === 1);
    await trade('61000');
    await clock.advance(4_999);
    expect(coinbase.connections).toHaveLength(0);
    await clock.advance(1);
    await until(() => coinbase.connections[0]?.received.length === 1);
    expect(JSON.parse(coinbase.latest.received[0]!)).toEqual({
      type: 'subscribe',
      product_ids: ['BTC-USD', 'ETH-USD', 'SOL-USD'],
      channels: ['ticker', 'heartbeat'],
    });
    const tick = { type: 'ticker', product_id: 'BTC-USD', price: '61001', time: '2026-11-20T12:00:05.000Z' };
    coinbase.latest.socket.send(JSON.stringify(tick));
    await until(() => events.length === 2);
    expect(events[1]).toMatchObject({ source: 'coinbase_spot', price: 61001 });
    await trade('61002');
    await clock.advance(3_000);
    await trade('61003');
    await clock.advance(1_000);
    expect(coinbase.latest.closed).toBe(false);
    await clock.advance(1_000);
    await until(() => coinbase.latest.closed);
    expect(coinbase.connections).toHaveLength(1);
  });

  test('marks the first price of each product of the fallback as history, and no later one', async () => {
    start({ spotWsUrl: null });
    await until(() => coinbase.connections[0]?.received.length === 1);
    for (const product_id of ['BTC-USD', 'BTC-USD', 'ETH-USD', 'BTC-USD', 'ETH-USD']) {
      const tick = { type: 'ticker', product_id, price: '61001', time: '2026-11-20T12:00:05.000Z' };
      coinbase.latest.socket.send(JSON.stringify(tick));
    }
    await until(() => events.length === 5);
    expect(events.map(({ isHistory = false }) => isHistory)).toEqual([true, false, true, false, false]);
  });

  test('marks the first price of a product as history again after the fallback has reconnected', async () => {
    const sockets = new DelayedSocketDriver();
    start({ sockets, spotWsUrl: null });
    for (const at of [0, 1]) {
      const { onOpen, onFrame, onClosed } = sockets.connections[at]!;
      onOpen();
      const time = new Date(clock.now()).toISOString();
      const tick = JSON.stringify({ type: 'ticker', product_id: 'BTC-USD', price: '61001', time });
      for (let count = 0; count < 2; count++) onFrame(tick, clock.now(), tick.length);
      onClosed('closed 1013', clock.now(), null);
      await clock.advance(1_000);
    }
    expect(events.map(({ isHistory = false }) => isHistory)).toEqual([true, false, true, false]);
  });

  test('leaves an asset without a product out of the fallback, and needs none for such assets alone', async () => {
    start({ spotWsUrl: null, tickers: ['BTC', 'BNB', 'HYPE'] });
    await until(() => coinbase.connections[0]?.received.length === 1);
    expect(JSON.parse(coinbase.latest.received[0]!).product_ids).toEqual(['BTC-USD', 'HYPE-USD']);
    await source.close();
    start({ spotWsUrl: null, tickers: ['BNB'] });
    await clock.advance(60_000);
    expect(coinbase.connections).toHaveLength(1);
  });

  test('frames without a price do not keep the fallback from starting', async () => {
    const sockets = new DelayedSocketDriver();
    start({ sockets });
    for (let second = 1; second <= 5; second++) {
      sockets.connections[0]!.onFrame('{"result":null,"id":1}', clock.now(), 22);
      await clock.advance(1_000);
    }
    expect(sockets.connections).toHaveLength(2);
  });

  test('prices of the fallback do not end it', async () => {
    const sockets = new DelayedSocketDriver();
    start({ sockets });
    await clock.advance(5_000);
    for (let second = 1; second <= 20; second++) {
      const time = new Date(clock.now()).toISOString();
      const tick = JSON.stringify({ type: 'ticker', product_id: 'BTC-USD', price: '61001', time });
      sockets.connections[1]!.onFrame(tick, clock.now(), tick.length);
      await clock.advance(1_000);
    }
    expect([events.length, sockets.connections.length]).toEqual([20, 2]);
  });

  test('gives the primary 5 s from the start, however long the machine runs already', async () => {
    await clock.advance(60_000);
    const sockets = new DelayedSocketDriver();
    start({ sockets });
    await clock.advance(4_999);
    expect(sockets.connections).toHaveLength(1);
    await clock.advance(1);
    expect(sockets.connections).toHaveLength(2);
  });

  test('opens nothing after close()', async () => {
    const sockets = new DelayedSocketDriver();
    start({ sockets });
    await source.close();
    sockets.connections[0]!.onClosed('closed 1013', clock.now(), null);
    await clock.advance(60_000);
    expect([sockets.connections.length, clock.waiting]).toEqual([1, 0]);
  });

  test('starts the fallback for a primary that cannot be reached', async () => {
    binance.refuseUpgrade = 451;
    start();
    await clock.advance(5_000);
    await until(() => coinbase.connections.length === 1);
  });

  test('runs the fallback at once with the primary off, and nothing with both off', async () => {
    start({ spotWsUrl: null });
    await until(() => coinbase.connections.length === 1);
    await source.close();
    start({ spotWsUrl: null, spotFallbackWsUrl: null });
    await clock.advance(60_000);
    expect(coinbase.connections).toHaveLength(1);
  });

  test('reports the products of both venues that deliver nothing for 10 minutes', async () => {
    const sockets = new DelayedSocketDriver();
    start({ sockets });
    sockets.connections[0]!.onOpen();
    await clock.advance(5_000);
    sockets.connections[1]!.onOpen();
    await clock.advance(1_000);
    const nowMs = clock.now();
    const trade = JSON.stringify({ e: 'trade', s: 'BTCUSDT', p: '61000.5', T: nowMs });
    const time = new Date(nowMs).toISOString();
    const tick = JSON.stringify({ type: 'ticker', product_id: 'ETH-USD', price: '3300', time });
    for (const [at, frame] of [trade, tick].entries())
      sockets.connections[at]!.onFrame(frame, nowMs, frame.length);
    const silent = metrics.venueDrift.topics.silent(nowMs + 599_999);
    expect(silent.map(({ feed, topic }) => `${feed} ${topic}`)).toEqual([
      'binance ETHUSDT',
      'binance SOLUSDT',
      'coinbase BTC-USD',
      'coinbase SOL-USD',
    ]);
  });

  test('sets malformed frames aside, counts them and continues; onFrame receives every frame first', async () => {
    const frames: string[] = [];
    start({ onFrame: (frame) => frames.push(frame) });
    await until(() => binance.connections.length === 1);
    binance.latest.socket.send('{"e":"trade","s":"BTCUSDT"}');
    binance.latest.socket.send('{"result":null,"id":1}');
    await trade('61000');
    expect(frames).toHaveLength(3);
    expect(events).toHaveLength(1);
    const rejected = await metrics.registry.getSingleMetric('underround_frames_rejected_total')!.get();
    expect(rejected.values).toEqual([{ labels: { feed: 'binance' }, value: 1 }]);
  });

  test('keeps a refused frame with its reason for the operator, and hides no defect as one', async () => {
    const sockets = new DelayedSocketDriver();
    start({ sockets });
    const [connection] = sockets.connections;
    const frame = '{"e":"trade","s":"BTCUSDT","p":"-1"}';
    connection!.onFrame(frame, 5, frame.length);
    const { venueDrift } = metrics;
    expect(venueDrift.takeSetAside()).toMatchObject([
      { feed: 'binance', kind: 'trade', receivedTimeMs: 5, text: frame },
    ]);
    expect(venueDrift.findings()).toMatchObject([
      { category: 'refused_message', feed: 'binance', kind: 'trade', count: 1 },
    ]);
    const tick = { type: 'ticker', product_id: 'BTC-USD', price: 'none', time: '2026-11-20T12:00:05Z' };
    await clock.advance(5_000);
    sockets.connections[1]!.onFrame(JSON.stringify(tick), 6, 1);
    expect(venueDrift.takeSetAside()).toMatchObject([
      { feed: 'coinbase', kind: 'ticker', receivedTimeMs: 6 },
    ]);
    const defect = new TypeError('a defect');
    venueDrift.note = () => {
      throw defect;
    };
    expect(() => connection!.onFrame('{"e":"new kind"}', 5, 16)).toThrow(defect);
  });

  test('sets prices aside that are more than a day ahead of their receipt', async () => {
    start();
    await until(() => binance.connections.length === 1);
    const at = (aheadMs: number) => clock.now() + aheadMs;
    const data = { e: 'trade', s: 'BTCUSDT', p: '60000', T: at(86_400_001) };
    binance.latest.socket.send(JSON.stringify({ stream: 'btcusdt@trade', data }));
    await trade('61000');
    await clock.advance(5_000);
    await until(() => coinbase.connections[0]?.received.length === 1);
    for (const aheadMs of [86_400_001, 86_400_000]) {
      const time = new Date(at(aheadMs)).toISOString();
      coinbase.latest.socket.send(
        JSON.stringify({ type: 'ticker', product_id: 'BTC-USD', price: '61001', time }),
      );
    }
    await until(() => events.length === 2);
    expect(events.map(({ price, eventTimeMs }) => [price, eventTimeMs])).toEqual([
      [61_000, at(-5_000)],
      [61_001, at(86_400_000)],
    ]);
    const rejected = await metrics.registry.getSingleMetric('underround_frames_rejected_total')!.get();
    expect(rejected.values).toEqual([
      { labels: { feed: 'binance' }, value: 1 },
      { labels: { feed: 'coinbase' }, value: 1 },
    ]);
  });

  test('reconnects a fallback that is silent for 30 s with its socket open', async () => {
    start({ spotWsUrl: null });
    await until(() => coinbase.connections[0]?.received.length === 1);
    await clock.advance(29_999);
    expect(coinbase.latest.closed).toBe(false);
    await clock.advance(1);
    await until(() => coinbase.latest.closed);
    await clock.advance(250);
    await until(() => coinbase.connections.length === 2);
  });

  test('reconnects a primary that is silent for 30 s with its socket open', async () => {
    start({ spotFallbackWsUrl: null });
    await until(() => binance.connections.length === 1);
    await trade('61000');
    await clock.advance(29_999);
    expect(binance.latest.closed).toBe(false);
    await clock.advance(1);
    await until(() => binance.latest.closed);
    await clock.advance(250);
    await until(() => binance.connections.length === 2);
  });
});
