/** Unusual but possible tapes, derived from random ones. */
import { type MarketTape, type TapeBooks, TapeLadders } from '../../src/core/session/tape.ts';

/** The same tape with prices of the underlying received later than the books that follow them in arrival order. */
export function withPricesAhead(tape: MarketTape, byMs: number): MarketTape {
  const { prices } = tape;
  return { ...tape, prices: prices && { ...prices, receivedMs: prices.receivedMs.map((ms) => ms + byMs) } };
}

/** The same tape with the last received price beside each quote, as the recorder writes it. */
export function withPricesBeside(tape: MarketTape): MarketTape {
  const { quotes, prices } = tape;
  const underlying = quotes.seq.map((seq) => {
    const at = prices?.seq.findLastIndex((priceSeq) => priceSeq < seq) ?? -1;
    return prices?.price[at] ?? Number.NaN;
  });
  return { ...tape, quotes: { ...quotes, underlying } };
}

/** The same tape with the YES books of another tape as its NO books: neither mirrors the other. */
export function withNoApart(tape: MarketTape, other: MarketTape): MarketTape {
  const { books, prices } = tape;
  if (books === null || other.books?.seq.length !== books.seq.length) throw new TypeError('as many books');
  // Leaves an arrival number for a quote after each book.
  const seq = books.seq.map((own) => 2 * own);
  const apart = { ...books, seq, noBids: other.books.yesBids, noAsks: other.books.yesAsks };
  return {
    ...{ ...tape, books: apart, quotes: quotesOf(apart) },
    prices: prices && { ...prices, seq: prices.seq.map((own) => 2 * own) },
  };
}

/** A quote after each book whose best prices or trust changed. */
function quotesOf(books: TapeBooks): MarketTape['quotes'] {
  const ladders = new TapeLadders(books);
  const rows: { readonly at: number; readonly best: readonly number[] }[] = [];
  for (let at = 0; at < books.seq.length; at++) {
    const best = (['yes', 'no'] as const).flatMap((token) =>
      (['bids', 'asks'] as const).map((side) => ladders.side(at, token, side).prices[0] ?? Number.NaN),
    );
    const row = [...best, books.trusted[at] as number];
    if (JSON.stringify(row) !== JSON.stringify(rows.at(-1)?.best)) rows.push({ at, best: row });
  }
  const column = (n: number) => Float64Array.from(rows, ({ best }) => best[n] as number);
  return {
    seq: Float64Array.from(rows, ({ at }) => (books.seq[at] as number) + 1),
    receivedMs: Float64Array.from(rows, ({ at }) => books.receivedMs[at] as number),
    trusted: Uint8Array.from(rows, ({ best }) => best[4] as number),
    ...{ yesBid: column(0), yesAsk: column(1), noBid: column(2), noAsk: column(3) },
    underlying: new Float64Array(rows.length).fill(Number.NaN),
  };
}
