import { beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { JoinBuffer } from './joinBuffer.ts';

const book = (assetId: string, timeMs: number) => ({
  ...{ event_type: 'book', asset_id: assetId, market: '0xa', timestamp: String(timeMs) },
});
const change = (timeMs: number) =>
  JSON.stringify({ market: '0xa', event_type: 'price_change', timestamp: String(timeMs) });

let buffer: JoinBuffer;
let clock: FakeClock;

/** Connection 0 has served the market up to 100; connection 1 joins with books of later times. */
beforeEach(() => {
  clock = new FakeClock();
  buffer = new JoinBuffer(clock);
  buffer.onBooks(0, { news: [book('yes', 100), book('no', 100)], repeated: [] });
});

function join(...books: readonly ReturnType<typeof book>[]): void {
  buffer.onBooks(1, { news: [], repeated: books });
}

/** Whether a frame of connection 0 of this time releases a held frame of connection 1. */
function releases(timeMs: number): boolean {
  const text = change(timeMs);
  buffer.hold(0, text);
  return buffer.releasedBy(0, text).length > 0;
}

test.each([
  [300, 200],
  [200, 300],
])('a join waits for the time of its newest book: %i or %i', (yesMs, noMs) => {
  join(book('yes', yesMs), book('no', noMs));
  expect(buffer.hold(1, change(310))).toBe(true);
  expect([releases(299), releases(300)]).toEqual([false, true]);
});

test('a later frame with an earlier time does not take back what a connection has delivered', () => {
  expect(buffer.hold(0, change(300))).toBe(false);
  expect(buffer.hold(0, change(150))).toBe(false);
  join(book('yes', 250));
  expect(buffer.hold(1, change(310))).toBe(false);
});

test('a trade does not show that the changes before it were delivered', () => {
  const trade = JSON.stringify({ market: '0xa', event_type: 'last_trade_price', timestamp: '400' });
  expect(buffer.hold(0, trade)).toBe(false);
  join(book('yes', 300));
  expect(buffer.hold(1, change(310))).toBe(true);
  expect(buffer.releasedBy(0, trade)).toEqual([]);
});

test('a frame without a time does not take back what a connection has delivered', () => {
  const untimed = JSON.stringify({ market: '0xa', event_type: 'price_change' });
  expect(buffer.hold(0, untimed)).toBe(false);
  join(book('yes', 300));
  expect([buffer.hold(1, change(310)), releases(299)]).toEqual([true, false]);
});

test('a second after the first held frame, the books and all held frames are due', async () => {
  join(book('yes', 300));
  await clock.advance(500);
  expect(buffer.drain(1, 'due')).toEqual([]);
  buffer.hold(1, change(310));
  await clock.advance(600);
  buffer.hold(1, change(320));
  await clock.advance(399);
  expect(buffer.drain(1, 'due')).toEqual([]);
  await clock.advance(1);
  const due = [JSON.stringify([book('yes', 300)]), change(310), change(320)];
  expect([buffer.drain(1, 'due'), buffer.drain(1, 'all')]).toEqual([due, []]);
});

test('a book that both connections have brought shows how far the second one is', () => {
  join(book('yes', 300));
  buffer.drain(1, 'all');
  buffer.onDown(0);
  buffer.onBooks(0, { news: [], repeated: [book('yes', 250)] });
  expect(buffer.hold(0, change(310))).toBe(false);
});

test('a lost connection holds nothing back', () => {
  join(book('yes', 300));
  buffer.onDown(1);
  expect(buffer.joiningTokens(1)).toEqual(new Set());
  expect(buffer.hold(1, change(310))).toBe(false);
});

test('what a lost connection had delivered releases nothing', () => {
  buffer.hold(0, change(400));
  buffer.onDown(0);
  join(book('yes', 300));
  expect([buffer.hold(1, change(310)), releases(299)]).toEqual([true, false]);
});

test('a market that is forgotten while it is joined holds nothing back', () => {
  join(book('yes', 300));
  buffer.forget(['yes']);
  expect(buffer.joiningTokens(1)).toEqual(new Set());
  expect(buffer.hold(1, change(310))).toBe(false);
});

test('after a market is forgotten, its earlier deliveries release nothing that is held back', () => {
  buffer.hold(0, change(400));
  buffer.forget(['yes']);
  join(book('yes', 300));
  expect([buffer.hold(1, change(310)), releases(299)]).toEqual([true, false]);
});
