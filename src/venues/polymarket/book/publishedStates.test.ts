import { describe, expect, it } from 'vitest';
import { BookPlayer } from '../../../../test/support/bookPlayer.ts';
import { MARKET, WireMarket } from '../../../../test/support/wire.ts';
import type { FinishedAction } from './bookAction.ts';
import { MarketBook } from './marketBook.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

/** A venue with bids at 4900 and 4800 and asks at 5000 and 5100, and a book without any frame of it. */
function venueAndEmptyBook({ checkHashes }: { checkHashes: boolean } = { checkHashes: true }) {
  const wire = new WireMarket();
  for (const [price, size] of [
    [4900, 1],
    [4800, 2],
  ] as const) {
    wire.set({ side: 'BUY', price, size: size * SHARE });
    wire.set({ side: 'SELL', price: 9900 - price, size: 3 * size * SHARE });
  }
  const finished: FinishedAction[] = [];
  const book = new MarketBook({ ...MARKET, tickSize: '0.01' }, { checkHashes });
  const player = new BookPlayer(book, (action) => finished.push(action));
  const feed = (...frames: string[]) => frames.flatMap((frame) => player.play(frame, T0 + 7));
  return { wire, book, player, finished, feed };
}

function venueAndBook(options?: { checkHashes: boolean }) {
  const all = venueAndEmptyBook(options);
  all.feed(all.wire.snapshot(T0));
  all.player.finishQuiet();
  all.finished.length = 0;
  return all;
}

/** The whole book of one token, as the answer to a subscription. */
function firstBookOf(token: 'yes' | 'no', snapshot: string): string {
  return JSON.stringify([JSON.parse(snapshot)[token === 'yes' ? 0 : 1]]);
}

/** The first frame of an action with the changes of one token only. */
function onlyOne(token: 'yes' | 'no', [frame]: readonly string[]): string {
  const raw = JSON.parse(frame ?? '');
  return JSON.stringify({ ...raw, price_changes: [raw.price_changes[token === 'yes' ? 0 : 1]] });
}

const levels = (list: readonly (readonly [price: number, shares: number])[]) => ({
  prices: list.map(([price]) => price),
  sizes: list.map(([, shares]) => shares * SHARE),
});

describe('a restored book', () => {
  const bids = [
    [4900, 1],
    [4800, 2],
  ] as const;
  const asks = [
    [5000, 3],
    [5100, 6],
  ] as const;
  const [noBids, noAsks] = [
    [
      [5000, 3],
      [4900, 6],
    ] as const,
    [
      [5100, 1],
      [5200, 2],
    ] as const,
  ];
  const none = { bids: levels([]), asks: levels([]) };
  const yes = { bids: levels(bids), asks: levels(asks) };
  const shown = ({ yes, no }: MarketBook) =>
    [yes.bids, yes.asks, no.bids, no.asks].map((side) =>
      Array.from({ length: side.count }, (_, at) => [side.prices[at], side.sizes[at]! / SHARE]),
    );

  it('has the stored levels, time and trust; a mirrored one derives the levels of NO', () => {
    const { book } = venueAndEmptyBook();
    book.restore({ eventTimeMs: T0, trusted: true, mirrored: true, yes, no: none });
    expect([book.eventTimeMs, book.trusted, shown(book)]).toEqual([T0, true, [bids, asks, noBids, noAsks]]);
    const no = { bids: levels([[5000, 3]]), asks: levels([[5300, 9]]) };
    book.restore({ eventTimeMs: T0 + 1, trusted: false, mirrored: false, yes, no });
    expect([book.eventTimeMs, book.trusted]).toEqual([T0 + 1, false]);
    expect(shown(book)).toEqual([bids, asks, [[5000, 3]], [[5300, 9]]]);
  });

  it('is unchanged by an equal snapshot, and changed by another', () => {
    for (const isChanged of [false, true]) {
      const { wire, book, finished, feed } = venueAndEmptyBook();
      book.restore({ eventTimeMs: T0, trusted: true, mirrored: true, yes, no: none });
      if (isChanged) wire.set({ side: 'BUY', price: 4700, size: SHARE });
      feed(wire.snapshot(T0 + 10));
      expect(finished).toEqual([
        {
          ...{ end: 'verified', form: 'book', eventTimeMs: T0 + 10, receivedTimeMs: T0 + 7 },
          ...{ changed: isChanged, isFirstBook: true, trusted: true },
        },
      ]);
    }
  });

  it('loses its trust at the time of its last event, also when a book of one token is newer', () => {
    const { wire, book, player, finished, feed } = venueAndEmptyBook();
    book.restore({ eventTimeMs: T0, trusted: true, mirrored: true, yes, no: none });
    feed(firstBookOf('yes', wire.snapshot(T0 + 10)));
    player.finishQuiet();
    player.note(book.disconnect(T0 + 20));
    expect(finished).toMatchObject([
      { end: 'disconnected', eventTimeMs: T0, receivedTimeMs: T0 + 20, trusted: false },
    ]);
  });
});

describe('a doubt', () => {
  it('is published once, and stays until the next frames verify', () => {
    const { wire, book, finished, feed } = venueAndBook();
    expect(book.distrust(T0 + 50)).toMatchObject({ end: 'disconnected', eventTimeMs: T0, trusted: false });
    expect([book.distrust(T0 + 60), book.disconnect(T0 + 70)]).toEqual([null, null]);
    const again = venueAndBook().book;
    again.distrust(T0 + 50);
    expect(again.reannounce(T0 + 60)).toMatchObject({ trusted: false });
    feed(wire.snapshot(T0 + 80));
    expect(finished).toMatchObject([{ trusted: true, changed: false }]);
  });

  it('does not end with an equal book of one token', () => {
    const { wire, book, player, feed } = venueAndBook();
    book.distrust(T0 + 50);
    feed(wire.books(T0 + 60)[0]!);
    player.finishQuiet();
    expect(book.trusted).toBe(false);
  });
});

it('a change of one token’s book is a change, whatever the other’s is', () => {
  const { wire, player, finished, feed } = venueAndBook();
  const [, no] = JSON.parse(wire.snapshot(T0 + 10));
  wire.set({ side: 'BUY', price: 4700, size: SHARE });
  const [yes] = JSON.parse(wire.snapshot(T0 + 10));
  feed(JSON.stringify([yes, no]));
  player.finishQuiet();
  expect(finished).toMatchObject([{ form: 'book', changed: true }]);
});

it('frames of other tokens and older books change nothing, and end no waiting action', () => {
  const { wire, book, finished, feed } = venueAndBook();
  const [older] = wire.books(T0 - 1);
  const [first, second] = wire.action(T0 + 10, [
    { side: 'BUY', price: 4700, size: SHARE },
    { side: 'BUY', price: 4600, size: SHARE },
  ]);
  const foreign = (frame = '') => frame.replaceAll(MARKET.yesTokenId, '3'.repeat(77));
  const [otherChange] = wire.action(T0 + 20, [{ side: 'BUY', price: 4500, size: SHARE }]);
  wire.set({ side: 'BUY', price: 4500, size: 0 });
  const outcomes = feed(first!, older!, foreign(wire.books(T0 + 20)[0]), foreign(otherChange), second!);
  expect(outcomes).toEqual(['applied', 'stale', 'unknown_token', 'unknown_token', 'applied']);
  expect(finished).toMatchObject([{ end: 'verified', eventTimeMs: T0 + 10, trusted: true }]);
  expect(book.yes.bids.count).toBe(4);
});

describe('a state that is published again', () => {
  it('is changed only where all of it is to be published, and is no first book', () => {
    const { book } = venueAndBook();
    const state = { end: 'quiet', form: 'changes', eventTimeMs: T0, isFirstBook: false, trusted: true };
    expect(book.reannounce(T0 + 50)).toEqual({ ...state, receivedTimeMs: T0 + 50, changed: false });
    expect(book.republish(T0 + 60)).toEqual({ ...state, receivedTimeMs: T0 + 60, changed: true });
    expect(book.reannounce(T0 + 70)).toEqual({ ...state, receivedTimeMs: T0 + 70, changed: false });
  });

  it.each(['yes', 'no'] as const)('does not exist while only the book of %s has arrived', (token) => {
    const { wire, book, player, feed } = venueAndEmptyBook();
    feed(firstBookOf(token, wire.snapshot(T0)));
    player.finishQuiet();
    expect([book.reannounce(T0 + 50), book.republish(T0 + 50)]).toEqual([null, null]);
  });
});

describe('a book of which one token', () => {
  it.each(['yes', 'no'] as const)('has ever arrived, %s, is published after a pause, untrusted', (token) => {
    const { wire, book, player, finished, feed } = venueAndEmptyBook();
    feed(firstBookOf(token, wire.snapshot(T0)));
    expect(finished).toEqual([]);
    player.finishQuiet();
    expect([finished, book.isOneSided]).toMatchObject([[{ end: 'quiet', trusted: false }], true]);
  });

  it('has arrived takes its changes, and the other stays empty until its book', () => {
    const { wire, book, player, finished, feed } = venueAndEmptyBook();
    feed(firstBookOf('yes', wire.snapshot(T0)));
    player.finishQuiet();
    feed(...wire.action(T0 + 10, [{ side: 'BUY', price: 4910, size: SHARE }]));
    player.finishQuiet();
    expect(finished).toMatchObject([
      { changed: true, trusted: false },
      { changed: true, trusted: false },
    ]);
    expect([book.yes.bids.best, book.no.asks.count, book.isOneSided]).toEqual([4910, 0, true]);
  });

  it.each(['BUY', 'SELL'] as const)('has not arrived since a disconnect, with a %s level, is not', (side) => {
    const { book, player, finished, feed } = venueAndEmptyBook();
    const wire = new WireMarket();
    wire.set({ side, price: 4900, size: SHARE });
    feed(wire.snapshot(T0));
    player.note(book.disconnect(T0 + 5));
    finished.length = 0;
    feed(firstBookOf('yes', wire.snapshot(T0 + 10)));
    player.finishQuiet();
    expect([finished, book.isOneSided]).toEqual([[], false]);
  });

  it('has no level is not one-sided before the first book, nor after both', () => {
    const { book, feed } = venueAndEmptyBook();
    expect(book.isOneSided).toBe(false);
    feed(new WireMarket().snapshot(T0));
    expect([book.yes.known, book.no.known, book.isOneSided]).toEqual([true, true, false]);
  });

  it.each([{ checkHashes: true }, { checkHashes: false }])(
    'has not arrived is not proven by a trade: %j',
    (options) => {
      const { wire, book, player, finished, feed } = venueAndEmptyBook(options);
      feed(wire.trade(T0 - 2, { price: 5000, size: SHARE }));
      expect(finished).toEqual([]);
      feed(firstBookOf('yes', wire.snapshot(T0)));
      player.finishQuiet();
      finished.length = 0;
      feed(wire.trade(T0 + 5, { price: 4900, size: SHARE }));
      expect([finished, book.trusted]).toEqual([[], false]);
    },
  );

  it('arrives later than the other is published once both have arrived', () => {
    const { wire, finished, feed } = venueAndEmptyBook();
    feed(firstBookOf('yes', wire.snapshot(T0)), firstBookOf('no', wire.snapshot(T0 + 5)));
    expect(finished).toEqual([]);
    feed(...wire.action(T0 + 10, [{ side: 'BUY', price: 4700, size: SHARE }]));
    expect(finished.map(({ end, trusted }) => [end, trusted])).toEqual([
      ['superseded', true],
      ['verified', true],
    ]);
  });

  it.each(['BUY', 'SELL'] as const)('alone has a change of a %s level is no mirror of the other', (side) => {
    const { wire, book, feed } = venueAndBook();
    expect(book.mirrored).toBe(true);
    const price = side === 'BUY' ? 4700 : 5200;
    feed(onlyOne('yes', wire.action(T0 + 10, [{ side, price, size: SHARE }])));
    expect(book.mirrored).toBe(false);
  });

  it('was named by a frame counts it, whether the frame was applied or not', () => {
    const { wire, book, feed } = venueAndEmptyBook();
    const counts = (...frames: string[]) => {
      const outcomes = feed(...frames);
      return [...outcomes, book.yes.frames, book.no.frames];
    };
    const action = (timeMs: number) =>
      wire.action(timeMs, [{ side: 'BUY', price: 4700, size: timeMs - T0 + 100 }]);
    expect(counts(...action(T0 - 9))).toEqual(['before_snapshot', 1, 1]);
    expect(counts(firstBookOf('yes', wire.snapshot(T0)))).toEqual(['applied', 2, 1]);
    expect(counts(...action(T0 + 1))).toEqual(['applied', 3, 2]);
    expect(counts(firstBookOf('no', wire.snapshot(T0 + 2)))).toEqual(['applied', 3, 3]);
    expect(counts(...wire.books(T0 - 1))).toEqual(['stale', 'stale', 4, 4]);
    expect(counts(...action(T0 - 5))).toEqual(['stale', 5, 5]);
  });
});

describe('a book that only its best prices can prove', () => {
  it.each(['yes', 'no'] as const)('is not proven while %s alone is crossed', (token) => {
    const { wire, book, player, feed } = venueAndBook({ checkHashes: false });
    feed(onlyOne(token, wire.action(T0 + 10, [{ side: 'BUY', price: 5050, size: SHARE }])));
    player.finishQuiet();
    expect([book.yes.crossed, book.no.crossed, book.trusted]).toEqual([
      token === 'yes',
      token === 'no',
      false,
    ]);
  });

  it.each([
    ['bid', 'yes'],
    ['ask', 'yes'],
    ['bid', 'no'],
    ['ask', 'no'],
  ] as const)('is not proven by another best %s of %s', (side, token) => {
    const { wire, book, player, feed } = venueAndBook({ checkHashes: false });
    const [frame = ''] = wire.action(T0 + 10, [{ side: 'BUY', price: 4700, size: SHARE }]);
    const raw = JSON.parse(frame);
    raw.price_changes[token === 'yes' ? 0 : 1][`best_${side}`] = '0.47';
    feed(JSON.stringify(raw));
    player.finishQuiet();
    expect(book.trusted).toBe(false);
    feed(frame);
    player.finishQuiet();
    expect(book.trusted).toBe(true);
  });
});

it.each([
  ['gone with the trade', 4900, 0],
  ['new with the trade', 4950, SHARE],
])('a whole book proves itself by a lost trade at the best price that is %s', (_, price, left) => {
  const { wire, book, player, feed } = venueAndBook();
  wire.set({ side: 'BUY', price, size: left });
  wire.trade(T0 + 10, { price, size: SHARE });
  feed(...wire.books(T0 + 10));
  player.finishQuiet();
  expect([book.trusted, book.context.lastTradePrice]).toEqual([true, (price / 10_000).toFixed(3)]);
});

it('an action hashed before a trade is proven though the trade’s message arrives first', () => {
  const { wire, book, player, feed } = venueAndBook();
  const frames = wire.action(T0 + 10, [{ side: 'BUY', price: 4700, size: SHARE }]);
  feed(wire.trade(T0 + 11, { price: 5300, size: SHARE }), ...frames);
  player.finishQuiet();
  expect(book.trusted).toBe(true);
});
