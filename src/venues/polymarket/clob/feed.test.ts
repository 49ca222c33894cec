import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { LocalVenue, until, type VenueConnection } from '../../../../test/support/localVenue.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { DirectSocketDriver } from '../../venueSocket.ts';
import { ClobFeed } from './feed.ts';

let venue: LocalVenue;
let clock: FakeClock;
let feed: ClobFeed;
let frames: string[];
let lost: [readonly string[], string][];

beforeEach(async () => {
  venue = await LocalVenue.start();
  clock = new FakeClock();
  frames = [];
  lost = [];
  feed = new ClobFeed({
    url: `${venue.wsUrl}/ws/market`,
    sockets: new DirectSocketDriver(clock),
    clock,
    random: () => 0,
    log: silentLogger,
    metrics: new Metrics(),
    onFrame: (frame) => frames.push(frame),
    onDisconnect: (tokenIds, cause) => lost.push([tokenIds, cause]),
  });
});
afterEach(async () => {
  await feed.close();
  await venue.stop();
});

const messages = (connection: VenueConnection) =>
  connection.received.filter((text) => text !== 'PING').map((text) => JSON.parse(text));
const heard = (count: number, at = -1) =>
  until(() => venue.connections.length > 0 && messages(venue.connections.at(at)!).length === count);
const names = (count: number, from = 0) => Array.from({ length: count }, (_, i) => String(1000 + from + i));

describe('ClobFeed', () => {
  test('subscribes with type market, then changes tokens on the open socket, with the flag each time', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    await heard(1);
    feed.subscribe('BTC 5m', ['2', '3', '4', '3']);
    feed.unsubscribe('BTC 5m', ['1', '9']);
    await heard(3);
    expect(messages(venue.latest)).toEqual([
      { assets_ids: ['1', '2'], type: 'market', custom_feature_enabled: true },
      { assets_ids: ['3', '4'], operation: 'subscribe', custom_feature_enabled: true },
      { assets_ids: ['1'], operation: 'unsubscribe', custom_feature_enabled: true },
    ]);
    expect(venue.connections).toHaveLength(1);
    expect(venue.latest.path).toBe('/ws/market');
  });

  test('sends subscriptions made before the socket is open in the first frame', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    feed.subscribe('BTC 5m', ['3', '4']);
    await heard(1);
    expect(messages(venue.latest)).toEqual([
      { assets_ids: ['1', '2', '3', '4'], type: 'market', custom_feature_enabled: true },
    ]);
  });

  test('gives each group its own sockets with at most 400 assets each', async () => {
    feed.subscribe('BTC 5m', names(398));
    feed.subscribe('BTC 5m', names(4, 500));
    feed.subscribe('BTC 5m', names(2, 600));
    feed.subscribe('ETH 5m', ['1', '2']);
    await until(
      () =>
        venue.connections.length === 3 && venue.connections.every(({ received }) => received.length === 1),
    );
    const counts = venue.connections.map((connection) => messages(connection)[0].assets_ids.length);
    expect(counts.sort((a, b) => a - b)).toEqual([2, 4, 400]);
  });

  test('splits a list that is too long for one socket', async () => {
    feed.subscribe('BTC 5m', names(900));
    await until(
      () =>
        venue.connections.length === 3 && venue.connections.every(({ received }) => received.length === 1),
    );
    const sent = venue.connections.flatMap((connection) => messages(connection)[0].assets_ids);
    expect(sent.sort()).toEqual(names(900).sort());
  });

  test('opens a connection for a new window while the group’s own is loaded, and moves no live book', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    await heard(1);
    const load = 'x'.repeat(900_000);
    for (let i = 0; i < 3; i++) venue.latest.socket.send(load);
    await until(() => frames.length === 3);
    feed.subscribe('BTC 5m', ['3', '4']);
    await until(() => venue.connections.length === 2);
    await heard(1);
    // The new connection carries the least.
    feed.subscribe('BTC 5m', ['5', '6']);
    await heard(2);
    expect(venue.connections.map((connection) => messages(connection))).toEqual([
      [{ assets_ids: ['1', '2'], type: 'market', custom_feature_enabled: true }],
      [
        { assets_ids: ['3', '4'], type: 'market', custom_feature_enabled: true },
        { assets_ids: ['5', '6'], operation: 'subscribe', custom_feature_enabled: true },
      ],
    ]);
    // The load of a minute ago no longer counts. Both connections answer their keep-alives meanwhile.
    for (let answers = 2; answers <= 12; answers += 2) {
      await clock.advance(10_000);
      await until(() => frames.filter((frame) => frame === 'PONG').length === answers);
    }
    venue.latest.socket.send(load);
    await until(() => frames.filter((frame) => frame.startsWith('x')).length === 4);
    feed.subscribe('BTC 5m', ['7', '8']);
    await until(() => messages(venue.connections[0]!).length === 2);
    expect(venue.connections).toHaveLength(2);
  });

  test('opens at most four connections for the load of a group', async () => {
    const load = 'x'.repeat(900_000);
    for (let windows = 1; windows <= 6; windows++) {
      feed.subscribe('BTC 5m', [String(2 * windows), String(2 * windows + 1)]);
      await until(() => venue.connections.length === Math.min(windows, 4));
      await until(() => venue.connections.every(({ received }) => received.length > 0));
      const before = frames.length;
      for (const { socket } of venue.connections) for (let i = 0; i < 3; i++) socket.send(load);
      await until(() => frames.length === before + 3 * venue.connections.length);
    }
    expect(venue.connections).toHaveLength(4);
  });

  test('passes on every text, including texts that are not JSON', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    await heard(1);
    for (const text of ['[]', 'NO NEW ASSETS', '{"event_type":"book"}']) venue.latest.socket.send(text);
    await clock.advance(10_000);
    await until(() => frames.length === 4);
    expect(frames).toEqual(['[]', 'NO NEW ASSETS', '{"event_type":"book"}', 'PONG']);
  });

  test('reports the lost tokens after a disconnect and subscribes all tokens again', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    await heard(1);
    feed.subscribe('BTC 5m', ['3', '4']);
    feed.unsubscribe('BTC 5m', ['1', '2']);
    await heard(3);
    venue.latest.socket.close(1013, 'slow consumer: send buffer full');
    await until(() => lost.length === 1);
    expect(lost).toEqual([[['3', '4'], 'closed 1013 slow consumer: send buffer full']]);
    await clock.advance(250);
    await until(() => venue.connections.length === 2);
    await heard(1);
    expect(messages(venue.latest)).toEqual([
      { assets_ids: ['3', '4'], type: 'market', custom_feature_enabled: true },
    ]);
  });

  test('keeps a quiet socket that answers keep-alives', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    await heard(1);
    for (let i = 1; i <= 30; i++) {
      await clock.advance(10_000);
      await until(() => frames.length === i);
    }
    expect(lost).toEqual([]);
    expect(feed.silentForMs('BTC 5m')).toBe(300_000);
  });

  test('replaces a socket whose keep-alive has no answer for 25 s, seen with the next one', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    await heard(1);
    venue.latest.answersPing = false;
    await clock.advance(39_999);
    expect(lost).toEqual([]);
    await clock.advance(1);
    expect(lost).toEqual([[['1', '2'], 'PING unanswered for 25000 ms']]);
  });

  test('a group without a connection is down, and its silence is endless', async () => {
    expect([feed.isUp('BTC 5m'), feed.isDoubled('BTC 5m'), feed.silentForMs('BTC 5m')]).toEqual([
      false,
      false,
      Number.POSITIVE_INFINITY,
    ]);
    // None of these has a connection to work on, and none opens one.
    feed.unsubscribe('BTC 5m', ['1']);
    feed.resubscribe('BTC 5m', ['1']);
    feed.reconnect('BTC 5m', 'silent');
    feed.subscribe('ETH 5m', ['2']);
    await heard(1);
    expect(venue.connections).toHaveLength(1);
    expect([feed.isUp('ETH 5m'), feed.isDoubled('ETH 5m'), feed.silentForMs('ETH 5m')]).toEqual([
      true,
      false,
      0,
    ]);
  });

  test('reconnects rarely after "all resolved", but at once for a new subscription', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    await heard(1);
    venue.latest.socket.close(1000, 'all subscribed assets resolved');
    await until(() => lost.length === 1);
    await clock.advance(29_999);
    expect(venue.connections).toHaveLength(1);
    feed.subscribe('BTC 5m', ['3', '4']);
    await until(() => venue.connections.length === 2);
    await heard(1);
    expect(messages(venue.latest)[0].assets_ids).toEqual(['1', '2', '3', '4']);
  });

  test('closes a socket without tokens and opens a new one for later subscriptions', async () => {
    feed.subscribe('BTC 5m', ['1', '2']);
    await heard(1);
    feed.unsubscribe('BTC 5m', ['1', '2']);
    await until(() => venue.latest.closed);
    expect(lost).toEqual([]);
    feed.subscribe('BTC 5m', ['3', '4']);
    await until(() => venue.connections.length === 2);
    await heard(1);
    expect(messages(venue.latest)).toEqual([
      { assets_ids: ['3', '4'], type: 'market', custom_feature_enabled: true },
    ]);
  });
});
