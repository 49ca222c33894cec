import type { BookRecord, BookView, QuoteRecord, SideView } from '../schema/records.ts';
import type { PaperMarket } from './paperMarket.ts';
import type { PricePoint } from './priceHistory.ts';

/** Some minutes of the busiest market; where a store takes longer to answer, what came is read from it too. */
const RECORDS_MAX = 50_000;

type Buffered =
  | { readonly kind: 'book'; readonly record: BookRecord }
  | { readonly kind: 'quote'; readonly record: QuoteRecord }
  | { readonly kind: 'price'; readonly point: PricePoint }
  | { readonly kind: 'gap'; readonly gap: { startMs: number; knownMs: number; endMs: number | null } };

/** What came of a market while its past was being read. */
export class RecordBuffer {
  #records: Buffered[] = [];
  /** Arrival number of the first that came, kept or not; null: none. */
  firstSeq: number | null = null;
  /** Something was not kept: what is here is of no use. */
  overflowed = false;

  book(record: BookRecord): void {
    const { yes, no } = record;
    this.firstSeq ??= record.seq;
    this.#push({ kind: 'book', record: { ...record, yes: copyBook(yes), no: copyBook(no) } });
  }

  quote(record: QuoteRecord): void {
    this.firstSeq ??= record.seq;
    this.#push({ kind: 'quote', record });
  }

  price(point: PricePoint): void {
    this.firstSeq ??= point.seq;
    this.#push({ kind: 'price', point });
  }

  gap(gap: { startMs: number; knownMs: number; endMs: number | null }): void {
    this.#push({ kind: 'gap', gap });
  }

  drain(market: PaperMarket): void {
    for (const entry of this.#records) {
      if (entry.kind === 'book') market.book(entry.record);
      else if (entry.kind === 'quote') market.quote(entry.record);
      else if (entry.kind === 'price') market.price(entry.point);
      else applyGap(market, entry.gap);
    }
    this.#records = [];
  }

  #push(entry: Buffered): void {
    if (this.#records.length >= RECORDS_MAX) this.overflowed = true;
    if (!this.overflowed) this.#records.push(entry);
  }
}

/** A gap as the bus tells it: known now, or ended; one may be both, where it was over before it was found. */
export function applyGap(
  market: PaperMarket,
  { startMs, knownMs, endMs }: { startMs: number; knownMs: number; endMs: number | null },
): void {
  market.gapKnown({ startMs, knownMs });
  if (endMs !== null) market.gapEnded({ startMs, endMs });
}

function copyBook({ bids, asks }: BookView): BookView {
  return { bids: copySide(bids), asks: copySide(asks) };
}

function copySide({ count, prices, sizes }: SideView): SideView {
  return { count, prices: prices.slice(0, count), sizes: sizes.slice(0, count) };
}
