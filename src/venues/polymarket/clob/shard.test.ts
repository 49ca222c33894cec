import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { bookFrame as book, changeFrame as changed } from '../../../../test/support/clobFrames.ts';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../../../test/support/localVenue.ts';
import { DelayedSocketDriver } from '../../../../test/support/waitingSockets.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { DirectSocketDriver } from '../../venueSocket.ts';
import { ClobFeed } from './feed.ts';

const GROUP = 'BTC-5m';

let venue: LocalVenue;
let clock: FakeClock;
let feed: ClobFeed;
let metrics: Metrics;
let frames: string[];
let lost: [readonly string[], string][];

beforeEach(async () => {
  venue = await LocalVenue.start();
  clock = new FakeClock();
  metrics = new Metrics();
  frames = [];
  lost = [];
  feed = new ClobFeed({
    url: `${venue.wsUrl}/ws/market`,
    sockets: new DirectSocketDriver(clock),
    clock,
    random: () => 0,
    log: silentLogger,
    metrics,
    isDoubled: (group) => group === GROUP,
    onFrame: (frame) => frames.push(frame),
    onDisconnect: (tokenIds, cause) => lost.push([tokenIds, cause]),
  });
  feed.subscribe(GROUP, ['1', '2']);
  await until(
    () => venue.connections.length === 2 && venue.connections.every((one) => one.received.length > 0),
  );
});
afterEach(async () => {
  await feed.close();
  await venue.stop();
});

const first = (...tokens: string[]) =>
  JSON.stringify(tokens.map((asset_id) => ({ event_type: 'book', asset_id, last_trade_price: '0.500' })));
const change = (n: number) => `{"event_type":"price_change","n":${n}}`;
const say = (lane: number, ...texts: string[]) => {
  for (const text of texts) venue.connections[lane]?.socket.send(text);
};
/** Waits until everything sent so far has arrived, by a last text on each open connection. */
async function settled(): Promise<void> {
  const open = venue.connections.filter(({ closed }) => !closed);
  const before = frames.filter((text) => text === 'NO NEW ASSETS').length;
  for (const { socket } of open) socket.send('NO NEW ASSETS');
  await until(() => frames.filter((text) => text === 'NO NEW ASSETS').length === before + open.length);
  frames = frames.filter((text) => text !== 'NO NEW ASSETS');
}

describe('two connections of one group', () => {
  test('pass each frame once, and a subscription’s books from one of them', async () => {
    say(0, first('1', '2'), change(1), change(2));
    await settled();
    say(1, first('1', '2'), change(1), change(2), change(3), change(3));
    await settled();
    say(0, change(3), change(3), change(4));
    await settled();
    expect(frames).toEqual([first('1', '2'), ...[1, 2, 3, 3, 4].map(change)]);
    const copies = 'underround_clob_second_copies_total';
    expect(await metrics.registry.getSingleMetricAsString(copies)).toContain(`\n${copies} 4`);
  });

  test('pass a list of books that follow a trade once, though both have the tokens', async () => {
    const afterTrade = JSON.stringify(['1', '2'].map((asset_id) => ({ event_type: 'book', asset_id })));
    for (const lane of [0, 1]) {
      say(lane, first('1', '2'));
      await settled();
    }
    for (const lane of [1, 0]) {
      say(lane, afterTrade);
      await settled();
    }
    expect(frames).toEqual([first('1', '2'), afterTrade]);
  });

  test('pass the books of tokens that only one of them delivered', async () => {
    say(0, first('1'));
    await settled();
    say(1, first('1', '2'));
    await settled();
    expect(frames).toEqual([first('1'), first('2')]);
  });

  test('hide the loss of one while the other delivers the same books, and report the second loss', async () => {
    say(0, first('1', '2'));
    await settled();
    say(1, first('1', '2'));
    await settled();
    venue.connections[0]?.socket.close(1013);
    await until(() => venue.connections[0]?.closed === true);
    await settled();
    expect(lost).toEqual([]);
    await clock.advance(250);
    await until(() => venue.connections.length === 3);
    // The new connection has delivered no books yet: those of the old one are lost with it.
    venue.connections[1]?.socket.close(1013);
    await until(() => lost.length === 1);
    expect(lost).toEqual([[['1', '2'], 'closed 1013']]);
  });

  test('hide the loss of one before any book arrived: the other delivers them', async () => {
    venue.connections[0]?.socket.close(1013);
    await until(() => venue.connections[0]?.closed === true);
    await settled();
    say(1, first('1', '2'));
    await settled();
    expect(lost).toEqual([]);
    expect(frames).toEqual([first('1', '2')]);
  });

  test('replace a connection that is silent beside its twin, without reporting a loss', async () => {
    say(0, first('1', '2'));
    await settled();
    say(1, first('1', '2'));
    await settled();
    for (let second = 0; second < 7; second++) {
      await clock.advance(1000);
      say(1, ...Array.from({ length: 10 }, (_, i) => change(second * 10 + i)));
      await until(() => frames.length === 1 + (second + 1) * 10);
      feed.maintain();
    }
    await until(() => venue.connections.length === 3);
    expect(venue.connections.map(({ closed }) => closed)).toEqual([true, false, false]);
    expect(lost).toEqual([]);
  });

  test('keep both when neither delivers frames', async () => {
    for (let second = 1; second <= 60; second++) {
      await clock.advance(1000);
      // Both answer their keep-alives.
      await until(() => frames.length === 2 * Math.floor(second / 10));
      feed.maintain();
    }
    expect(venue.connections.map(({ closed }) => closed)).toEqual([false, false]);
  });

  test('pass a frame that the venue repeats after one of them was replaced', async () => {
    say(1, change(7));
    await settled();
    venue.connections[0]?.socket.close(1013);
    await until(() => venue.connections[0]?.closed === true);
    await settled();
    await clock.advance(250);
    await until(() => venue.connections.length === 3);
    say(2, change(7));
    await settled();
    expect(frames).toEqual([change(7), change(7)]);
  });

  test('request renewed books on both and pass the first answer', async () => {
    say(0, first('1', '2'));
    await settled();
    say(1, first('1', '2'));
    await settled();
    feed.resubscribe(GROUP, ['1']);
    await until(() => venue.connections.every(({ received }) => received.length === 3));
    say(1, first('1'));
    await settled();
    say(0, first('1'));
    await settled();
    expect(frames).toEqual([first('1', '2'), first('1')]);
  });
});

describe('a connection that joins another', () => {
  test('passes changes in order, even when the later connection is read first', async () => {
    say(0, book(400, '1', '2'));
    await settled();
    say(1, book(456, '1', '2'), changed(500));
    await settled();
    expect(frames).toEqual([book(400, '1', '2')]);
    say(0, changed(405), changed(456), changed(500), changed(510));
    await settled();
    say(1, changed(510), changed(520));
    await settled();
    const order = [405, 456, 500, 510, 520].map(changed);
    expect(frames).toEqual([book(400, '1', '2'), ...order]);
  });

  test('passes what it held back as soon as its twin delivers the change of its own book', async () => {
    say(0, book(400, '1', '2'));
    await settled();
    say(1, book(456, '1', '2'), changed(500));
    await settled();
    say(0, changed(405));
    await settled();
    expect(frames).toEqual([book(400, '1', '2'), changed(405)]);
    say(0, changed(456));
    await settled();
    expect(frames.slice(2)).toEqual([changed(456), changed(500)]);
  });

  test('holds back nothing when both received the same book', async () => {
    say(0, book(400, '1', '2'));
    await settled();
    say(1, book(400, '1', '2'), changed(500));
    await settled();
    expect(frames).toEqual([book(400, '1', '2'), changed(500)]);
  });

  test('continues with its own book when its twin delivers nothing for a second', async () => {
    say(0, book(400, '1', '2'));
    await settled();
    say(1, book(456, '1', '2'), changed(500));
    await settled();
    await clock.advance(999);
    feed.maintain();
    expect(frames).toEqual([book(400, '1', '2')]);
    await clock.advance(1);
    feed.maintain();
    expect(frames).toEqual([book(400, '1', '2'), book(456, '1', '2'), changed(500)]);
    say(0, changed(405), changed(510));
    await settled();
    expect(frames.slice(3)).toEqual([changed(405), changed(510)]);
  });

  test('drops what it held back of a market that is unsubscribed', async () => {
    feed.subscribe(GROUP, ['3', '4']);
    say(0, book(400, '1', '2'));
    await settled();
    say(1, book(456, '1', '2'), changed(500));
    await settled();
    feed.unsubscribe(GROUP, ['1', '2']);
    await clock.advance(1_000);
    feed.maintain();
    expect(frames).toEqual([book(400, '1', '2')]);
  });

  test('drops what it held back of a market whose books are requested again', async () => {
    say(0, book(400, '1', '2'));
    await settled();
    say(1, book(456, '1', '2'), changed(500));
    await settled();
    feed.resubscribe(GROUP, ['1', '2']);
    say(1, book(600, '1', '2'), changed(610));
    await settled();
    expect(frames).toEqual([book(400, '1', '2'), book(600, '1', '2'), changed(610)]);
  });

  test('reports a loss when its twin dies before delivering the changes up to the new book', async () => {
    say(0, book(400, '1', '2'));
    await settled();
    say(1, book(456, '1', '2'), changed(500));
    await settled();
    venue.connections[0]?.socket.close(1013);
    await until(() => lost.length === 1);
    expect(lost).toEqual([[['1', '2'], 'closed 1013']]);
    expect(frames).toEqual([book(400, '1', '2'), book(456, '1', '2'), changed(500)]);
  });
});

/** Two open connections without a venue, silent for 6 s. */
async function silentPair() {
  const sockets = new DelayedSocketDriver();
  const parts = { url: 'ws://venue', random: () => 0, log: silentLogger, metrics: new Metrics() };
  const doubled = new ClobFeed({
    ...{ ...parts, sockets, clock, onFrame: () => undefined, onDisconnect: () => undefined },
    isDoubled: () => true,
  });
  onTestFinished(() => doubled.close());
  doubled.subscribe(GROUP, ['1', '2']);
  const { connections } = sockets;
  for (const connection of connections) connection.onOpen();
  await clock.advance(6_000);
  let n = 0;
  const hear = (at: number, count: number) => {
    for (let i = 0; i < count; i++) connections[at]?.onFrame(change(n++), clock.now(), 10);
  };
  return { doubled, sockets, connections, hear };
}

test.each([
  [29, 2],
  [30, 3],
])('beside a silent connection %i frames of its twin make %i connections', async (count, opened) => {
  const { doubled, connections, hear } = await silentPair();
  hear(1, count);
  doubled.maintain();
  expect(connections).toHaveLength(opened);
});

test('no connection is replaced for its silence while frames wait to be delivered', async () => {
  const { doubled, sockets, connections, hear } = await silentPair();
  hear(1, 30);
  const judged = [true, false].map((isBehind) => {
    sockets.isBehind = isBehind;
    return [doubled.maintain(), connections.length];
  });
  expect(judged).toEqual([
    [false, 2],
    [true, 3],
  ]);
});

test('a group is as silent as the connection that delivered last', async () => {
  const { doubled, hear } = await silentPair();
  expect(doubled.silentForMs(GROUP)).toBe(6_000);
  hear(1, 1);
  await clock.advance(100);
  expect(doubled.silentForMs(GROUP)).toBe(100);
});

test.each([
  ['gets connections of its own while one of the pair is loaded', 0, 4],
  ['gets none for a load of which most was a minute ago', 60_000, 2],
])('a new window %s', async (_, laterMs, count) => {
  const { doubled, connections } = await silentPair();
  const load = 'x'.repeat(900_000);
  for (let i = 0; i < 3; i++) connections[1]?.onFrame(load, clock.now(), load.length);
  await clock.advance(laterMs);
  connections[1]?.onFrame(load, clock.now(), load.length);
  doubled.subscribe(GROUP, ['3', '4']);
  expect(connections).toHaveLength(count);
});

test('frames of its twin from before a connection last spoke do not count', async () => {
  const { doubled, connections, hear } = await silentPair();
  hear(1, 25);
  hear(0, 1);
  await clock.advance(999);
  doubled.maintain();
  await clock.advance(1);
  hear(1, 4);
  doubled.maintain();
  await clock.advance(5_000);
  hear(1, 25);
  doubled.maintain();
  expect(connections).toHaveLength(2);
  hear(1, 1);
  doubled.maintain();
  expect(connections).toHaveLength(3);
});

test.each(['was replaced', 'was down'])('a connection that %s has 6 s for its first frame', async (how) => {
  const { doubled, connections, hear } = await silentPair();
  if (how === 'was down') connections[0]?.onClosed('closed 1013', clock.now(), null);
  hear(1, 40);
  doubled.maintain();
  await clock.advance(500);
  hear(1, 40);
  doubled.maintain();
  expect(connections).toHaveLength(3);
  await clock.advance(10_000);
  hear(1, 40);
  doubled.maintain();
  // It is not open yet.
  expect(connections).toHaveLength(3);
  connections[2]?.onOpen();
  await clock.advance(100);
  hear(1, 40);
  doubled.maintain();
  expect(connections).toHaveLength(3);
  await clock.advance(5_899);
  hear(1, 40);
  doubled.maintain();
  expect(connections).toHaveLength(3);
  await clock.advance(1);
  doubled.maintain();
  expect(connections).toHaveLength(4);
});

test('a connection whose frames wait for this thread is not taken for one that is silent beside its twin', async () => {
  const sockets = new DelayedSocketDriver();
  const onFrame = (frame: string) => frames.push(frame);
  const parts = { url: 'ws://venue', random: () => 0, log: silentLogger, metrics: new Metrics() };
  const busy = new ClobFeed({
    ...{ ...parts, sockets, clock, onFrame },
    isDoubled: () => true,
    onDisconnect: (tokenIds, cause) => lost.push([tokenIds, cause]),
  });
  busy.subscribe(GROUP, ['1', '2']);
  const [one, other] = sockets.connections;
  for (const connection of [one, other]) connection!.onOpen();
  await clock.advance(6_000);
  for (let n = 0; n < 40; n++) other!.onFrame(change(n), clock.now(), 10);
  sockets.wait(() => one!.onFrame(change(0), clock.now(), 10));
  busy.maintain();
  expect(sockets.connections).toHaveLength(2);
  await clock.advance(6_000);
  for (let n = 40; n < 80; n++) other!.onFrame(change(n), clock.now(), 10);
  busy.maintain();
  expect(sockets.connections).toHaveLength(3);
  await busy.close();
});
