import { describe, expect, test } from 'vitest';
import { oneClock } from '../support/gaps.ts';
import { type Message, StreamRig } from '../support/streams.ts';

const A = `0x${'a1'.repeat(32)}`;
const B = `0x${'b2'.repeat(32)}`;
const C = `0x${'c3'.repeat(32)}`;

async function threeMarkets(): Promise<StreamRig> {
  const rig = new StreamRig();
  rig.recorder.list({ marketId: A, ticker: 'BTC', eventType: '5m' });
  rig.recorder.list({ marketId: B, ticker: 'BTC', eventType: '1h' });
  rig.recorder.list({ marketId: C, ticker: 'ETH', eventType: '5m' });
  rig.recorder.change(A, 1);
  rig.recorder.change(B, 2);
  return rig.start();
}

const bestBid = ({ yes_bids: bids }: Message) => (bids as { size: number }[])[0]?.size;
const seen = (messages: readonly Message[]) => messages.map((one) => [one.market_id, bestBid(one)]);

describe('/v1/stream', () => {
  test('sends ready, an acknowledgement, whole snapshots, then every change once', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect('pro');
    expect(client.messages[0]).toEqual({
      type: 'ready',
      tier: 'pro',
      server_time: '2026-11-20T12:00:00.000+00:00',
    });
    expect(await client.ask({ type: 'subscribe', tickers: ['BTC'], event_types: ['5m'] })).toEqual({
      type: 'ack',
      subscribed: { tickers: ['BTC'], event_types: ['5m'], market_ids: [] },
    });
    const snapshot = await client.next('snapshot');
    expect(Object.keys(snapshot)).toEqual([
      ...['type', 'market_id', 'event_type', 'cursor', 'ts', 'yes_bids', 'yes_asks', 'no_bids', 'no_asks'],
      ...['underlying_price', 'underlying_ticker', 'trusted'],
    ]);
    expect(snapshot).toMatchObject({
      ...{ market_id: A, event_type: '5m', ts: '2026-11-20T12:00:00.001+00:00' },
      yes_bids: [{ price: 0.49, size: 1 }],
      yes_asks: [{ price: 0.5, size: 3 }],
      no_bids: [{ price: 0.5, size: 3 }],
      no_asks: [{ price: 0.51, size: 1 }],
      ...{ underlying_price: 97_000.5, underlying_ticker: 'BTC', trusted: true },
    });
    for (const size of [11, 12, 13]) rig.recorder.change(A, size);
    rig.recorder.change(B, 14);
    rig.recorder.change(A, 15, { trusted: false });
    const changes = [];
    for (let i = 0; i < 4; i++) changes.push(await client.next('snapshot'));
    expect(changes.map(bestBid)).toEqual([11, 12, 13, 15]);
    expect(changes.at(-1)).toMatchObject({ trusted: false });
    expect(new Set(changes.map(({ cursor }) => cursor)).size).toBe(4);
    expect(await client.rest()).toEqual([]);
  });

  test('subscribes by event type, by market or by ticker, without repeating subscribed books', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', event_types: ['5m'] });
    expect(seen(await client.rest())).toEqual([[A, 1]]);
    const ack = await client.ask({ type: 'subscribe', tickers: ['BTC'], market_ids: [C] });
    expect(ack.subscribed).toMatchObject({ market_ids: [C] });
    expect(seen(await client.rest())).toEqual([[B, 2]]);
    rig.recorder.change(C, 30);
    expect(seen([await client.next('snapshot')])).toEqual([[C, 30]]);
  });

  test('unsubscribes from a series, a market of a series, or a single market', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', tickers: ['BTC'], event_types: ['5m', '1h'], market_ids: [C] });
    await client.rest();
    expect(await client.ask({ type: 'unsubscribe', market_ids: [A, C] })).toEqual({
      type: 'ack',
      subscribed: { tickers: ['BTC'], event_types: ['5m', '1h'], market_ids: [] },
    });
    for (const id of [A, B, C]) rig.recorder.change(id, 40);
    expect(seen(await client.rest())).toEqual([[B, 40]]);
    await client.ask({ type: 'unsubscribe', event_types: ['1h'] });
    for (const id of [A, B, C]) rig.recorder.change(id, 41);
    expect(await client.rest()).toEqual([]);
    await client.ask({ type: 'subscribe', market_ids: [A] });
    expect(seen(await client.rest())).toEqual([[A, 41]]);
  });

  test('resubscribes an unsubscribed market when its series is named again', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', tickers: ['BTC'] });
    await client.rest();
    await client.ask({ type: 'unsubscribe', market_ids: [A, B] });
    await client.ask({ type: 'subscribe', event_types: ['5m'] });
    expect(seen(await client.rest())).toEqual([[A, 1]]);
    for (const id of [A, B]) rig.recorder.change(id, 40);
    expect(seen(await client.rest())).toEqual([[A, 40]]);
  });

  test('adds markets found later, and removes ended ones', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', tickers: ['SOL'] });
    const D = `0x${'d4'.repeat(32)}`;
    rig.recorder.list({ marketId: D, ticker: 'SOL', eventType: '15m' });
    rig.recorder.change(D, 50);
    expect(await client.next('snapshot')).toMatchObject({ market_id: D, event_type: '15m' });
    rig.recorder.list({ marketId: D, status: 'resolved', outcome: 'Up' });
    expect(await client.next('market')).toEqual({
      ...{ type: 'market', market_id: D, status: 'resolved', outcome: 'Up' },
    });
    rig.recorder.drop(D);
    await rig.clock.advance(10_000);
    rig.recorder.change(D, 51);
    expect(await client.rest()).toEqual([]);
    expect(await client.ask({ type: 'subscribe', market_ids: [D] }, 'error')).toEqual({
      ...{ type: 'error', detail: `unknown market_id ${D}` },
    });
  });

  test('sends gaps, and snapshots with their trust at that time', async () => {
    const rig = await threeMarkets();
    const [client, late] = [await rig.connect(), await rig.connect()];
    await client.ask({ type: 'subscribe', market_ids: [A] });
    await client.next('snapshot');
    const known = { knownTimeMs: 1_795_176_000_500, knownSeq: 1, seq: 9 };
    const named = { gapId: 'gap_1', marketId: A, feed: 'f', repairedBy: null };
    const gap = { ...named, ...known, startTimeMs: 1_795_176_000_000 };
    rig.bus.publish('gap', oneClock({ ...gap, cause: 'silent_feed', endTimeMs: null }));
    expect(await client.next('gap')).toEqual({
      ...{ type: 'gap', market_id: A, gap_id: 'gap_1', state: 'open', cause: 'silent_feed' },
      at: '2026-11-20T12:00:00.000+00:00',
    });
    const quote = { seq: 1, marketId: A, eventTimeMs: 1, receivedTimeMs: 1, yesBid: 1, yesAsk: 1, noBid: 1 };
    rig.bus.publish('quote', { ...quote, noAsk: 1, yesChanged: true, trusted: false, underlyingPrice: null });
    await late.ask({ type: 'subscribe', market_ids: [A] });
    const snapshot = await late.next('snapshot');
    expect(snapshot).toMatchObject({ trusted: false });
    expect(bestBid(snapshot)).toBe(1);
    // A client that subscribes during a gap receives it after the snapshot.
    expect(await late.next('gap')).toMatchObject({ state: 'open', at: '2026-11-20T12:00:00.000+00:00' });
    rig.bus.publish('gap', oneClock({ ...gap, cause: 'silent_feed', endTimeMs: 1_795_176_001_000 }));
    for (const one of [client, late])
      expect(await one.next('gap')).toMatchObject({ state: 'closed', at: '2026-11-20T12:00:01.000+00:00' });
    const after = await rig.connect();
    await after.ask({ type: 'subscribe', market_ids: [A] });
    expect((await after.rest()).map(({ type }) => type)).toEqual(['snapshot']);
  });

  test('while no records arrive no book is trusted, and neither are the records of the backlog', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    const subscribe = { type: 'subscribe', market_ids: [A] };
    await client.ask(subscribe);
    expect(await client.next('snapshot')).toMatchObject({ trusted: true });
    const receive = (isReceiving: boolean) => {
      const book = rig.recorder.books.get(A);
      if (book !== undefined && book !== 'unfinished')
        rig.recorder.books.set(A, { ...book, trusted: isReceiving });
      rig.bus.publish('receiving', { isReceiving, timeMs: rig.clock.now() });
    };
    const snapshotOfNewClient = async () => {
      const late = await rig.connect();
      await late.ask(subscribe);
      return await late.next('snapshot');
    };
    receive(false);
    expect(await snapshotOfNewClient()).toMatchObject({ trusted: false });
    rig.recorder.change(A, 9);
    expect(await client.next('snapshot')).toMatchObject({ trusted: false });
    receive(true);
    expect(await snapshotOfNewClient()).toMatchObject({ trusted: true });
    rig.recorder.change(A, 10);
    expect(await client.next('snapshot')).toMatchObject({ trusted: true });
  });

  test('sends a gap that ended before its detection from its start', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', market_ids: [A] });
    await client.next('snapshot');
    const times = { startTimeMs: 1_795_176_000_000, endTimeMs: 1_795_176_000_400, knownTimeMs: null };
    const said = { cause: 'book_mismatch', feed: 'f', repairedBy: 'rest_book' } as const;
    rig.bus.publish(
      'gap',
      oneClock({ gapId: 'gap_2', marketId: A, ...times, ...said, knownSeq: null, seq: 9 }),
    );
    const notice = { type: 'gap', market_id: A, gap_id: 'gap_2', cause: 'book_mismatch' };
    expect(await client.rest()).toEqual([
      { ...notice, state: 'open', at: '2026-11-20T12:00:00.000+00:00' },
      { ...notice, state: 'closed', at: '2026-11-20T12:00:00.400+00:00' },
    ]);
  });

  test('a gap of lost rows that has ended leaves the open gap of its market open', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', market_ids: [A] });
    await client.rest();
    const said = { marketId: A, feed: 'f', repairedBy: null, knownSeq: null, seq: 8 } as const;
    const times = { startTimeMs: 1_795_176_000_000, knownTimeMs: 1_795_176_003_000 };
    const open = { ...said, ...times, gapId: 'gap_4', cause: 'silent_feed', endTimeMs: null } as const;
    rig.bus.publish('gap', oneClock(open));
    const lost = {
      ...said,
      ...times,
      gapId: 'gap_5',
      cause: 'data_lost',
      endTimeMs: 1_795_176_000_500,
    } as const;
    rig.bus.publish('gap', oneClock(lost));
    const states = (messages: readonly Message[]) => messages.map(({ gap_id: id, state }) => [id, state]);
    expect(states(await client.rest())).toEqual([
      ['gap_4', 'open'],
      ['gap_5', 'open'],
      ['gap_5', 'closed'],
    ]);
    const late = await rig.connect();
    await late.ask({ type: 'subscribe', market_ids: [A] });
    expect((await late.rest()).slice(1)).toMatchObject([{ gap_id: 'gap_4', state: 'open' }]);
    rig.bus.publish('gap', oneClock({ ...open, seq: 9, endTimeMs: 1_795_176_002_000 }));
    expect(states(await client.rest())).toEqual([['gap_4', 'closed']]);
  });

  test('sends a gap older than the stream to new clients, and closes it once', async () => {
    const rig = new StreamRig();
    rig.recorder.list({ marketId: A });
    rig.recorder.change(A, 1, { trusted: false });
    const known = { startTimeMs: 1_795_176_000_000, knownTimeMs: 1_795_176_000_500, knownSeq: 1 };
    const said = { cause: 'process_down', feed: 'underround', repairedBy: null } as const;
    const gap = { gapId: 'gap_3', marketId: A, ...known, ...said, endTimeMs: null };
    rig.recorder.gaps.set(A, oneClock(gap));
    await rig.start();
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', market_ids: [A] });
    await client.next('snapshot');
    expect(await client.next('gap')).toMatchObject({ gap_id: 'gap_3', state: 'open' });
    rig.bus.publish('gap', oneClock({ ...gap, seq: 9, endTimeMs: 1_795_176_002_000 }));
    expect(await client.rest()).toMatchObject([{ gap_id: 'gap_3', state: 'closed' }]);
  });

  test('sends a half-applied book only when it is complete', async () => {
    const rig = await threeMarkets();
    const book = rig.recorder.books.get(A)!;
    rig.recorder.books.set(A, 'unfinished');
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', market_ids: [A] });
    await rig.clock.advance(25);
    expect(await client.rest()).toEqual([]);
    rig.recorder.books.set(A, book);
    await rig.clock.advance(25);
    expect(seen([await client.next('snapshot')])).toEqual([[A, 1]]);
    await rig.clock.advance(1000);
    expect(await client.rest()).toEqual([]);
  });

  test.each([
    ['{', 'not valid JSON'],
    ['[]', 'a command is a JSON object'],
    [`{"type":${'['.repeat(64)}${']'.repeat(64)}}`, 'JSON is nested too deeply'],
    ['null', 'a command is a JSON object'],
    ['{}', 'type must be subscribe, unsubscribe or pong'],
    ['{"type":"shout"}', 'unknown type shout'],
    ['{"type":"subscribe"}', 'subscribe needs tickers, event_types or market_ids'],
    [
      '{"type":"subscribe","tickers":[],"market_ids":[]}',
      'subscribe needs tickers, event_types or market_ids',
    ],
    ['{"type":"subscribe","tickers":["DOGE"]}', 'unknown ticker DOGE'],
    ['{"type":"unsubscribe","tickers":["BTC","btc"]}', 'unknown ticker btc'],
    ['{"type":"subscribe","tickers":"BTC"}', 'tickers must be a list of strings'],
    ['{"type":"subscribe","event_types":[5]}', 'event_types must be a list of strings'],
    ['{"type":"subscribe","event_types":["2h"]}', 'unknown event_type 2h'],
    ['{"type":"subscribe","market_ids":["0x1"]}', 'unknown market_id 0x1'],
    [`{"type":"subscribe","market_ids":[${'"1",'.repeat(500)}"2"]}`, 'market_ids has more than 500 names'],
    ['{"type":"subscribe","tickers":["BTC"],"resume":"abc"}', 'resume is not a cursor of this stream'],
    ['{"type":"subscribe","tickers":["BTC"],"resume":7}', 'resume is not a cursor of this stream'],
    [`{"type":"${'x'.repeat(100)}"}`, `unknown type ${'x'.repeat(80)}...`],
  ])('answers malformed message %# with an error and stays open', async (text, detail) => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    expect(await client.ask(text, 'error')).toEqual({ type: 'error', detail });
    await client.ask({ type: 'subscribe', market_ids: [B] });
    expect(seen(await client.rest())).toEqual([[B, 2]]);
  });

  test('answers a binary message with an error; too large closes with 1009, invalid UTF-8 with 1007', async () => {
    const rig = await threeMarkets();
    const client = await rig.connect();
    client.socket.send(Buffer.from([1, 2]), { binary: true });
    expect(await client.next('error')).toEqual({ type: 'error', detail: 'not valid JSON' });
    client.send('x'.repeat(64 * 1024 + 1));
    expect(await client.closed).toMatchObject({ code: 1009 });
    const other = await rig.connect();
    other.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect(await other.closed).toMatchObject({ code: 1007 });
  });

  test('pings every 25 s, and closes a connection that leaves two unanswered', async () => {
    const rig = await threeMarkets();
    const [client, mute] = [await rig.connect(), await rig.connect()];
    (mute.socket as unknown as { _autoPong: boolean })._autoPong = false;
    await rig.clock.advance(25_000);
    expect(await client.next('ping')).toEqual({ type: 'ping' });
    await mute.next('ping');
    mute.send({ type: 'pong' });
    await mute.rest();
    for (let i = 0; i < 2; i++) {
      await rig.clock.advance(25_000);
      await client.next('ping');
      await client.rest();
      await mute.next('ping');
    }
    await rig.clock.advance(25_000);
    expect(await mute.closed).toEqual({ code: 1008, reason: 'two pings without an answer' });
    await client.next('ping');
    expect(await client.rest()).toEqual([]);
  });
});
