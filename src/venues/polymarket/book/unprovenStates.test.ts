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
