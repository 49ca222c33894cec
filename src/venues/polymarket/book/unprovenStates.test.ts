import { describe, expect, it } from 'vitest';
import { BookPlayer } from '../../../../test/support/bookPlayer.ts';
import { MARKET, WireMarket } from '../../../../test/support/wire.ts';
import { mapClobFrame } from '../clob/mapper.ts';
import { MarketBook } from './marketBook.ts';
import { UnprovenStates } from './unprovenStates.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

/** A proven book, and the venue that sends to it. */
function proven() {
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4_900, size: SHARE });
  wire.set({ side: 'SELL', price: 5_100, size: SHARE });
  const { marketId, yesTokenId, noTokenId } = MARKET;
  const book = new MarketBook({ marketId, yesTokenId, noTokenId, tickSize: '0.01' });
  const player = new BookPlayer(book);
  const receive = (frame: string) => player.play(frame, T0);
  receive(wire.snapshot(T0));
  return { wire, book, receive };
}

describe('a state whose hashes did not verify', () => {
  it('is right once the trade that its hashes include has arrived, on whichever token', () => {
    const { wire, book, receive } = proven();
    wire.trade(T0 + 1, { price: 3_300, size: SHARE });
    for (const frame of wire.action(T0 + 1, [{ side: 'BUY', price: 4_000, size: SHARE }])) receive(frame);
    const [asTraded, asMirrored] = [new UnprovenStates(book), new UnprovenStates(book)];
    expect(asTraded.areRight(book)).toBe(false);
    asTraded.noteTrade(3_300);
    asMirrored.noteTrade(6_700);
    expect([asTraded.areRight(book), asMirrored.areRight(book)]).toEqual([true, true]);
  });

  it('is wrong while one of its tokens does not verify', () => {
    const { wire, book, receive } = proven();
    const [frame = ''] = wire.action(T0 + 1, [{ side: 'BUY', price: 4_000, size: SHARE }]);
    // The change of NO has another price than the venue's book.
    receive(frame.replace('"price":"0.6"', '"price":"0.61"'));
    expect(book.yes.verify(book.context, book.context.lastTradePrice)).toBe(true);
    expect(new UnprovenStates(book).areRight(book)).toBe(false);
  });

  /** The states after an action that lacks a lost one, and what then arrives as the recorder passes it on. */
  function withLostLevel(lostLevels: readonly number[]) {
    const { wire, book, receive } = proven();
    const level = (price: number, size: number) => ({ side: 'BUY', price, size: size * SHARE }) as const;
    const lost = wire.action(
      T0 + 10,
      lostLevels.map((price) => level(price, 7)),
    );
    for (const frame of wire.action(T0 + 20, [level(4_300, 7)])) receive(frame);
    book.finishQuiet();
    const states = new UnprovenStates(book);
    const pass = (frames: readonly string[]) => {
      for (const event of frames.flatMap((frame) => mapClobFrame(frame, T0)))
        if (event.kind === 'book_change') states.noteChanges(event, book.recent);
      for (const frame of frames) receive(frame);
      book.finishQuiet();
    };
    return { wire, book, states, level, lost, pass };
  }

  it('is not right when a later action sets the lost level again', () => {
    const { wire, book, states, level, pass } = withLostLevel([4_500]);
    pass(wire.action(T0 + 30, [level(4_500, 9)]));
    expect([book.trusted, states.areRight(book)]).toEqual([true, false]);
  });

  it('is right once the lost frames have arrived, even after a newer one of the same level', () => {
    const { wire, book, states, level, lost, pass } = withLostLevel([4_500, 4_400]);
    pass(wire.action(T0 + 30, [level(4_500, 9)]));
    expect([book.trusted, states.areRight(book)]).toEqual([false, false]);
    pass(lost);
    expect([book.trusted, states.areRight(book)]).toEqual([true, true]);
  });

  it('is not completed by another action of its millisecond', () => {
    const { wire, book, states, level, pass } = withLostLevel([4_500]);
    const [repetition = ''] = wire.action(T0 + 20, [level(4_500, 7), level(4_600, 7)]);
    pass([repetition]);
    expect(states.areRight(book)).toBe(false);
  });

  it('keeps a level that a newer frame had set before it', () => {
    const { wire, book, receive } = proven();
    const level = (price: number, size: number) => ({ side: 'BUY', price, size: size * SHARE }) as const;
    const lost = wire.action(T0 + 10, [level(4_500, 7), level(4_400, 7)]);
    for (const frame of wire.action(T0 + 20, [level(4_500, 8)])) receive(frame);
    book.finishQuiet();
    const states = new UnprovenStates(book);
    for (const event of lost.flatMap((frame) => mapClobFrame(frame, T0)))
      if (event.kind === 'book_change') states.noteChanges(event, book.recent);
    expect(states.areRight(book)).toBe(true);
  });

  it('is not right while an unproven state after it is wrong', () => {
    const { wire, book, states, level, lost, pass } = withLostLevel([4_500]);
    wire.action(T0 + 30, [level(4_400, 7)]);
    pass(wire.action(T0 + 40, [level(4_200, 7)]));
    states.add(book);
    pass(wire.action(T0 + 50, [level(4_400, 9)]));
    pass(lost);
    expect([book.trusted, states.areRight(book)]).toEqual([true, false]);
  });
});

describe('what completes or proves a state', () => {
  const level = (price: number, size: number) => ({ side: 'BUY', price, size: size * SHARE }) as const;
  /** Notes changes in the states only, as the recorder does before it applies them. */
  const note = (states: UnprovenStates, book: MarketBook, ...frames: readonly string[]) => {
    for (const event of frames.flatMap((frame) => mapClobFrame(frame, T0)))
      if (event.kind === 'book_change') states.noteChanges(event, book.recent);
  };
  const onlyOf = (token: 'yes' | 'no', frame = '') => {
    const raw = JSON.parse(frame);
    return JSON.stringify({ ...raw, price_changes: [raw.price_changes[token === 'yes' ? 0 : 1]] });
  };

  it('is the rest of its own action, also where that names the other token first', () => {
    const { wire, book, receive } = proven();
    const [first = '', rest = ''] = wire.action(T0 + 10, [level(4_500, 7), level(4_400, 7)]);
    receive(first);
    const states = new UnprovenStates(book);
    expect(states.areRight(book)).toBe(false);
    note(states, book, rest);
    expect(states.areRight(book)).toBe(true);
    const other = proven();
    const [frame] = other.wire.action(T0 + 10, [level(4_500, 7)]);
    other.receive(onlyOf('yes', frame));
    const half = new UnprovenStates(other.book);
    half.add(other.book);
    note(half, other.book, onlyOf('no', frame));
    expect(half.areRight(other.book)).toBe(true);
  });

  it('is a frame of the time of its whole book, but no older one', () => {
    const { wire, book, receive } = proven();
    const older = wire.action(T0 + 10, [level(4_500, 7)]);
    wire.set(level(4_500, 8));
    wire.trade(T0 + 20, { price: 3_300, size: SHARE });
    for (const frame of wire.books(T0 + 20)) receive(frame);
    const whole = new UnprovenStates(book);
    const lost = wire.action(T0 + 20, [level(4_400, 7)]);
    for (const frame of wire.action(T0 + 30, [level(4_300, 7)])) receive(frame);
    book.finishQuiet();
    const later = new UnprovenStates(book);
    for (const states of [whole, later]) states.noteTrade(3_300);
    note(whole, book, ...older);
    note(later, book, ...older, ...lost);
    expect([whole.areRight(book), later.areRight(book)]).toEqual([true, true]);
  });

  it('is a frame older than either token’s state', () => {
    const { wire, book, receive } = proven();
    const lost = wire.action(T0 + 10, [level(4_500, 7)]);
    receive(onlyOf('yes', wire.action(T0 + 20, [level(4_300, 7)])[0]));
    const states = new UnprovenStates(book);
    expect(states.areRight(book)).toBe(false);
    note(states, book, ...lost);
    expect(states.areRight(book)).toBe(true);
  });

  it('is overdue only where the first state that it completes is more than a second newer', () => {
    const wasOverdue = (firstMs: number) => {
      const { wire, book, receive } = proven();
      const lost = wire.action(T0 + 100, [level(4_500, 7)]);
      receive(wire.action(T0 + firstMs, [level(4_300, 7)])[0] ?? '');
      book.finishQuiet();
      const states = new UnprovenStates(book);
      receive(wire.action(T0 + 5_000, [level(4_200, 7)])[0] ?? '');
      states.add(book);
      note(states, book, ...lost);
      return states.wasOverdue;
    };
    expect([1_100, 1_101].map(wasOverdue)).toEqual([false, true]);
  });

  it('is not overdue where a newer frame has set each of its levels', () => {
    const { wire, book, receive } = proven();
    const lost = wire.action(T0 + 100, [level(4_500, 7)]);
    receive(wire.action(T0 + 2_000, [level(4_500, 8)])[0] ?? '');
    const states = new UnprovenStates(book);
    note(states, book, ...lost);
    expect(states.wasOverdue).toBe(false);
  });

  it('is no level of a token of another market', () => {
    const { wire, book, receive } = proven();
    const trade = wire.trade(T0 + 10, { price: 3_300, size: SHARE });
    for (const frame of wire.action(T0 + 10, [level(4_500, 7)])) receive(frame);
    const states = new UnprovenStates(book);
    const foreign = JSON.parse(onlyOf('no', wire.action(T0 + 10, [level(4_400, 9)])[0]));
    const { hash } = JSON.parse(wire.books(T0 + 10)[1] ?? '');
    foreign.price_changes[0] = { ...foreign.price_changes[0], asset_id: '3', hash };
    note(states, book, JSON.stringify({ ...foreign, timestamp: `${T0 + 5}` }));
    receive(trade);
    states.noteTrade(3_300);
    expect(states.areRight(book)).toBe(true);
  });

  it('is nothing where a token has no hash since a doubt, and where no hash has ever verified', () => {
    const { wire, book, receive } = proven();
    book.distrust(T0 + 5);
    const [frame = ''] = wire.action(T0 + 10, [level(4_500, 7)]);
    receive(onlyOf('yes', frame.replace('0.45', '0.46')));
    const states = new UnprovenStates(book);
    note(states, book, onlyOf('no', frame));
    expect(states.areRight(book)).toBe(true);
    receive(onlyOf('no', frame));
    const known = new UnprovenStates(book);
    const { context } = book;
    const are = [true, false].map((recipeProven) => known.areRight({ context, recipeProven }));
    expect(are).toEqual([false, true]);
  });

  it('is the trade and the tick size of its time, after both have changed', () => {
    const { wire, book, receive } = proven();
    receive(wire.trade(T0 + 1, { price: 3_300, size: SHARE }));
    const lost = wire.action(T0 + 10, [level(4_500, 7)]);
    for (const frame of wire.action(T0 + 20, [level(4_300, 7)])) receive(frame);
    book.finishQuiet();
    const states = new UnprovenStates(book);
    receive(wire.trade(T0 + 30, { price: 4_800, size: SHARE }));
    states.noteTrade(4_800);
    const { marketId, yesTokenId: tokenId } = MARKET;
    const times = { eventTimeMs: T0 + 31, receivedTimeMs: T0 + 31 };
    const finer = { kind: 'tick_size_change', marketId, tokenId, ...times, tickSize: '0.001' } as const;
    book.finishBefore(finer);
    book.apply(finer);
    note(states, book, ...lost);
    expect(states.areRight(book)).toBe(true);
  });
});

describe('the limits of memory', () => {
  const level = (price: number, size: number) => ({ side: 'BUY', price, size: size * SHARE }) as const;

  it('are 64 trade prices of both tokens', () => {
    const { wire, book, receive } = proven();
    receive(wire.trade(T0 + 1, { price: 4_800, size: SHARE }));
    wire.trade(T0 + 2, { price: 3_300, size: SHARE });
    for (const frame of wire.action(T0 + 2, [level(4_000, 1)])) receive(frame);
    const afterOthers = (others: number) => {
      const states = new UnprovenStates(book);
      // This price is the same on both tokens: with the known one, that makes two.
      states.noteTrade(5_000);
      for (let at = 1; at < others; at++) states.noteTrade(100 + at);
      states.noteTrade(3_300);
      return states.areRight(book);
    };
    expect([30, 31].map(afterOthers)).toEqual([true, true]);
    expect([32, 33].map(afterOthers)).toEqual([false, false]);
  });

  it('are 32 states, of which a repeated one counts once', () => {
    const afterOthers = (others: number, isRepeated: boolean) => {
      const { wire, book, receive } = proven();
      const states = new UnprovenStates(book);
      for (let at = 1; at < others; at++) {
        if (!isRepeated) for (const frame of wire.action(T0 + at, [level(4_000, at)])) receive(frame);
        states.add(book);
      }
      wire.action(T0 + 90, [level(4_500, 7)]);
      for (const frame of wire.action(T0 + 99, [level(4_300, 7)])) receive(frame);
      states.add(book);
      return states.areRight(book);
    };
    expect([31, 32].map((others) => afterOthers(others, false))).toEqual([false, true]);
    expect(afterOthers(40, true)).toBe(false);
  });

  it.each(['no', 'yes'] as const)('a state in which only %s is new is a new one', (token) => {
    const { wire, book, receive } = proven();
    const states = new UnprovenStates(book);
    wire.action(T0 + 10, [level(4_500, 7)]);
    const raw = JSON.parse(wire.action(T0 + 20, [level(4_300, 7)])[0] ?? '');
    receive(JSON.stringify({ ...raw, price_changes: [raw.price_changes[token === 'yes' ? 0 : 1]] }));
    states.add(book);
    expect(states.areRight(book)).toBe(false);
  });

  it('a state with another hash at the same time is a new one', () => {
    const { wire, book, receive } = proven();
    for (const frame of wire.action(T0 + 10, [level(4_500, 7)])) receive(frame);
    const states = new UnprovenStates(book);
    wire.action(T0 + 10, [level(4_400, 7)]);
    for (const frame of wire.action(T0 + 10, [level(4_300, 7)])) receive(frame);
    states.add(book);
    expect(states.areRight(book)).toBe(false);
  });
});
