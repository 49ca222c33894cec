import { describe, expect, it } from 'vitest';
import { BookPlayer } from '../../../../test/support/bookPlayer.ts';
import { recording, recordingLines, recordingsAbsent } from '../../../../test/support/fixtures.ts';
import { MARKET, WireMarket } from '../../../../test/support/wire.ts';
import { formatPrice, formatSize } from '../../../core/money.ts';
import type { TickSizeChangeEvent } from '../../../schema/events.ts';
import { mapClobFrame } from '../clob/mapper.ts';
import type { FinishedAction } from './bookAction.ts';
import { MarketBook } from './marketBook.ts';
import { TokenBook } from './tokenBook.ts';

const POLYBOT = 'polymarket/alimohammad1995-PolybotV2';
const FIFA = 'polymarket/ww-shan-polyFIFA2026';

interface Expected {
  tick_size: string;
  steps: { asset_id: string; best_bid: [string, string] | null; best_ask: [string, string] | null }[];
}

interface Finished extends FinishedAction {
  best: [number | null, number | null];
}

/** Plays recorded frames; `finished` lists each action with the index of the frame that ended it. */
function play(frames: readonly string[], tickSize: string) {
  const events = frames.map((frame, i) => mapClobFrame(frame, 1000 + i));
  const first = events.flat().filter((event) => event.kind === 'book_snapshot');
  const finished: (Finished & { frame: number })[] = [];
  let frame = 0;
  const book = new MarketBook({
    marketId: first[0]!.marketId,
    yesTokenId: first[0]!.tokenId,
    noTokenId: first[1]!.tokenId,
    tickSize,
  });
  const { bids, asks } = book.yes;
  const player = new BookPlayer(book, (action) => {
    finished.push({ ...action, frame, best: [bids.best, asks.best] });
  });
  for (; frame < events.length; frame++) for (const event of events[frame]!) player.apply(event);
  player.finishQuiet();
  return { book, finished, player };
}

function topOf(book: MarketBook, tokenId: string) {
  const token = tokenId === book.yes.tokenId ? book.yes : book.no;
  const top = (side: typeof token.bids) =>
    side.best === null ? null : [formatPrice(side.best), formatSize(side.sizes[0]!)];
  return { best_bid: top(token.bids), best_ask: top(token.asks) };
}

function recordedFrames(name: string): string[] {
  return recordingLines(name).map((line) => {
    const parsed = JSON.parse(line);
    return typeof parsed.frame === 'string' ? parsed.frame : line;
  });
}

describe.skipIf(recordingsAbsent)(
  'recorded Polymarket frames (skipped where the recordings are absent)',
  () => {
    it.each([
      // The excerpt stops after one token's book of a trade, so its last action ends by a pause.
      [`${POLYBOT}/frames.jsonl`, `${POLYBOT}/expected.json`, 'quiet'],
      [`${FIFA}/bid-cancel-batch.jsonl`, `${FIFA}/expected-bid-cancel-batch.json`, 'verified'],
      [`${FIFA}/crossed-fill.jsonl`, `${FIFA}/expected-crossed-fill.json`, 'verified'],
    ])('%s ends in the expected best prices, trusted', (framesFile, expectedFile, end) => {
      const expected: Expected = JSON.parse(recording(expectedFile));
      const { book, finished } = play(recordedFrames(framesFile), expected.tick_size);
      const last = new Map(expected.steps.map((step) => [step.asset_id, step]));
      for (const [tokenId, step] of last) {
        expect(topOf(book, tokenId)).toEqual({ best_bid: step.best_bid, best_ask: step.best_ask });
      }
      expect(finished.at(-1)).toMatchObject({ trusted: true, end });
    });

    it('publishes a batch of four cancels once, after its last frame', () => {
      const { finished } = play(recordedFrames(`${FIFA}/bid-cancel-batch.jsonl`), '0.001');
      expect(finished.map(({ frame, end, trusted, best }) => ({ frame, end, trusted, best }))).toEqual([
        { frame: 0, end: 'verified', trusted: true, best: [5540, 5590] },
        { frame: 6, end: 'verified', trusted: true, best: [5460, 5590] },
      ]);
    });

    it('stays untrusted after a lost frame until the next whole books', () => {
      const frames = recordedFrames(`${FIFA}/bid-cancel-batch.jsonl`);
      const { book, finished, player } = play([...frames.slice(0, 4), ...frames.slice(5)], '0.001');
      expect(finished.at(-1)).toMatchObject({ trusted: false, end: 'quiet' });
      player.play(frames[0]!.replaceAll('1789156453209', '1789156453300'), 5000);
      player.finishQuiet();
      // The hash covers the time, so the shifted copy cannot verify: only a real later snapshot can.
      expect(book.trusted).toBe(false);
    });

    it('never publishes a crossed state during a fill', () => {
      const { finished } = play(recordedFrames(`${FIFA}/crossed-fill.jsonl`), '0.001');
      for (const { best, trusted } of finished) {
        expect(trusted).toBe(true);
        expect(best[0]!).toBeLessThan(best[1]!);
      }
    });
  },
);

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

/** A book that has the venue's snapshot of `T0`, and the actions that finish afterwards. */
function afterSnapshot(
  { version = 'v1', ...options }: { checkHashes: boolean; version?: 'v1' | 'v2' } = { checkHashes: true },
) {
  const wire = new WireMarket(MARKET, version);
  for (let i = 1; i <= 8; i++) {
    wire.set({ side: 'BUY', price: 5000 - i * 100, size: i * SHARE });
    wire.set({ side: 'SELL', price: 4900 + i * 100, size: (20 - i) * SHARE });
  }
  const finished: Finished[] = [];
  const ids = { ...MARKET, tickSize: wire.tickSize };
  const book = new MarketBook(ids, options);
  const { bids, asks } = book.yes;
  const player = new BookPlayer(book, (action) => {
    finished.push({ ...action, best: [bids.best, asks.best] });
  });
  const feed = (...frames: string[]) => {
    for (const frame of frames) player.play(frame, T0);
  };
  feed(wire.snapshot(T0));
  player.finishQuiet();
  finished.length = 0;
  return { wire, book, finished, feed, player };
}

function tickSizeChange(tickSize: string, receivedTimeMs: number): TickSizeChangeEvent {
  const { marketId, yesTokenId: tokenId } = MARKET;
  return { kind: 'tick_size_change', marketId, tokenId, eventTimeMs: T0, receivedTimeMs, tickSize };
}

/** The first frame of an action with the changes of one token only. */
function onlyOne(token: 'yes' | 'no', [frame]: readonly string[]): string {
  const raw = JSON.parse(frame ?? '');
  return JSON.stringify({ ...raw, price_changes: [raw.price_changes[token === 'yes' ? 0 : 1]] });
}

describe('a market’s book', () => {
  it('returns a superseded action while its levels are still the book’s, and refuses to lose it', () => {
    const { wire, book, finished, feed } = afterSnapshot();
    const [first, rest] = wire.action(T0 + 10, [
      { side: 'BUY', price: 4900, size: 0 },
      { side: 'BUY', price: 4800, size: 0 },
    ]);
    feed(first!);
    const [next] = mapClobFrame(rest!.replaceAll(`${T0 + 10}`, `${T0 + 11}`), T0 + 5);
    if (next?.kind !== 'book_change') throw new Error('not a change');
    expect(() => book.apply(next)).toThrow('finishBefore() was not called before apply()');
    expect(() => book.distrust(T0 + 5)).toThrow('finishQuiet() must end the waiting action first');
    expect([finished, book.yes.bids.best]).toEqual([[], 4800]);
    expect(book.finishBefore(next)).toMatchObject({
      end: 'superseded',
      eventTimeMs: T0 + 10,
      trusted: false,
    });
    expect([book.yes.bids.best, book.finishBefore(next)]).toEqual([4800, null]);
    expect([book.apply(next).outcome, book.yes.bids.best]).toEqual(['applied', 4700]);
  });

  it('ignores a change without levels', () => {
    const { wire, book, finished, feed, player } = afterSnapshot();
    const [frame] = wire.action(T0 + 10, [{ side: 'BUY', price: 4500, size: SHARE }]);
    const empty = JSON.stringify({ ...JSON.parse(frame!), price_changes: [] });
    expect(player.play(empty, T0)).toEqual(['applied']);
    feed(frame!);
    expect([finished.length, book.trusted]).toEqual([1, true]);
  });

  it('applies a whole book with the same millisecond as the last change', () => {
    const { wire, finished, feed } = afterSnapshot();
    const [first] = wire.action(T0 + 10, [
      { side: 'BUY', price: 4900, size: 0 },
      { side: 'BUY', price: 4800, size: 0 },
    ]);
    feed(first!, ...wire.books(T0 + 10));
    expect(finished).toMatchObject([{ trusted: true, end: 'verified', form: 'book', best: [4700, 5000] }]);
  });

  it('hashes the trade received later of two in one millisecond', () => {
    const { wire, book, finished, feed } = afterSnapshot();
    feed(wire.trade(T0 + 5, { price: 5300, size: SHARE }));
    feed(wire.trade(T0 + 5, { price: 5600, size: SHARE, id: '0x2' }));
    feed(...wire.action(T0 + 10, [{ side: 'BUY', price: 4500, size: SHARE }]));
    expect(finished).toMatchObject([{ trusted: true, end: 'verified' }]);
    expect(book.context.lastTradePrice).toBe('0.560');
  });

  it('ignores a trade that is older than the last one', () => {
    const { wire, book, feed } = afterSnapshot();
    const older = wire.trade(T0 + 5, { price: 5300, size: SHARE });
    feed(wire.trade(T0 + 6, { price: 5600, size: SHARE, id: '0x2' }), older);
    expect(book.context.lastTradePrice).toBe('0.560');
  });

  it('proves an action whose trade is unseen by a price that it touched, whatever earlier actions touched', () => {
    const { wire, book, feed, player } = afterSnapshot();
    for (let i = 0; i < 12; i++)
      feed(...wire.action(T0 + 10 + i, [{ side: 'BUY', price: 1000 + 100 * i, size: SHARE }]));
    // The message of this trade is lost.
    wire.trade(T0 + 100, { price: 3300, size: SHARE });
    feed(...wire.action(T0 + 100, [{ side: 'BUY', price: 3300, size: SHARE }]));
    player.finishQuiet();
    expect(book.trusted).toBe(true);
  });

  it('uses the tick size of a whole book from then on', () => {
    const { wire, finished, feed, player } = afterSnapshot();
    wire.tickSize = '0.1';
    feed(wire.snapshot(T0 + 10));
    feed(...wire.action(T0 + 20, [{ side: 'BUY', price: 4500, size: SHARE }]));
    player.finishQuiet();
    expect(finished.map(({ trusted, end }) => [trusted, end])).toEqual([
      [true, 'verified'],
      [true, 'verified'],
    ]);
  });

  it('proves a waiting action hashed with the old tick size when its trade arrives after the change', () => {
    const { wire, finished, feed, player } = afterSnapshot();
    const trade = wire.trade(T0 + 3, { price: 3300, size: SHARE });
    feed(...wire.action(T0 + 3, [{ side: 'BUY', price: 4500, size: SHARE }]));
    player.apply(tickSizeChange('0.001', T0 + 4));
    feed(trade);
    player.finishQuiet();
    expect(finished).toMatchObject([{ trusted: true }]);
    wire.tickSize = '0.001';
    feed(...wire.action(T0 + 20, [{ side: 'BUY', price: 4510, size: SHARE }]));
    expect(finished[1]).toMatchObject({ trusted: true, end: 'verified' });
  });

  it('proves a published unproven book when its trade arrives, even after a tick size change', () => {
    const { wire, finished, feed, player } = afterSnapshot();
    const trade = wire.trade(T0 + 3, { price: 3300, size: SHARE });
    feed(...wire.action(T0 + 3, [{ side: 'BUY', price: 4500, size: SHARE }]));
    player.finishQuiet();
    for (let token = 0; token < 2; token++) player.apply(tickSizeChange('0.001', T0 + 30));
    feed(trade);
    expect(finished.map(({ trusted, end }) => [trusted, end])).toEqual([
      [false, 'quiet'],
      [true, 'verified'],
    ]);
  });

  it('trusts a whole book where only best prices prove it: a doubt and announced prices are older', () => {
    const { wire, book, feed, player } = afterSnapshot({ checkHashes: false });
    feed(...wire.action(T0 + 10, [{ side: 'BUY', price: 4950, size: SHARE }]));
    player.finishQuiet();
    player.note(book.distrust(T0 + 15));
    expect(book.trusted).toBe(false);
    wire.set({ side: 'BUY', price: 4950, size: 0 });
    feed(wire.snapshot(T0 + 20));
    player.finishQuiet();
    expect(book.trusted).toBe(true);
  });

  it('stays untrusted after a doubt and a trade when only best prices prove the book', () => {
    const { wire, book, finished, feed, player } = afterSnapshot({ checkHashes: false });
    player.note(book.distrust(T0 + 5));
    feed(wire.trade(T0 + 10, { price: 5000, size: SHARE }));
    player.apply(tickSizeChange('0.001', T0 + 11));
    expect(finished).toMatchObject([{ trusted: false }]);
    feed(...wire.action(T0 + 20, [{ side: 'BUY', price: 4500, size: SHARE }]));
    player.finishQuiet();
    expect(finished[1]).toMatchObject({ trusted: true });
  });

  it('is not proven once its actions have named only one token for half a second', () => {
    const { wire, book, finished, feed, player } = afterSnapshot();
    for (const timeMs of [T0 + 10, T0 + 509, T0 + 510]) {
      feed(onlyOne('yes', wire.action(timeMs, [{ side: 'BUY', price: 4500, size: timeMs - T0 }])));
      player.finishQuiet();
    }
    expect(finished.map(({ trusted }) => trusted)).toEqual([true, true, false]);
    expect(book.isLopsided).toBe(true);
  });

  it.each([
    ['both', [true, true, true]],
    ['no', [true, true, true]],
    ['yes', [true, true, false]],
  ] as const)(
    'counts the half second anew after an action that named another set of tokens: %s',
    (named, trusted) => {
      const { wire, finished, feed, player } = afterSnapshot();
      for (const [timeMs, token] of [
        [T0 + 10, 'yes'],
        [T0 + 500, named],
        [T0 + 510, 'yes'],
      ] as const) {
        const frames = wire.action(timeMs, [{ side: 'BUY', price: 4500, size: timeMs - T0 }]);
        feed(...(token === 'both' ? frames : [onlyOne(token, frames)]));
        player.finishQuiet();
      }
      expect(finished.map((action) => action.trusted)).toEqual(trusted);
    },
  );

  it('forgets at a disconnect that its actions named only one token', () => {
    const { wire, book, feed, player } = afterSnapshot();
    for (const timeMs of [T0 + 10, T0 + 510]) {
      feed(onlyOne('yes', wire.action(timeMs, [{ side: 'BUY', price: 4500, size: timeMs - T0 }])));
      player.finishQuiet();
    }
    expect(book.isLopsided).toBe(true);
    player.note(book.disconnect(T0 + 600));
    expect(book.isLopsided).toBe(false);
  });

  it('never goes back in time when the tokens’ frames arrive in another order', () => {
    const { wire, book, finished, feed, player } = afterSnapshot();
    const earlier = wire.action(T0 + 10, [{ side: 'BUY', price: 4500, size: SHARE }]);
    const later = wire.action(T0 + 20, [{ side: 'BUY', price: 4400, size: SHARE }]);
    for (const frame of [onlyOne('yes', earlier), onlyOne('yes', later), onlyOne('no', earlier)]) {
      feed(frame);
      player.finishQuiet();
    }
    expect(finished.map(({ eventTimeMs }) => eventTimeMs)).toEqual([T0 + 10, T0 + 20, T0 + 20]);
    expect(book.reannounce(T0 + 30)).toMatchObject({ eventTimeMs: T0 + 20, trusted: true });
    // The published state is that of its time: an older frame changes nothing in it.
    expect([20, 21].map((ms) => book.recent.isNewest(0, 'BUY', 4300, T0 + ms))).toEqual([false, true]);
  });

  it('publishes nothing after a disconnect until both tokens’ whole books arrive', () => {
    const { wire, book, finished, feed, player } = afterSnapshot();
    player.note(book.disconnect(T0 + 5));
    expect(finished).toMatchObject([{ trusted: false, end: 'disconnected' }]);
    const [yes, no] = wire.books(T0 + 10);
    feed(yes!);
    player.finishQuiet();
    expect(finished).toHaveLength(1);
    feed(no!);
    player.finishQuiet();
    expect(finished[1]).toMatchObject({ trusted: true, best: [4900, 5000] });
  });
});

it.each([
  [4900, 5000, false],
  [5000, 5000, false],
  [5100, 5000, true],
])('a bid of %d and an ask of %d ticks are crossed: %s', (bid, ask, crossed) => {
  const token = new TokenBook('1');
  const level = (price: number) => ({ prices: [price], sizes: [SHARE] });
  token.restore({ bids: level(bid), asks: level(ask) });
  expect(token.crossed).toBe(crossed);
});

it('three whole books in a row that fail their hash refute the recipe, two do not', () => {
  const { wire, book, feed } = afterSnapshot();
  const proven = [1, 2, 3].map((time) => {
    const [yes] = JSON.parse(wire.snapshot(T0 + time));
    feed(JSON.stringify([{ ...yes, hash: 'ab' }]));
    return book.recipeProven;
  });
  expect(proven).toEqual([true, true, false]);
});

describe('the protocol version of a book', () => {
  const TOKEN = '663574927012476832975694178961957910328055987427402067619466963999000625152';
  /** The first frame of a V2 test market, recorded 2026-10-05: no level, no trade. */
  const RECORDED = {
    market: '0x017791f201d5a788e0039e511fc1900e5f000000000000000000000000000000',
    ...{ asset_id: TOKEN, timestamp: '1791238858575', hash: 'fc3846cab0c35a0977b6e5f605a4e5ff0d0b2277' },
    ...{ bids: [], asks: [], tick_size: '0.01', event_type: 'book', last_trade_price: '', version: 'v2' },
  };
  const verified = (message: object) => {
    const ids = { marketId: RECORDED.market, yesTokenId: TOKEN, noTokenId: '2', tickSize: '0.01' };
    const book = new MarketBook(ids);
    new BookPlayer(book).play(JSON.stringify([message]), 1);
    return [book.yes.verified, book.recipeProven, book.context.version];
  };

  it('selects the recipe that verifies a recorded empty V2 book', () => {
    expect(verified(RECORDED)).toEqual([true, true, 'v2']);
    expect(verified({ ...RECORDED, version: 'v1' })).toEqual([false, false, 'v1']);
  });

  it('is found by the hash where no book states it', () => {
    expect(verified({ ...RECORDED, version: undefined })).toEqual([true, true, 'v2']);
    expect(verified({ ...RECORDED, version: undefined, hash: 'ab' })).toEqual([false, false, null]);
  });

  it.each(['v1', 'v2'] as const)('stays %s for changes, trades and books that state none', (version) => {
    const { wire, book, finished, feed } = afterSnapshot({ checkHashes: true, version });
    expect(book.context.version).toBe(version);
    feed(...wire.action(T0 + 10, [{ side: 'BUY', price: 4500, size: SHARE }]));
    feed(wire.trade(T0 + 20, { price: 5000, size: SHARE }), ...wire.books(T0 + 20));
    const published = finished.map(({ trusted, end, isFirstBook }) => [trusted, end, isFirstBook]);
    expect(published).toEqual(Array(2).fill([true, 'verified', false]));
    feed(wire.books(T0 + 30)[0]!);
    expect(book.context.version).toBe(version);
  });

  it('that a book states replaces the one that a hash showed', () => {
    const { wire, book, feed } = afterSnapshot();
    const [yes] = JSON.parse(wire.snapshot(T0 + 10));
    feed(JSON.stringify([{ ...yes, version: 'v2' }]));
    expect([book.context.version, book.yes.verified]).toEqual(['v2', false]);
  });
});
