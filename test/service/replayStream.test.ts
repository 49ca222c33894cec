import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Market } from '../../src/schema/market.ts';
import { bookRecord, KEY, marketRecord, testApi } from '../support/api.ts';
import { oneClock } from '../support/gaps.ts';
import { openTestStore, type TestStore } from '../support/store.ts';
import { type Message, type StreamClient, StreamRig } from '../support/streams.ts';

/** An hour before the rig's clock. */
const T0 = Date.UTC(2026, 10, 20, 11);
const [A, B] = [`0x${'aa'.repeat(32)}`, `0x${'bb'.repeat(32)}`];
const iso = (afterMs: number) => new Date(T0 + afterMs).toISOString();
const START = `start=${iso(0)}`;
const SUBSCRIBE = { type: 'subscribe', market_ids: [A] };

let opened: TestStore;
let seq = 1;

function list(marketId: string, more: Partial<Market> = {}): void {
  const window = { startTimeMs: T0, endTimeMs: T0 + 300_000 };
  opened.store.writer.market({ ...marketRecord({ marketId, ...window, ...more }), seq: seq++ });
}

function book(marketId: string, afterMs: number, { size = 1, trusted = true, mirrored = true } = {}): void {
  const yesAsks: [number, number][] = [[5300, 80_000_000]];
  const no = mirrored ? {} : { no: { bids: [[100, 5_000_000]] as [number, number][], asks: [] } };
  const at = { seq: seq++, marketId, timeMs: T0 + afterMs };
  const yesBids: [number, number][] = [[5000, size * 1_000_000]];
  const record = bookRecord({ ...at, yesBids, yesAsks, ...no });
  opened.store.writer.book({ ...record, trusted, receivedTimeMs: at.timeMs });
}

beforeAll(async () => {
  opened = await openTestStore();
  list(A, { status: 'resolved', outcome: 'Up', payoutYes: 1, resolvedTimeMs: T0 + 30_000 });
  list(B, { ticker: 'ETH', eventType: '15m' });
  book(A, -5_000, { size: 1 });
  book(B, -4_000, { size: 2 });
  book(A, 0, { size: 3 });
  book(B, 1_000, { size: 4, mirrored: false });
  book(A, 10_000, { size: 5, trusted: false });
  book(A, 20_000, { size: 6 });
  opened.store.writer.gap(
    oneClock({
      ...{ gapId: 'gap_1', marketId: A, seq: seq++, cause: 'silent_feed', feed: 'polymarket.clob' },
      ...{ startTimeMs: T0 + 2_000, endTimeMs: T0 + 15_000, knownTimeMs: T0 + 8_000, knownSeq: null },
      repairedBy: 'snapshot',
    }),
  );
  await opened.store.writer.flush();
});
afterAll(() => opened?.dispose());

async function replay(
  query: string,
  command: object = SUBSCRIBE,
): Promise<{ rig: StreamRig; client: StreamClient }> {
  const rig = await new StreamRig().start({ store: opened.store });
  const client = await rig.connect('plus', `/v1/replay?${query}`);
  client.send(command);
  return { rig, client };
}

/** Replays everything to the end, at full speed. */
async function whole(query: string, command: object = SUBSCRIBE): Promise<Message[]> {
  const { client } = await replay(`${query}&speed=0`, command);
  expect(await client.closed).toEqual({ code: 1000, reason: 'replay is over' });
  return client.messages.slice(1);
}

const seen = (messages: readonly Message[]) =>
  messages.map(({ type, market_id: id, yes_bids: bids, state, status }) => [
    ...[type, id === A ? 'A' : id === B ? 'B' : null],
    (bids as { size: number }[] | undefined)?.[0]?.size ?? state ?? status ?? null,
  ]);

describe('/v1/replay', () => {
  test('starts with the existing books, then sends each change with the trust known at that time', async () => {
    const messages = await whole(START);
    expect(messages[0]).toEqual({
      type: 'ack',
      subscribed: { tickers: [], event_types: [], market_ids: [A] },
    });
    expect(seen(messages.slice(1))).toEqual([
      ['snapshot', 'A', 1],
      ['snapshot', 'A', 3],
      ['gap', 'A', 'open'],
      ['snapshot', 'A', 5],
      ['gap', 'A', 'closed'],
      ['snapshot', 'A', 6],
      ['market', 'A', 'resolved'],
      ['end', null, null],
    ]);
    expect(messages.find(({ type }) => type === 'gap')).toEqual({
      ...{ type: 'gap', market_id: A, gap_id: 'gap_1', state: 'open', cause: 'silent_feed' },
      at: '2026-11-20T11:00:02.000+00:00',
    });
    expect(messages.at(-2)).toEqual({ type: 'market', market_id: A, status: 'resolved', outcome: 'Up' });
  });

  test('sends the same snapshots as /v1/snapshots, mirrored or not', async () => {
    const messages = await whole(START, { type: 'subscribe', tickers: ['ETH'] });
    const app = testApi({ store: opened.store });
    const { snapshots } = (await app.inject({ url: `/v1/snapshots?market_id=${B}`, headers: KEY })).json();
    await app.close();
    const sent = messages.filter(({ type }) => type === 'snapshot');
    const fields = ['type', 'market_id', 'event_type', 'cursor', ...Object.keys(snapshots[0])];
    expect(sent.map((message) => Object.keys(message).sort())).toEqual([fields.sort(), fields.sort()]);
    expect(sent).toEqual(
      snapshots.map((snapshot: object) => ({
        ...{ type: 'snapshot', market_id: B, event_type: '15m', cursor: expect.any(String) },
        ...snapshot,
      })),
    );
  });

  test('limits the replay to a range, and sends gaps open at its start', async () => {
    const messages = await whole(`start=${iso(9_000)}&end=${iso(20_000)}`);
    expect(seen(messages.slice(1))).toEqual([
      ['snapshot', 'A', 3],
      ['gap', 'A', 'open'],
      ['snapshot', 'A', 5],
      ['gap', 'A', 'closed'],
      ['end', null, null],
    ]);
  });

  test('replays everything without a start', async () => {
    expect(seen(await whole('')).filter(([type]) => type === 'snapshot')).toHaveLength(4);
  });

  test('replays several series together, in order of arrival', async () => {
    const messages = await whole(START, { type: 'subscribe', event_types: ['5m', '15m'] });
    const snapshots = seen(messages).filter(([type]) => type === 'snapshot');
    expect(snapshots.map(([, market, size]) => `${market}${size}`)).toEqual([
      ...['A1', 'B2', 'A3', 'B4', 'A5', 'A6'],
    ]);
  });

  test('continues after a cursor', async () => {
    const messages = await whole(START);
    const [, , third] = messages.filter(({ type }) => type === 'snapshot');
    const rest = await whole(START, { ...SUBSCRIBE, resume: third?.cursor });
    expect(seen(rest).filter(([type]) => type === 'snapshot')).toEqual([['snapshot', 'A', 6]]);
    const [first] = messages.filter(({ type }) => type === 'snapshot');
    expect(await whole(START, { ...SUBSCRIBE, resume: first?.cursor })).toEqual(messages);
  });

  test('after a cursor, sends no notice again that came before it, except of a gap that is open there', async () => {
    const snapshots = (await whole(START)).filter(({ type }) => type === 'snapshot');
    const restAfter = async (cursor: unknown) =>
      seen(await whole(START, { ...SUBSCRIBE, resume: cursor })).slice(1);
    expect(await restAfter(snapshots[2]?.cursor)).toEqual([
      ['gap', 'A', 'open'],
      ['gap', 'A', 'closed'],
      ['snapshot', 'A', 6],
      ['market', 'A', 'resolved'],
      ['end', null, null],
    ]);
    expect(await restAfter(snapshots[3]?.cursor)).toEqual([
      ['market', 'A', 'resolved'],
      ['end', null, null],
    ]);
  });

  test('a replay resumed at a cursor keeps its pace from there, and does not wait for what it has played', async () => {
    const snapshots = (await whole(START)).filter(({ type }) => type === 'snapshot');
    const resume = snapshots[2]?.cursor;
    const { rig, client } = await replay(`${START}&speed=4`, { ...SUBSCRIBE, resume });
    const { clock } = rig;
    const pings = clock.waiting;
    await client.next('ack');
    while (clock.waiting === pings) await new Promise(setImmediate);
    // Played up to 10 s; the gap that is open there was closed 5 s later.
    expect(seen(await client.rest())).toEqual([['gap', 'A', 'open']]);
    await clock.advance(1_249);
    expect(await client.rest()).toEqual([]);
    await clock.advance(1);
    expect(seen(await client.rest())).toEqual([['gap', 'A', 'closed']]);
  });

  test('at a speed, sends each message at its receive offset divided by the speed', async () => {
    const { rig, client } = await replay(`${START}&speed=4`, { ...SUBSCRIBE, tickers: ['ETH'] });
    const { clock } = rig;
    const pings = clock.waiting;
    await client.next('ack');
    for (let i = 0; i < 3; i++) await client.next('snapshot');
    const due = async (afterMs: number) => {
      while (clock.waiting === pings) await new Promise(setImmediate);
      await clock.advance(afterMs - 1);
      expect(await client.rest()).toEqual([]);
      await clock.advance(1);
      return await client.nextOfAny();
    };
    expect(seen([await due(250)])).toEqual([['snapshot', 'B', 4]]);
    expect(seen([await due(1_750)])).toEqual([['gap', 'A', 'open']]);
    expect(seen([await due(500)])).toEqual([['snapshot', 'A', 5]]);
  });

  test.each([
    [{ type: 'subscribe', market_ids: ['0xdead'] }, 'unknown market_id 0xdead'],
    [{ type: 'unsubscribe', market_ids: [A] }, 'nothing is subscribed'],
    [{ ...SUBSCRIBE, resume: 'x' }, 'resume is not a cursor of this stream'],
    [{ ...SUBSCRIBE, resume: '0123456789ab.1.1' }, 'resume is not a cursor of this stream'],
    [{ type: 'subscribe', tickers: ['DOGE'] }, 'unknown ticker DOGE'],
  ])('answers %j with an error, and accepts another command', async (command, detail) => {
    const { client } = await replay(`${START}&speed=0`, command);
    expect(await client.next('error')).toEqual({ type: 'error', detail });
    await client.ask(SUBSCRIBE);
    await client.closed;
  });

  test('answers a second subscription with an error', async () => {
    const { client } = await replay(`${START}&speed=1`);
    await client.next('ack');
    client.send(SUBSCRIBE);
    const answers = [await client.nextOfAny(), await client.nextOfAny(), await client.nextOfAny()];
    expect(answers.map(({ type, detail }) => detail ?? type).sort()).toEqual([
      ...['snapshot', 'snapshot', 'this replay has begun; open another'],
    ]);
  });

  test('ends the replay of a disconnected client', async () => {
    const rig = await new StreamRig().start({ store: opened.store });
    const idle = rig.clock.waiting;
    const client = await rig.connect('plus', `/v1/replay?${START}&speed=1`);
    client.send(SUBSCRIBE);
    await client.next('ack');
    for (let i = 0; i < 2; i++) await client.next('snapshot');
    client.socket.close();
    await client.closed;
    while (rig.clock.waiting > idle) await new Promise(setImmediate);
  });
});

test('waits for a slow client, which misses nothing', async () => {
  const C = `0x${'cc'.repeat(32)}`;
  const COUNT = 3000;
  list(C, { ticker: 'SOL' });
  for (let i = 0; i < COUNT; i++) {
    const yesBids = Array.from({ length: 40 }, (_, level): [number, number] => [
      4_900 - level,
      1e6 * (i + 1),
    ]);
    opened.store.writer.book(
      bookRecord({ seq: seq++, marketId: C, timeMs: T0 + i, yesBids, yesAsks: [[5_300, 1e6]] }),
    );
  }
  await opened.store.writer.flush();
  const { rig, client } = await replay(`${START}&speed=0`, { type: 'subscribe', market_ids: [C] });
  await client.next('ack');
  client.socket.pause();
  // Until data in flight fills every buffer and nothing more is sent.
  const sent = async () => Number(/stream="replay"\} (\d+)/.exec(await sentBytes(rig))?.[1] ?? 0);
  for (let still = 0, before = -1; still < 200; ) {
    const now = await sent();
    still = now === before && now > 0 ? still + 1 : 0;
    before = now;
    await new Promise(setImmediate);
  }
  const snapshots = () => client.messages.filter(({ type }) => type === 'snapshot');
  expect(snapshots().length).toBeLessThan(COUNT);
  client.socket.resume();
  expect(await client.closed).toMatchObject({ code: 1000 });
  expect(snapshots().map(({ yes_bids: bids }) => (bids as { size: number }[])[0]?.size)).toEqual(
    Array.from({ length: COUNT }, (_, i) => i + 1),
  );
});

const sentBytes = (rig: StreamRig) =>
  rig.metrics.registry.getSingleMetricAsString('underround_stream_bytes_total');

describe('its handshake', () => {
  test.each([
    ['', 'free', 403, 'Tier free does not include this endpoint; plus and premium do'],
    ['', 'pro', 403, 'Tier pro does not include this endpoint; plus and premium do'],
    ['speed=-1', 'plus', 422, expect.any(Array)],
    ['speed=1000001', 'plus', 422, expect.any(Array)],
    ['start=2026-02-01&end=2026-01-01', 'premium', 400, 'start must not be after end'],
    ['start=2020-01-01', 'plus', 403, expect.stringContaining('the earliest allowed time is')],
  ])('answers ?%s with tier %s with %i', async (query, tier, status, detail) => {
    const rig = await new StreamRig().start({ store: opened.store });
    const refused = await rig.refusal(`/v1/replay?${query}`, { authorization: `Bearer ${tier}` });
    expect(refused).toMatchObject({ status, body: { detail } });
  });

  test.each(['0.001', '1001', '1000000'])('accepts the speed %s', async (speed) => {
    const rig = await new StreamRig().start({ store: opened.store });
    const client = await rig.connect('plus', `/v1/replay?speed=${speed}`);
    expect(client.messages).toMatchObject([{ type: 'ready', tier: 'plus' }]);
  });

  test('limits concurrent replays by tier', async () => {
    const rig = await new StreamRig().start({ store: opened.store });
    for (let i = 0; i < 5; i++) await rig.connect('plus', '/v1/replay');
    const refused = await rig.refusal('/v1/replay', { authorization: 'Bearer plus' });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
  });
});
