import { describe, expect, it } from 'vitest';
import { MARKET, WireMarket } from '../../../../test/support/wire.ts';
import { mapClobFrame } from '../clob/mapper.ts';
import { MarketBook } from './marketBook.ts';
import { UnprovenState } from './unprovenState.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

/** A proven book, and the venue that sends to it. */
function proven() {
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4_900, size: SHARE });
  wire.set({ side: 'SELL', price: 5_100, size: SHARE });
  const { marketId, yesTokenId, noTokenId } = MARKET;
  const book = new MarketBook({ marketId, yesTokenId, noTokenId, tickSize: '0.01' }, () => undefined);
  const receive = (frame: string) => {
    for (const event of mapClobFrame(frame, T0)) {
      if (event.kind === 'book_snapshot') book.applySnapshot(event);
      else if (event.kind === 'book_change') book.applyChanges(event);
    }
  };
  receive(wire.snapshot(T0));
  return { wire, book, receive };
}

describe('a state whose hashes did not verify', () => {
  it('is right once the trade that its hashes include has arrived, on whichever token', () => {
    const { wire, book, receive } = proven();
    wire.trade(T0 + 1, { price: 3_300, size: SHARE });
    for (const frame of wire.action(T0 + 1, [{ side: 'BUY', price: 4_000, size: SHARE }])) receive(frame);
    const [asTraded, asMirrored] = [new UnprovenState(book), new UnprovenState(book)];
    expect(asTraded.isRight(book)).toBe(false);
    asTraded.noteTrade(3_300);
    asMirrored.noteTrade(6_700);
    expect([asTraded.isRight(book), asMirrored.isRight(book)]).toEqual([true, true]);
  });

  it('is wrong while one of its tokens does not verify', () => {
    const { wire, book, receive } = proven();
    const [frame = ''] = wire.action(T0 + 1, [{ side: 'BUY', price: 4_000, size: SHARE }]);
    // The change of NO has another price than the venue's book.
    receive(frame.replace('"price":"0.6"', '"price":"0.61"'));
    expect(book.yes.verify(book.context, book.context.lastTradePrice)).toBe(true);
    expect(new UnprovenState(book).isRight(book)).toBe(false);
  });
});
