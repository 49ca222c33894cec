import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BookPlayer } from '../../../../test/support/bookPlayer.ts';
import { MARKET, WireMarket } from '../../../../test/support/wire.ts';
import { ConnectionMerge } from '../clob/connectionMerge.ts';
import type { FinishedAction } from './bookAction.ts';
import { MarketBook } from './marketBook.ts';
import { RecentChangeLog } from './recentChangeLog.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

interface Frame {
  text: string;
  /** The venue's whole book when this frame's action is complete. */
  truth: string;
}

const change = fc.record({
  side: fc.constantFrom('BUY' as const, 'SELL' as const),
  off: fc.integer({ min: 0, max: 5 }),
  size: fc.integer({ min: 0, max: 300 }),
});
/** An action of the venue sets each level at most once. */
const action = fc.uniqueArray(change, {
  minLength: 1,
  maxLength: 3,
  selector: ({ side, off }) => `${side}${off}`,
});
const actions = fc.array(action, { minLength: 1, maxLength: 40 });
const delays = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 40 });

/** A venue and a book that has the venue's snapshot of `T0`. */
function venueAndBook() {
  const wire = venue();
  const book = new MarketBook({ ...MARKET, tickSize: '0.01' });
  const feed = feedOf(book);
  feed(wire.snapshot(T0));
  return { wire, book, feed };
}

/** Applies a frame and returns the book's result for each of its events. */
function feedOf(book: MarketBook) {
  const player = new BookPlayer(book);
  return (text: string) => player.play(text, T0);
}

function venue(): WireMarket {
  const wire = new WireMarket();
  for (let i = 1; i <= 8; i++) {
    wire.set({ side: 'BUY', price: 5000 - i * 100, size: i * SHARE });
    wire.set({ side: 'SELL', price: 4900 + i * 100, size: (20 - i) * SHARE });
  }
  return wire;
}

/** The venue's frames, one action every 10 ms, each with the book after its action. */
function venueOf(list: readonly (readonly { side: 'BUY' | 'SELL'; off: number; size: number }[])[]) {
  const wire = venue();
  const truth = () => wire.bids.toWireJson() + wire.asks.toWireJson();
  const first = { text: wire.snapshot(T0), truth: truth() };
  const frames: Frame[] = [];
  list.forEach((changes, i) => {
    const levels = changes.map(({ side, off, size }) => ({
      side,
      price: side === 'BUY' ? 4900 - off * 100 : 5000 + off * 100,
      size: size * 10_000,
    }));
    for (const text of wire.action(T0 + 10 * (i + 1), levels)) frames.push({ text, truth: truth() });
  });
  return { first, frames };
}

describe('a book fed by two connections', () => {
  it('ends proven and equal to the venue’s, whatever one connection loses and however late the other is', () => {
    fc.assert(
      fc.property(actions, delays, delays, fc.array(fc.nat(120), { maxLength: 15 }), (list, a, b, lost) => {
        const { first, frames } = venueOf(list);
        const truths = new Set([first.truth, ...frames.map(({ truth }) => truth)]);
        const shown: string[] = [];
        const ids = { ...MARKET, tickSize: '0.01' };
        const book = new MarketBook(ids);
        const { yes } = book;
        const player = new BookPlayer(book, ({ trusted }) => {
          if (trusted) shown.push(yes.bids.toWireJson() + yes.asks.toWireJson());
        });
        player.play(first.text, T0);
        const gone = new Set(lost);
        const arrivals = [a, b].flatMap((lag, connection) => {
          let last = 0;
          return frames.flatMap(({ text }, i) => {
            last = Math.max(last, i * 5 + (lag[i % lag.length] ?? 0));
            return connection === 0 && gone.has(i)
              ? []
              : [{ connection: connection as 0 | 1, text, atMs: last }];
          });
        });
        const merge = new ConnectionMerge();
        let quietSince = 0;
        for (const { connection, text, atMs } of arrivals.sort((x, y) => x.atMs - y.atMs)) {
          if (atMs - quietSince >= 20) player.finishQuiet();
          quietSince = atMs;
          if (merge.offer(connection, text, atMs, true)) player.play(text, T0 + atMs);
        }
        player.finishQuiet();
        expect(yes.bids.toWireJson() + yes.asks.toWireJson()).toBe(frames.at(-1)?.truth);
        expect(book.trusted).toBe(true);
        for (const state of shown) expect(truths.has(state)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('applies no late change older than a proven book or to a level set since', () => {
    const { first, frames } = venueOf([
      [{ side: 'BUY', off: 0, size: 150 }],
      [{ side: 'BUY', off: 1, size: 200 }],
      [{ side: 'BUY', off: 1, size: 250 }],
    ]);
    const book = new MarketBook({ ...MARKET, tickSize: '0.01' });
    const feed = feedOf(book);
    feed(first.text);
    const [one, two, three] = frames.map(({ text }) => text) as [string, string, string];
    // The first frame is lost; the third sets the same level as the second.
    feed(three);
    book.finishQuiet();
    expect(book.trusted).toBe(false);
    expect(feed(two)).toEqual(['stale']);
    expect(feed(one)).toEqual(['late']);
    expect(book.trusted).toBe(true);
    expect(feed(one)).toEqual(['stale']);
    expect(book.yes.bids.sizes[1]).toBe(2_500_000);
  });

  it('keeps a level of the last whole book when an older frame arrives late', () => {
    const { wire, book, feed } = venueAndBook();
    const [lost] = wire.action(T0 + 10, [{ side: 'BUY', price: 4900, size: 3 * SHARE }]);
    wire.action(T0 + 15, [{ side: 'BUY', price: 4900, size: 4 * SHARE }]);
    // This trade's message never arrives: the whole books stay unproven.
    wire.trade(T0 + 20, { price: 3300, size: SHARE });
    for (const text of wire.books(T0 + 20)) feed(text);
    book.finishQuiet();
    expect(book.trusted).toBe(false);
    expect(feed(lost!)).toEqual(['stale']);
    expect(book.yes.bids.sizes[0]).toBe(4 * SHARE);
  });

  it('keeps the newer book of the first token that a late frame names, though the other’s is older', () => {
    const { wire, book, feed } = venueAndBook();
    const [lost] = wire.action(T0 + 10, [{ side: 'BUY', price: 4900, size: 3 * SHARE }]);
    wire.action(T0 + 15, [{ side: 'BUY', price: 4900, size: 4 * SHARE }]);
    wire.trade(T0 + 20, { price: 3300, size: SHARE });
    const [ofYes] = wire.books(T0 + 20);
    feed(ofYes!);
    expect([feed(lost!), book.yes.bids.sizes[0], book.no.asks.sizes[0]]).toEqual([
      ...[['late'], 4 * SHARE, 3 * SHARE],
    ]);
  });

  it('keeps a level of a proven book when a frame of the same millisecond is repeated', () => {
    const { wire, book, feed } = venueAndBook();
    const [first] = wire.action(T0 + 10, [{ side: 'BUY', price: 4900, size: 3 * SHARE }]);
    const [second] = wire.action(T0 + 10, [{ side: 'BUY', price: 4900, size: 4 * SHARE }]);
    feed(first!);
    feed(second!);
    expect(book.trusted).toBe(true);
    const [half] = wire.action(T0 + 20, [
      { side: 'BUY', price: 4700, size: 0 },
      { side: 'BUY', price: 4600, size: 0 },
    ]);
    feed(half!);
    book.finishQuiet();
    expect(book.trusted).toBe(false);
    expect(feed(first!)).toEqual(['stale']);
    expect(book.yes.bids.sizes[0]).toBe(4 * SHARE);
  });
});

/** A book with the venue's snapshot, and the end, form and trust of each finished action. */
function watchedBook() {
  const { wire, book } = venueAndBook();
  const finished: unknown[] = [];
  const player = new BookPlayer(book, ({ end, form, trusted }) => finished.push([end, form, trusted]));
  return { wire, player, finished };
}

it.each([
  [1_000, 'late'],
  [1_001, 'overdue'],
])('a frame that is %i ms older than the newest state is %s', (age, form) => {
  const { wire, player, finished } = watchedBook();
  const [lost] = wire.action(T0 + 10, [{ side: 'BUY', price: 4900, size: 3 * SHARE }]);
  const [next] = wire.action(T0 + 10 + age, [{ side: 'BUY', price: 4800, size: 3 * SHARE }]);
  player.play(next!, T0);
  player.finishQuiet();
  player.play(lost!, T0);
  expect(finished).toEqual([
    ['quiet', 'changes', false],
    ['quiet', form, true],
  ]);
});

it('a frame that comes after a quiet time is the rest of its action, but one after a proof is not', () => {
  const { wire, player, finished } = watchedBook();
  const changes = [4900, 4800].map((price) => ({ side: 'BUY' as const, price, size: 3 * SHARE }));
  const [first, second] = wire.action(T0 + 10, changes);
  player.play(first!, T0);
  player.finishQuiet();
  player.play(second!, T0);
  const [next] = wire.action(T0 + 10, [{ side: 'BUY', price: 4700, size: 3 * SHARE }]);
  player.play(next!, T0);
  expect(finished).toEqual([
    ['quiet', 'changes', false],
    ['verified', 'rest', true],
    ['verified', 'changes', true],
  ]);
});

it('a frame that comes after a quiet time which ended in a proof is an action of its own', () => {
  const { wire, player, finished } = watchedBook();
  const [frame] = wire.action(T0 + 10, [{ side: 'BUY', price: 4900, size: 3 * SHARE }]);
  const raw = JSON.parse(frame!);
  for (const change of raw.price_changes) {
    player.play(JSON.stringify({ ...raw, price_changes: [change] }), T0);
    player.finishQuiet();
  }
  expect(finished).toEqual([
    ['quiet', 'changes', true],
    ['quiet', 'changes', true],
  ]);
});

describe('of two actions in one millisecond', () => {
  const level = (price: number) => ({ side: 'BUY' as const, price, size: 3 * SHARE });

  it('the frames of the second are not the rest of the first, which lacks one', () => {
    const { wire, player, finished } = watchedBook();
    const [half] = wire.action(T0 + 10, [level(4900), level(4800)]);
    player.play(half!, T0);
    player.finishQuiet();
    for (const frame of wire.action(T0 + 10, [level(4600), level(4500)])) player.play(frame, T0);
    player.finishQuiet();
    expect(finished).toEqual([
      ['quiet', 'changes', false],
      ['quiet', 'changes', false],
    ]);
  });

  it('the first frame of a token that the unfinished one has not named is its rest', () => {
    const { wire, player, finished } = watchedBook();
    const [frame, rest] = wire.action(T0 + 10, [level(4900), level(4800)]);
    const raw = JSON.parse(frame!);
    const [yes, no] = raw.price_changes.map((change: object) =>
      JSON.stringify({ ...raw, price_changes: [change] }),
    );
    player.play(yes, T0);
    player.finishQuiet();
    for (const text of [no, rest]) player.play(text, T0);
    expect(finished).toEqual([
      ['quiet', 'changes', false],
      ['verified', 'rest', true],
    ]);
  });

  it('whole books that complete the rest of one leave it a rest', () => {
    const { wire, player, finished } = watchedBook();
    const [first, second] = wire.action(T0 + 10, [level(4900), level(4800), level(4600)]);
    player.play(first!, T0);
    player.finishQuiet();
    for (const text of [second!, ...wire.books(T0 + 10)]) player.play(text, T0);
    expect(finished).toEqual([
      ['quiet', 'changes', false],
      ['verified', 'rest', true],
    ]);
  });
});

it('a frame of another millisecond is no rest, also if the unfinished action has not named its token', () => {
  const { wire, player, finished } = watchedBook();
  const level = (price: number) => ({ side: 'BUY' as const, price, size: 3 * SHARE });
  const only = (index: 0 | 1, [frame]: readonly string[]) => {
    const raw = JSON.parse(frame!);
    return JSON.stringify({ ...raw, price_changes: [raw.price_changes[index]] });
  };
  player.play(only(0, wire.action(T0 + 10, [level(4900), level(4800)])), T0);
  player.finishQuiet();
  player.play(only(1, wire.action(T0 + 20, [level(4700)])), T0);
  player.finishQuiet();
  expect(finished).toEqual([
    ['quiet', 'changes', false],
    ['quiet', 'changes', false],
  ]);
});

it('a late frame proves the book by the price of its own unseen trade', () => {
  const { wire, book } = venueAndBook();
  const finished: FinishedAction[] = [];
  const player = new BookPlayer(book, (action) => finished.push(action));
  // The message of this trade is lost.
  wire.trade(T0 + 10, { price: 3300, size: SHARE });
  const [lost] = wire.action(T0 + 10, [{ side: 'BUY', price: 3300, size: SHARE }]);
  const [next] = wire.action(T0 + 20, [{ side: 'BUY', price: 4800, size: 3 * SHARE }]);
  player.play(next!, T0);
  player.finishQuiet();
  player.play(lost!, T0);
  expect(finished).toMatchObject([
    { form: 'changes', changed: true, trusted: false },
    { form: 'late', changed: true, trusted: true },
  ]);
});

it('an action with an overdue frame stays overdue, whatever late frame follows', () => {
  const { wire, player, finished } = watchedBook();
  const [overdue] = wire.action(T0 + 10, [{ side: 'BUY', price: 4900, size: 3 * SHARE }]);
  const [late] = wire.action(T0 + 500, [{ side: 'BUY', price: 4800, size: 3 * SHARE }]);
  const changes = [4700, 4600].map((price) => ({ side: 'BUY' as const, price, size: 3 * SHARE }));
  const [first, second] = wire.action(T0 + 1_200, changes);
  expect([first, overdue, late, second].flatMap((text) => player.play(text!, T0))).toEqual([
    ...['applied', 'late', 'late', 'applied'],
  ]);
  expect(finished).toEqual([['verified', 'overdue', true]]);
});

it('a change of the millisecond of an unproven whole book may come late and sets its level', () => {
  const { wire, book, feed } = venueAndBook();
  const trade = wire.trade(T0 + 20, { price: 3300, size: SHARE });
  for (const text of wire.books(T0 + 20)) feed(text);
  const [lost] = wire.action(T0 + 20, [{ side: 'BUY', price: 4900, size: 3 * SHARE }]);
  const [next] = wire.action(T0 + 30, [{ side: 'BUY', price: 4800, size: 3 * SHARE }]);
  expect([next, lost].flatMap((text) => feed(text!))).toEqual(['applied', 'late']);
  feed(trade);
  expect([book.trusted, book.yes.bids.sizes[0]]).toEqual([true, 3 * SHARE]);
});

it('a frame that is older than a proven book adds no level to it', () => {
  const { wire, book, feed } = venueAndBook();
  const [lost] = wire.action(T0 + 10, [{ side: 'BUY', price: 4950, size: SHARE }]);
  wire.action(T0 + 15, [{ side: 'BUY', price: 4950, size: 0 }]);
  for (const text of wire.action(T0 + 20, [{ side: 'BUY', price: 4800, size: 3 * SHARE }])) feed(text);
  expect([book.trusted, feed(lost!), book.trusted, book.yes.bids.best]).toEqual([
    true,
    ['stale'],
    true,
    4900,
  ]);
});

it('no change is applied late once 4,096 have come since the last proof', () => {
  const log = new RecentChangeLog();
  const isApplied = () => log.isNewest(0, 'BUY', 4900, 1);
  for (let at = 0; at < 4_095; at++) log.note(0, 'BUY', at % 1_000, 20);
  expect(isApplied()).toBe(true);
  for (let more = 0; more < 2; more++) {
    log.note(0, 'BUY', 1, 20);
    expect(isApplied()).toBe(false);
  }
  log.proven(30);
  expect([30, 31].map((timeMs) => log.isNewest(0, 'BUY', 4900, timeMs))).toEqual([false, true]);
});

it('a late change sets a level only if it is newer than every change of that level, and than the proof', () => {
  const log = new RecentChangeLog();
  log.proven(10);
  log.note(0, 'BUY', 4900, 20);
  expect([10, 11, 20, 21].map((timeMs) => log.isNewest(0, 'BUY', 4900, timeMs))).toEqual([
    ...[false, false, false, true],
  ]);
  expect([log.isNewest(0, 'SELL', 4900, 11), log.isNewest(1, 'BUY', 4900, 11)]).toEqual([true, true]);
  expect(log.isNewest(0, 'BUY', 4901, 11)).toBe(true);
  log.note(1, 'BUY', 4900, 20);
  expect(log.isNewest(0, 'BUY', 4901, 11), 'a level of the other token').toBe(true);
  expect([19, 20].map((untilMs) => log.isNewest(0, 'BUY', 4900, 11, untilMs))).toEqual([true, false]);
  log.proven(30);
  expect([30, 31].map((timeMs) => log.isNewest(0, 'BUY', 4900, timeMs))).toEqual([false, true]);
});
