import type { BookRecord, BookView, QuoteRecord, SideView } from '../schema/records.ts';
import type { PaperMarket } from './paperMarket.ts';
import type { PricePoint } from './priceHistory.ts';
import type { PlayedTo } from './tapePlayer.ts';

/** Some minutes of the busiest market; a store that takes longer to answer is asked again. */
const RECORDS_MAX = 50_000;

type Buffered =
  | { readonly kind: 'book'; readonly record: BookRecord }
  | { readonly kind: 'quote'; readonly record: QuoteRecord }
  | { readonly kind: 'price'; readonly point: PricePoint }
  | { readonly kind: 'gap'; readonly gap: { startMs: number; knownMs: number; endMs: number | null } };

/** What came of a market while its past was being read. */
export class RecordBuffer {
  #records: Buffered[] = [];
  /** Something was not kept: what is here is of no use. */
  overflowed = false;

  book(record: BookRecord): void {
    const { yes, no } = record;
    this.#push({ kind: 'book', record: { ...record, yes: copyBook(yes), no: copyBook(no) } });
  }

  quote(record: QuoteRecord): void {
    this.#push({ kind: 'quote', record });
  }

  price(point: PricePoint): void {
    this.#push({ kind: 'price', point });
  }

  gap(gap: { startMs: number; knownMs: number; endMs: number | null }): void {
    this.#push({ kind: 'gap', gap });
  }

  /** Hands over what the tape did not have yet. */
  drain(market: PaperMarket, played: PlayedTo): void {
    for (const entry of this.#records) {
      if (entry.kind === 'book' && entry.record.seq > played.seq) market.book(entry.record);
      if (entry.kind === 'quote' && entry.record.seq > played.seq) market.quote(entry.record);
      if (entry.kind === 'price' && entry.point.seq > played.priceSeq) market.price(entry.point);
      if (entry.kind === 'gap') applyGap(market, entry.gap);
    }
    this.#records = [];
  }

  #push(entry: Buffered): void {
    if (this.#records.length >= RECORDS_MAX) this.overflowed = true;
    if (!this.overflowed) this.#records.push(entry);
  }
}

/** A gap as the bus tells it: known now, or ended. */
export function applyGap(
  market: PaperMarket,
  { startMs, knownMs, endMs }: { startMs: number; knownMs: number; endMs: number | null },
): void {
  if (endMs === null) market.gapKnown({ startMs, knownMs });
  else market.gapEnded({ startMs, endMs });
}

function copyBook({ bids, asks }: BookView): BookView {
  return { bids: copySide(bids), asks: copySide(asks) };
}

function copySide({ count, prices, sizes }: SideView): SideView {
  return { count, prices: prices.slice(0, count), sizes: sizes.slice(0, count) };
}
