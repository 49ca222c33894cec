import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { oneClock } from '../../../test/support/gaps.ts';
import { MARKET, WireMarket } from '../../../test/support/wire.ts';
import type { StreamMessage } from '../../bus/recordStream.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { Recorder } from '../recorder.ts';
import { StreamSink } from './streamSink.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;
const STATUS = { reasons: [], degraded: ['late_feed'], priceSources: { BTC: 'relay' } };

function collector(sender: string, delayMs = 10) {
  const clock = new FakeClock(T0);
  const messages: StreamMessage[] = [];
  const stream = { publish: (message: StreamMessage) => void messages.push(message) };
  const sink = new StreamSink({ stream, clock, sender, run: 'run1', status: () => STATUS });
  const recorder = new Recorder({
    clock,
    sink,
    log: silentLogger,
    metrics: new Metrics(),
    timeBy: 'receipt',
  });
  recorder.onActionEnd = (recorded, action) => sink.actionEnded(recorded, action);
  recorder.track(MARKET);
  const receive = (frames: readonly string[], atMs: number) => {
    for (const frame of frames) recorder.clobFrame(frame, T0 + atMs + delayMs);
    recorder.finishQuiet(T0 + atMs + delayMs + 30);
  };
  const actions = () => messages.flatMap((message) => (message.kind === 'action' ? [message] : []));
  return { clock, sink, recorder, messages, receive, actions };
}

function venue() {
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4900, size: SHARE });
  wire.set({ side: 'SELL', price: 5100, size: SHARE });
  return wire;
}

const ids = (messages: readonly StreamMessage[]) => messages.map(({ id }) => id);
const kinds = (messages: readonly StreamMessage[]) => messages.map(({ kind }) => kind);

describe('the messages of a collector', () => {
  it('give a trusted book the same id from every collector, whatever its receive time', () => {
    const wire = venue();
    const frames = [[wire.snapshot(T0)], wire.action(T0 + 100, [{ side: 'BUY', price: 5000, size: SHARE }])];
    const [a, b] = [collector('a'), collector('b', 250)];
    for (const each of [a, b]) for (const [at, some] of frames.entries()) each.receive(some, at * 100);
    expect(a.actions().map(({ body }) => body.book?.receivedTimeMs)).not.toEqual(
      b.actions().map(({ body }) => body.book?.receivedTimeMs),
    );
    const facts = ids(a.actions()).filter((id) => !id.includes('@'));
    expect(facts).toHaveLength(2);
    expect(ids(b.actions()).filter((id) => !id.includes('@'))).toEqual(facts);
    expect(a.actions().at(-1)).toMatchObject({ key: MARKET.marketId, sender: 'a', run: 'run1' });
  });

  it('are one action with its quote, after the first proof of the market', () => {
    const one = collector('a');
    one.receive([venue().snapshot(T0)], 0);
    expect(kinds(one.messages)).toEqual(['market', 'proven', 'action', 'action']);
    const [, proven, action, again] = one.messages;
    expect(proven?.body).toEqual({ marketId: MARKET.marketId, eventTimeMs: T0, receivedTimeMs: T0 + 10 });
    expect(action?.body).toMatchObject({
      book: { trusted: true, yes: { bids: { count: 1 } } },
      quote: { yesBid: 4900, yesAsk: 5100, trusted: true },
      occurrence: 0,
      isRepeated: false,
    });
    // The book may be a copy that the stream drops; that it is proven again is news of this collector.
    expect(again?.body).toMatchObject({ book: null, quote: { yesBid: 4900, trusted: true } });
    expect(again?.id).toMatch(/@a:run1:\d+$/);
  });

  it('keep their levels when the recorder changes its book', () => {
    const [wire, one] = [venue(), collector('a')];
    one.receive([wire.snapshot(T0)], 0);
    one.receive(wire.action(T0 + 100, [{ side: 'BUY', price: 5000, size: SHARE }]), 100);
    const books = one.actions().flatMap(({ body }) => (body.book === null ? [] : [body.book]));
    expect(books.map(({ yes }) => [...yes.bids.prices])).toEqual([[4900], [5000, 4900]]);
  });

  it('count equal books of one millisecond', () => {
    const [wire, one] = [venue(), collector('a')];
    one.receive([wire.snapshot(T0)], 0);
    for (const size of [2 * SHARE, SHARE, 2 * SHARE])
      one.receive(wire.action(T0 + 100, [{ side: 'BUY', price: 4900, size }]), 100);
    const [first, between, second] = one.actions().slice(-3);
    expect(second?.body.ladderHash).toBe(first?.body.ladderHash);
    expect(between?.body.ladderHash).not.toBe(first?.body.ladderHash);
    expect([first, between, second].map((action) => action?.body.occurrence)).toEqual([0, 0, 1]);
    expect(new Set(ids(one.actions())).size).toBe(one.actions().length);
  });

  it('name the collector where they say what it alone knows', () => {
    const [wire, one] = [venue(), collector('a')];
    one.receive([wire.snapshot(T0)], 0);
    one.recorder.disconnect([MARKET.yesTokenId], T0 + 1_000);
    one.receive([wire.snapshot(T0)], 2_000);
    expect(kinds(one.messages).slice(4)).toEqual(['gap', 'action', 'gap', 'action', 'action']);
    const [opened, lost, ended, book, back] = one.messages.slice(4);
    for (const own of [opened, lost, ended, back]) expect(own?.id).toContain('@a:run1:');
    expect(lost?.body).toMatchObject({ book: null, quote: { trusted: false } });
    // The unchanged book goes along: another collector's readers may have dropped it.
    expect(book?.body).toMatchObject({ isRepeated: true, book: { trusted: true }, occurrence: 0 });
    expect(book?.id).toBe(one.actions()[0]?.id);
    expect(back?.body).toMatchObject({ book: null, quote: { trusted: true } });
  });

  it('publish the books of a doubt again when it ends without a gap', () => {
    const [wire, one] = [venue(), collector('a')];
    one.receive([wire.snapshot(T0)], 0);
    const trade = wire.trade(T0 + 100, { price: 5100, size: SHARE });
    one.receive(wire.action(T0 + 100, [{ side: 'BUY', price: 4950, size: SHARE }]), 100);
    one.receive(wire.action(T0 + 200, [{ side: 'BUY', price: 4960, size: SHARE }]), 200);
    const doubtful = one.actions().slice(-2);
    expect(doubtful.map(({ body }) => body.book?.trusted)).toEqual([false, false]);
    one.receive([trade], 300);
    const [current, proof, ...settled] = one.actions().slice(4);
    expect(current?.body).toMatchObject({ isRepeated: true, book: { trusted: true, eventTimeMs: T0 + 200 } });
    expect(proof?.body).toMatchObject({ book: null, quote: { trusted: true } });
    expect(settled.map(({ body }) => [body.isRepeated, body.book?.trusted, body.book?.eventTimeMs])).toEqual([
      [true, false, T0 + 100],
      [true, false, T0 + 200],
    ]);
  });

  it('publish the first 32 books of a doubt again, and no more', () => {
    const [wire, one] = [venue(), collector('a')];
    one.receive([wire.snapshot(T0)], 0);
    const trade = wire.trade(T0 + 100, { price: 5100, size: SHARE });
    for (let at = 0; at < 33; at++) {
      const change = { side: 'BUY', price: 4_000 + 10 * at, size: SHARE } as const;
      one.receive(wire.action(T0 + 100 + 10 * at, [change]), 100 + 10 * at);
    }
    one.receive([trade], 500);
    const settled = one.actions().filter(({ body }) => body.isRepeated && body.book?.trusted === false);
    expect(settled.map(({ body }) => body.book?.eventTimeMs)).toEqual(
      Array.from({ length: 32 }, (_, at) => T0 + 100 + 10 * at),
    );
  });

  it('do not publish the books of a doubt again when it became a gap', () => {
    const [wire, one] = [venue(), collector('a')];
    one.receive([wire.snapshot(T0)], 0);
    wire.trade(T0 + 100, { price: 5100, size: SHARE });
    one.receive(wire.action(T0 + 100, [{ side: 'BUY', price: 4950, size: SHARE }]), 100);
    expect(one.actions().at(-1)?.body.book?.trusted).toBe(false);
    one.recorder.disconnect([MARKET.yesTokenId], T0 + 250);
    const before = one.actions().length;
    one.receive([wire.snapshot(T0 + 1_900)], 2_000);
    const trusts = one
      .actions()
      .slice(before)
      .map(({ body }) => body.book?.trusted ?? body.quote?.trusted);
    expect(trusts.length).toBeGreaterThan(0);
    expect(trusts).not.toContain(false);
  });

  it('prove a book again after a gap of the past, though it was trusted all the time', () => {
    const [wire, one] = [venue(), collector('a')];
    one.receive([wire.snapshot(T0)], 0);
    const gap = { gapId: 'g', marketId: MARKET.marketId, startTimeMs: T0 - 9_000, endTimeMs: T0 - 8_000 };
    const known = { knownTimeMs: T0 + 20, knownSeq: 7, repairedBy: null, seq: 8 };
    one.sink.gap(oneClock({ ...gap, ...known, cause: 'data_lost', feed: 'underround' }));
    const before = one.actions().length;
    one.receive(wire.action(T0 + 100, [{ side: 'BUY', price: 5000, size: SHARE }]), 100);
    const [book, back] = one.actions().slice(before);
    expect(book?.body).toMatchObject({ isRepeated: false, book: { trusted: true } });
    expect(back?.body).toMatchObject({ book: null, quote: { yesBid: 5000, trusted: true } });
    expect(back?.id).toContain('@a:run1:');
  });

  it('prove a market once, until it is forgotten an hour after its end', async () => {
    const [wire, one] = [venue(), collector('a')];
    const proofs = () => kinds(one.messages).filter((kind) => kind === 'proven').length;
    const lose = (atMs: number) => {
      one.recorder.disconnect([MARKET.yesTokenId], T0 + atMs);
      one.receive([wire.snapshot(T0 + atMs)], atMs + 100);
    };
    const list = (marketId: string) => one.sink.market({ ...MARKET, marketId, seq: 1 });
    one.receive([wire.snapshot(T0)], 0);
    const sinceEndMs = T0 - MARKET.endTimeMs;
    await one.clock.advance(3_600_000 - sinceEndMs);
    list('0x1');
    lose(1_000);
    expect(proofs()).toBe(1);
    await one.clock.advance(1);
    list('0x2');
    lose(2_000);
    expect(proofs()).toBe(2);
  });

  it('give a trade and a price ids without receive times', () => {
    const [a, b] = [collector('a'), collector('b', 99)];
    const trade = venue().trade(T0 + 50, { price: 5100, size: SHARE });
    const spot = {
      kind: 'underlying',
      ticker: 'BTC',
      source: 'binance_spot',
      price: 1,
      eventTimeMs: T0,
    } as const;
    for (const [at, { receive, recorder }] of [a, b].entries()) {
      receive([trade], 60);
      for (let i = 0; i < 2; i++) recorder.underlying({ ...spot, receivedTimeMs: T0 + at });
      recorder.underlying({ ...spot, source: 'chainlink', receivedTimeMs: T0 + at });
    }
    const facts = ({ messages }: typeof a) => ids(messages.filter(({ kind }) => kind !== 'market'));
    expect(facts(a)).toHaveLength(4);
    expect(new Set(facts(a)).size).toBe(4);
    expect(facts(b)).toEqual(facts(a));
  });

  it('name the collector in the id of a perpetual book, which each polls at its own times', () => {
    const depth = {
      ...({ kind: 'perp_depth', venue: 'bybit', ticker: 'BTC', updateId: 5, seq: 1 } as const),
      ...{ eventTimeMs: T0, engineTimeMs: null, receivedTimeMs: T0, roundTripMs: null, bids: [], asks: [] },
    };
    const depthIds = ['a', 'b'].map((sender) => {
      const one = collector(sender);
      one.sink.perpDepth(depth);
      return ids(one.messages).at(-1);
    });
    expect(depthIds).toEqual(['a', 'b'].map((sender) => `depth:bybit:BTC:5@${sender}:run1:2`));
  });

  it('count a trade id on while it comes again within 256 others', () => {
    const one = collector('a');
    const trade = (tradeId: string) => {
      const times = { seq: 1, eventTimeMs: T0, receivedTimeMs: T0 };
      const of = { marketId: MARKET.marketId, side: 'BUY_YES', price: 5_000, size: SHARE } as const;
      one.sink.trade({ ...times, ...of, tradeId });
      return Number(one.messages.at(-1)?.id.split(':').at(-1));
    };
    const others = (name: string) => {
      for (let other = 0; other < 200; other++) trade(`${name} ${other}`);
    };
    const counts = [trade('again')];
    for (const name of ['first', 'second', 'third']) {
      others(name);
      counts.push(trade('again'));
    }
    expect(counts).toEqual([0, 1, 2, 3]);
  });

  it('contain the connections in one of five signs of life', async () => {
    const clock = new FakeClock(T0);
    const messages: StreamMessage[] = [];
    const connections = { feeds: [], unknownVersions: [] };
    const sink = new StreamSink({
      stream: { publish: (message) => void messages.push(message) },
      ...{ clock, sender: 'a', run: 'run1', status: () => STATUS, connections: () => connections },
    });
    sink.start();
    await clock.advance(6_000);
    sink.close();
    const bodies = messages.map(({ body }) => body as object);
    const has = bodies.map((body) => ('connections' in body ? body.connections === connections : null));
    expect(has).toEqual([true, null, null, null, null, true, null]);
  });

  it('show every second that the collector is alive', async () => {
    const { sink, clock, messages } = collector('a');
    sink.start();
    await clock.advance(2_500);
    sink.close();
    await clock.advance(5_000);
    const alive = messages.filter(({ kind }) => kind === 'alive');
    expect(alive.map(({ body, key }) => ({ ...body, key }))).toEqual(
      [0, 1000, 2000].map((ms) => ({ ...STATUS, sentTimeMs: T0 + ms, key: null })),
    );
    expect(new Set(ids(alive)).size).toBe(3);
  });
});
