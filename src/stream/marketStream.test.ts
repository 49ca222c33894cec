import { expect, onTestFinished, test } from 'vitest';
import { bookRecord } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MARKET } from '../../test/support/wire.ts';
import { Bus } from '../bus/bus.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { GapRecord } from '../schema/records.ts';
import type { Connection } from './connection.ts';
import { MarketStream } from './marketStream.ts';
import { StreamMetrics } from './streamMetrics.ts';
import type { TextFrame } from './textFrame.ts';

const M = MARKET.marketId;
const SUBSCRIBE = JSON.stringify({ type: 'subscribe', market_ids: [M] });

/** The stream of one market that has a book. */
function rig() {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const bus = new Bus({ log: silentLogger, metrics });
  const book = bookRecord({ seq: 1, marketId: M, timeMs: MARKET.startTimeMs, yesBids: [], yesAsks: [] });
  const state = { isHalfApplied: false };
  const books = {
    markets: () => [MARKET],
    market: () => MARKET,
    book: () => (state.isHalfApplied ? ('unfinished' as const) : book),
    gap: () => null,
  };
  const stream = new MarketStream({
    ...{ run: '0123456789ab', tickers: ['BTC'], bus, books, clock, metrics: new StreamMetrics(metrics) },
  });
  onTestFinished(() => stream.close());
  /** A client that subscribes to the market; the function disconnects it. */
  const connect = () => {
    const client = {
      ...{ isOpen: true, isPressed: false, onText: (_: string) => {}, onClosed: () => {}, onDrained: null },
      ...{ send: () => {}, sendFrame: () => {}, answer: () => {}, checkBuffered: () => {}, close: () => {} },
    };
    stream.add(client as unknown as Connection);
    client.onText(SUBSCRIBE);
    return () => {
      client.isOpen = false;
      client.onClosed();
    };
  };
  const list = (marketId: string) => bus.publish('market', { ...MARKET, marketId, seq: 2 });
  const isWarm = (marketId = M) => stream.find(marketId)?.isWarm;
  const change = (seq: number) => bus.publish('book', { ...book, seq });
  return { clock, bus, stream, state, connect, list, change, isWarm };
}

test('changes of a market are kept while it has clients, and for a minute after the last one has left', async () => {
  const { clock, connect, isWarm } = rig();
  expect(isWarm()).toBe(false);
  const [leaveFirst, leaveLast] = [connect(), connect()];
  await clock.advance(600_000);
  expect(isWarm()).toBe(true);
  leaveFirst();
  await clock.advance(600_000);
  expect(isWarm()).toBe(true);
  leaveLast();
  await clock.advance(60_000);
  expect(isWarm()).toBe(true);
  // It is checked every 5 s.
  await clock.advance(5_000);
  expect(isWarm()).toBe(false);
});

test('a client that comes back within the minute keeps its market', async () => {
  const { clock, connect, isWarm } = rig();
  const leave = connect();
  leave();
  await clock.advance(59_000);
  connect();
  await clock.advance(600_000);
  expect(isWarm()).toBe(true);
});

test('a market that appears while a client is connected is kept for a minute without a subscriber', async () => {
  const { clock, connect, list, isWarm } = rig();
  list('0x1');
  expect(isWarm('0x1')).toBe(false);
  const leave = connect();
  list('0x2');
  expect(isWarm('0x2')).toBe(true);
  await clock.advance(60_000);
  expect(isWarm('0x2')).toBe(true);
  await clock.advance(5_000);
  expect(isWarm('0x2')).toBe(false);
  leave();
});

test('a client so slow that the log has dropped its messages still gets those about gaps and outcomes', async () => {
  const { clock, bus, stream, change } = rig();
  const got: unknown[] = [];
  const note = (bytes: Buffer) => {
    const { type, state, status } = JSON.parse(bytes.toString());
    got.push(state ?? status ?? type);
  };
  const client = {
    ...{ isOpen: true, isPressed: false, onText: (_: string) => {}, onClosed: () => {}, onDrained: () => {} },
    ...{ send: note, sendFrame: ({ message }: TextFrame) => note(message) },
    ...{ answer: () => {}, checkBuffered: () => {}, close: () => {} },
  };
  stream.add(client as unknown as Connection);
  client.onText(SUBSCRIBE);
  const gap: GapRecord = {
    ...({ gapId: 'gap_1', marketId: M, seq: 3, cause: 'silent_market', feed: 'polymarket.clob' } as const),
    ...{ startTimeMs: MARKET.startTimeMs, startReceivedMs: MARKET.startTimeMs },
    ...{ endTimeMs: null, endReceivedMs: null, knownTimeMs: null, knownSeq: null, repairedBy: null },
  };
  bus.publish('gap', gap);
  await clock.advance(1_000);
  expect(got.splice(0)).toEqual(['snapshot', 'open']);
  client.isPressed = true;
  change(4);
  bus.publish('gap', {
    ...gap,
    endTimeMs: MARKET.startTimeMs + 1,
    endReceivedMs: MARKET.startTimeMs + 1,
    seq: 5,
  });
  bus.publish('market', { ...MARKET, status: 'resolved', outcome: 'Up', seq: 6 });
  await clock.advance(61_000);
  change(7);
  expect(stream.log.firstIndex).toBe(5);
  client.isPressed = false;
  client.onDrained();
  await clock.advance(1_000);
  expect(got).toEqual(['closed', 'resolved', 'skipped', 'snapshot']);
});

test('a book that was half applied when its market was first kept is a change with a number of its own', async () => {
  const { clock, stream, state, connect, list, change } = rig();
  connect();
  change(50);
  state.isHalfApplied = true;
  list('0x2');
  await clock.advance(5);
  state.isHalfApplied = false;
  expect(stream.log.head).toEqual({ index: 1, seq: 50 });
  await clock.advance(1_000);
  expect(stream.log.head).toEqual({ index: 2, seq: 51 });
  await clock.advance(10_000);
  expect(stream.log.head).toEqual({ index: 2, seq: 51 });
});
