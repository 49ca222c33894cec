import { beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import type { VenueSocketEvents } from '../../venueSocket.ts';
import { ClobFeed } from './feed.ts';

/** A clock that never fires: only `maintain` retries. */
const clock = {
  atMs: 0,
  now: () => clock.atMs,
  monotonic: () => clock.atMs,
  after: () => ({ cancel: () => undefined }),
};
/** Every attempt to connect, oldest first. */
let attempts: VenueSocketEvents[];
let feed: ClobFeed;

beforeEach(() => {
  clock.atMs = 0;
  attempts = [];
  const socket = { send: () => undefined, close: () => undefined, terminate: () => undefined };
  const sockets = {
    connect: (_: unknown, events: VenueSocketEvents) => {
      attempts.push(events);
      return socket;
    },
    ...{ receiveWaiting: () => true, lagMs: 0 },
  };
  feed = new ClobFeed({
    ...{ url: 'ws://venue', sockets, clock, random: () => 0, log: silentLogger, metrics: new Metrics() },
    ...{ onFrame: () => undefined, onDisconnect: () => undefined },
  });
});

/** One open connection in each of so many groups. */
function opened(groups: number): void {
  for (let at = 0; at < groups; at++) feed.subscribe(`group ${at}`, [String(at)]);
  for (const attempt of attempts) attempt.onOpen();
}

function close(at: number, cause = 'code 1006'): void {
  attempts[at]?.onClosed(cause, clock.atMs, null);
}

function maintainAt(atMs: number): number {
  clock.atMs = atMs;
  feed.maintain();
  return attempts.length;
}

test('one lost connection after the other is tried, one every 700 ms', () => {
  opened(2);
  close(0, 'all subscribed assets resolved');
  close(1);
  expect([maintainAt(1_000), maintainAt(1_699), maintainAt(1_700)]).toEqual([2, 2, 3]);
});

test('a connection whose old tokens are all resolved is tried like any other once it has new tokens', () => {
  opened(1);
  close(0, 'all subscribed assets resolved');
  feed.subscribe('group 0', ['9']);
  expect(attempts).toHaveLength(2);
  close(1);
  expect([maintainAt(1_000), maintainAt(1_001)]).toEqual([3, 3]);
});

test('a request for books tries a lost connection at once', () => {
  opened(2);
  close(0);
  feed.resubscribe('group 1', ['1']);
  feed.resubscribe('group 0', ['9']);
  expect(attempts).toHaveLength(2);
  feed.resubscribe('group 0', ['0']);
  expect(attempts).toHaveLength(3);
});

/** Two of three connections are lost, the first attempt opens one of them, and a follower the other. */
function lostAndFollowed(lostAt: number): void {
  for (const at of [attempts.length - 1, attempts.length - 2]) close(at);
  maintainAt(lostAt);
  attempts.at(-1)?.onOpen();
}

test.each([
  [4_999, 0],
  [5_000, 1],
])('once one connection is back all others are tried, %d ms after the last time: %d', (afterMs, tried) => {
  opened(3);
  lostAndFollowed(10_000);
  expect(maintainAt(10_001)).toBe(5);
  attempts.at(-1)?.onOpen();
  expect(maintainAt(10_002), 'all are open').toBe(5);
  lostAndFollowed(14_600);
  expect(maintainAt(10_001 + afterMs)).toBe(6 + tried);
});

test('when all are open again nothing is tried, and the next others are tried at once', () => {
  opened(3);
  close(0);
  maintainAt(1_000);
  attempts.at(-1)?.onOpen();
  expect(maintainAt(1_100)).toBe(4);
  lostAndFollowed(2_000);
  expect(maintainAt(2_001)).toBe(6);
});

test('after a loss of all that has ended, a loss of fewer is tried one at a time again', () => {
  opened(3);
  for (const at of [0, 1, 2]) close(at);
  expect(maintainAt(1_000)).toBe(4);
  attempts.at(-1)?.onOpen();
  expect(maintainAt(1_001)).toBe(6);
  for (const attempt of attempts.slice(4)) attempt.onOpen();
  expect(maintainAt(1_002)).toBe(6);
  for (const at of [4, 5]) close(at);
  expect([maintainAt(20_000), maintainAt(20_001), maintainAt(20_700)]).toEqual([7, 7, 8]);
});
