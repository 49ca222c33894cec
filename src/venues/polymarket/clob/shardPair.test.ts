import { beforeEach, describe, expect, test } from 'vitest';
import { bookFrame as book, changeFrame as changed } from '../../../../test/support/clobFrames.ts';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import type { VenueSocketEvents } from '../../venueSocket.ts';
import { ClobShard } from './shard.ts';

/** A connection without a venue. It keeps the messages that the shard sends; a test calls its events. */
interface Connection extends VenueSocketEvents {
  readonly sent: object[];
}

let clock: FakeClock;
let shard: ClobShard;
/** Every connection that was opened, oldest first. */
let connections: Connection[];
let frames: string[];
/** The receive times of `frames`. */
let times: number[];
let lost: (readonly string[])[];
/** The number of `frames` at each loss. */
let framesBeforeLoss: number[];

beforeEach(() => {
  clock = new FakeClock();
  [connections, frames, times, lost, framesBeforeLoss] = [[], [], [], [], []];
  const sockets = {
    connect: (_: unknown, events: VenueSocketEvents) => {
      const sent: object[] = [];
      connections.push({ ...events, sent });
      return { send: (text: string) => sent.push(JSON.parse(text)), close() {}, terminate() {} };
    },
    ...{ receiveWaiting: () => true, lagMs: 0 },
  };
  const options = {
    ...{ url: 'ws://venue', sockets, clock, random: () => 0, log: silentLogger, metrics: new Metrics() },
    onFrame: (frame: string, receivedTimeMs: number) => {
      frames.push(frame);
      times.push(receivedTimeMs);
    },
    onDisconnect: (tokenIds: readonly string[]) => {
      lost.push(tokenIds);
      framesBeforeLoss.push(frames.length);
    },
  };
  shard = new ClobShard(options, 'BTC-5m', ['1', '2'], 2);
  for (const { onOpen } of connections) onOpen();
});

const hear = (at: number, ...texts: string[]) => {
  for (const text of texts) connections[at]?.onFrame(text, clock.now(), text.length);
};
/** Loses a connection and opens the next one. */
async function replace(at: number): Promise<void> {
  connections[at]?.onClosed('closed 1013', clock.now(), null);
  await clock.advance(250);
  connections.at(-1)?.onOpen();
}
const change = (n: number) => `{"event_type":"price_change","n":${n}}`;

const sent = (operation: string, ...assets_ids: string[]) => ({
  ...{ assets_ids, custom_feature_enabled: true },
  ...(operation === 'market' ? { type: operation } : { operation }),
});

describe('the tokens', () => {
  test('are subscribed, unsubscribed and requested again on both connections', () => {
    shard.add(['3']);
    shard.remove(['1']);
    shard.renew(['2']);
    const all = [
      ...[sent('market', '1', '2'), sent('subscribe', '3'), sent('unsubscribe', '1')],
      ...[sent('unsubscribe', '2'), sent('subscribe', '2')],
    ];
    expect(connections.map((connection) => connection.sent)).toEqual([all, all]);
  });

  test('of other shards are left alone', () => {
    for (const tokenIds of [['8'], ['1', '9']]) shard.renew(tokenIds);
    for (const tokenIds of [['8'], ['1', '9']]) shard.remove(tokenIds);
    const all = [
      ...[sent('market', '1', '2'), sent('unsubscribe', '1'), sent('subscribe', '1')],
      sent('unsubscribe', '1'),
    ];
    expect(connections.map((connection) => connection.sent)).toEqual([all, all]);
  });

  test.each([0, 1])(
    'are subscribed as they are now by the connection that replaces number %i',
    async (at) => {
      shard.add(['3']);
      shard.remove(['1']);
      await replace(at);
      expect(connections[2]?.sent).toEqual([sent('market', '2', '3')]);
    },
  );
});

describe('the frames', () => {
  test('have the time at which their first copy was received', () => {
    connections[0]?.onFrame(change(1), 5_000, 10);
    connections[1]?.onFrame(change(1), 5_001, 10);
    connections[1]?.onFrame(change(2), 5_002, 10);
    expect([frames, times]).toEqual([
      [change(1), change(2)],
      [5_000, 5_002],
    ]);
  });

  test('are passed as they were received, also those of books', () => {
    const spaced = book(400, '1', '2').replaceAll(',', ', ');
    hear(0, spaced);
    expect(frames).toEqual([spaced]);
  });

  test.each([
    ['books of which one follows a trade', [{ last_trade_price: '0.5' }, {}]],
    ['an event of another kind', [{ event_type: 'other', last_trade_price: '0.5' }]],
    ['a book without a token', [{ asset_id: undefined, last_trade_price: '0.5' }]],
    ['nothing', []],
  ])('with a list of %s are no answer to a subscription: one that repeats is passed again', (_, items) => {
    const text = JSON.stringify(items.map((item) => ({ event_type: 'book', asset_id: '1', ...item })));
    hear(0, text);
    hear(1, text);
    hear(0, text);
    expect(frames).toEqual([text, text]);
  });

  test('that are not JSON are passed on', () => {
    hear(0, '[broken');
    expect(frames).toEqual(['[broken']);
  });

  test('that arrived while the twin was down are new when its replacement delivers them', async () => {
    connections[0]?.onClosed('closed 1013', clock.now(), null);
    hear(1, change(7));
    await clock.advance(250);
    connections[2]?.onOpen();
    hear(2, change(7));
    expect(frames).toEqual([change(7), change(7)]);
  });

  test('of a connection that takes over a market with its own book are passed once', async () => {
    hear(0, book(400, '1', '2'));
    hear(1, book(456, '1', '2'), changed(500));
    await clock.advance(1_000);
    shard.maintain();
    hear(0, changed(405), changed(500));
    expect(frames).toEqual([book(400, '1', '2'), book(456, '1', '2'), changed(500), changed(405)]);
  });

  test.each([
    [0, 1],
    [1, 0],
  ])('held back on connection %i are passed after a second', async (joining, serving) => {
    hear(serving, book(400, '1', '2'));
    hear(joining, book(456, '1', '2'), changed(500));
    await clock.advance(999);
    shard.maintain();
    expect(frames).toEqual([book(400, '1', '2')]);
    await clock.advance(1);
    shard.maintain();
    expect(frames.slice(1)).toEqual([book(456, '1', '2'), changed(500)]);
    expect(times.slice(1)).toEqual([clock.now(), clock.now()]);
  });

  test.each([
    [0, 1],
    [1, 0],
  ])('held back on connection %i are dropped when it is lost', async (joining, serving) => {
    hear(serving, book(400, '1', '2'));
    hear(joining, book(456, '1', '2'), changed(500));
    await replace(joining);
    await clock.advance(1_000);
    shard.maintain();
    // Its replacement has no book yet, so nothing of it is held back.
    hear(2, changed(510));
    expect(frames).toEqual([book(400, '1', '2'), changed(510)]);
    expect(lost).toEqual([]);
  });
});

test('a loss is reported before the book of the connection that continues', () => {
  hear(0, book(400, '1', '2'));
  hear(1, book(456, '1', '2'), changed(500));
  connections[0]?.onClosed('closed 1013', clock.now(), null);
  expect([lost, framesBeforeLoss]).toEqual([[['1', '2']], [1]]);
  expect(frames).toEqual([book(400, '1', '2'), book(456, '1', '2'), changed(500)]);
});

test('the loss of both connections reports every token, also one whose book has not arrived', () => {
  hear(0, book(400, '1'));
  for (const { onClosed } of connections) onClosed('closed 1013', clock.now(), null);
  expect(lost).toEqual([['1'], ['1', '2']]);
});

test.each([
  [0, 1],
  [1, 0],
])('connection %i is replaced if it is silent beside its twin', async (silent, speaking) => {
  await clock.advance(6_000);
  hear(speaking, ...Array.from({ length: 30 }, (_, n) => change(n)));
  shard.maintain();
  expect(connections).toHaveLength(3);
  expect(shard.connections.map(({ isUp }) => isUp)[silent]).toBe(false);
});

test('the load is that of the busier connection', () => {
  hear(0, 'x'.repeat(1_800));
  hear(1, 'x'.repeat(900));
  expect(shard.bytesPerSecond).toBe(180);
});

test('closing ends when both connections have ended', async () => {
  let hasEnded = false;
  const ended = shard.close().then(() => {
    hasEnded = true;
  });
  const seen: boolean[] = [];
  for (const connection of connections) {
    await clock.advance(0);
    seen.push(hasEnded);
    connection.onClosed('closed 1000', clock.now(), null);
  }
  await ended;
  expect(seen).toEqual([false, false]);
});
