import { snapshotOf } from '../../recorder/bookCopy.ts';
import type { BookRecord, QuoteRecord, TradeRecord } from '../../schema/records.ts';
import type { PaperMarket } from './paperMarket.ts';
import type { PricePoint } from './priceHistory.ts';

/** Some minutes of the busiest market. If the store takes longer to answer, the newer records are read from it too. */
const RECORDS_MAX = 50_000;

type Buffered =
  | { readonly kind: 'book'; readonly record: BookRecord }
  | { readonly kind: 'quote'; readonly record: QuoteRecord }
  | { readonly kind: 'trade'; readonly record: TradeRecord }
  | { readonly kind: 'price'; readonly point: PricePoint }
  | { readonly kind: 'gap'; readonly gap: PublishedGap };

/** A gap of a market as published on the bus. */
interface PublishedGap {
  /** See `gapKey`. */
  readonly id: number;
  readonly startMs: number;
  readonly knownMs: number;
  readonly endMs: number | null;
}

/** The records of a market published while its past is being read. */
export class RecordBuffer {
  readonly #recordsMax: number;
  #records: Buffered[] = [];
  /** Arrival number of the first record, kept or not; null: none. */
  firstSeq: number | null = null;
  /** A record was dropped: the buffer is unusable. */
  overflowed = false;

  /** @param recordsMax 0: keeps nothing, for a market whose reading has not begun. */
  constructor(recordsMax = RECORDS_MAX) {
    this.#recordsMax = recordsMax;
  }

  book(record: BookRecord): void {
    this.firstSeq ??= record.seq;
    if (this.#isFull) return;
    const { yes, no } = record;
    this.#records.push({ kind: 'book', record: { ...record, yes: snapshotOf(yes), no: snapshotOf(no) } });
  }

  quote(record: QuoteRecord): void {
    this.firstSeq ??= record.seq;
    if (!this.#isFull) this.#records.push({ kind: 'quote', record });
  }

  trade(record: TradeRecord): void {
    this.firstSeq ??= record.seq;
    if (!this.#isFull) this.#records.push({ kind: 'trade', record });
  }

  price(point: PricePoint): void {
    this.firstSeq ??= point.seq;
    if (!this.#isFull) this.#records.push({ kind: 'price', point });
  }

  gap(gap: PublishedGap): void {
    if (!this.#isFull) this.#records.push({ kind: 'gap', gap });
  }

  drain(market: PaperMarket): void {
    for (const entry of this.#records) {
      if (entry.kind === 'book') market.book(entry.record);
      else if (entry.kind === 'quote') market.quote(entry.record);
      else if (entry.kind === 'trade') market.trade(entry.record);
      else if (entry.kind === 'price') market.price(entry.point);
      else applyGap(market, entry.gap);
    }
    this.#records = [];
  }

  get #isFull(): boolean {
    if (this.#records.length >= this.#recordsMax) this.overflowed = true;
    return this.overflowed;
  }
}

/** Applies a gap as published on the bus: detected, ended, or both if it was over before it was detected. */
export function applyGap(market: PaperMarket, { id, startMs, knownMs, endMs }: PublishedGap): void {
  market.gapDetected({ id, startMs, knownMs });
  if (endMs !== null) market.gapEnded({ id, endMs });
}
