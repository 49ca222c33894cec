import type { Subscriber } from '../bus/bus.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { BookRecord, BookView, QuoteRecord } from '../schema/records.ts';
import { BookCopy } from './bookCopy.ts';
import type { LiveRecording } from './liveRecording.ts';

/** Most gaps to keep per market. A flapping feed opens one every few seconds; by then the oldest ones are stored. */
export const KEPT_GAPS_MAX = 1_000;

/** Newest books whose times are kept per market: some ten seconds of a busy one. */
export const KEPT_TIMES_MAX = 512;

/** The newest book of a market, after its last finished action. A live view: read it before other code runs. */
export interface NewestBook {
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  /** The state was proven when recorded and still is; open gaps are not considered. */
  readonly trusted: boolean;
  readonly underlyingPrice: number | null;
  readonly yes: BookView;
  readonly no: BookView;
}

/** The markets the recorder follows, newer than the store has them; the store is asked for all others. */
export interface FollowedMarkets {
  markets(): Iterable<Market>;
  /** Null: not followed. */
  market(marketId: string): Market | null;
  /** Wall time up to which all records are known here: infinite unless it is not receiving. */
  readonly knownToMs: number;
  /** Null: ask the store. A view: read it before anything else runs. */
  book(marketId: string): NewestBook | null;
  /**
   * Whether a store that is `lagMs` behind may lack a book of the market's time `atMs` or before. Each book counts from
   * when it was published: its own times are of other clocks, or of a clock that was set since.
   */
  mayLackBooks(marketId: string, at: { atMs: number; lagMs: number }): boolean;
  /** Gaps that the store may not have, or not in their newest version; oldest first. */
  gaps(marketId: string): readonly Gap[];
}

/**
 * The recorder's newest data of followed markets, which the store may not have yet: records, newest books, gaps.
 * A ladder is half applied while frames of an action are still arriving, so the last finished state is a copy.
 */
export class MarketMemory implements FollowedMarkets {
  readonly #recorder: Omit<LiveRecording, 'recent'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #books = new Map<string, NewestBookCopy>();
  readonly #times = new Map<string, PublishedTimes>();
  /** By market, then by gap id, oldest first; the newest version of each gap. */
  readonly #gaps = new Map<string, Map<string, Gap>>();

  /** Construct it before the first frame, or it misses gaps that end early. */
  constructor({
    recorder,
    bus,
    clock,
  }: {
    recorder: Omit<LiveRecording, 'recent'>;
    bus: Subscriber;
    clock: Pick<Clock, 'monotonic'>;
  }) {
    this.#recorder = recorder;
    this.#clock = clock;
    bus.subscribe('book', (record) => this.#onBook(record));
    bus.subscribe('lateBook', (record) => this.#noteTime(record));
    bus.subscribe('quote', (record) => this.#onQuote(record));
    bus.subscribe('gap', (gap) => this.#onGap(gap));
    bus.subscribe('market', (market) => this.#onMarket(market));
  }

  get knownToMs(): number {
    return this.#recorder.knownToMs;
  }

  /** The newest records of all followed markets. */
  markets(): Iterable<Market> {
    return this.#recorder.markets();
  }

  /** Null when the recorder does not follow the market. */
  market(marketId: string): Market | null {
    return this.#recorder.market(marketId);
  }

  /** Null when the market is not followed or has no finished state yet. */
  book(marketId: string): NewestBook | null {
    const recorded = this.#recorder.recorded(marketId);
    if (recorded === null) return null;
    const kept = this.#books.get(marketId);
    if (kept !== undefined) {
      kept.isReceiving = this.#recorder.isReceiving;
      return kept;
    }
    // No change since an earlier run stored it.
    const live = recorded.liveBook();
    return live === null || live === 'unfinished' ? null : { ...live, receivedTimeMs: live.quotedTimeMs };
  }

  mayLackBooks(marketId: string, { atMs, lagMs }: { atMs: number; lagMs: number }): boolean {
    const times = this.#times.get(marketId);
    if (times === undefined || lagMs <= 0) return false;
    return times.isAnySince(this.#clock.monotonic() - lagMs, atMs);
  }

  /** The gaps of a followed market that were detected or closed in this run, and the open one; oldest first. */
  gaps(marketId: string): readonly Gap[] {
    if (this.#recorder.recorded(marketId) === null) return [];
    const known = this.#gaps.get(marketId);
    const open = this.#recorder.gaps.of(marketId);
    const all = [...(known?.values() ?? [])];
    if (open !== null && known?.has(open.gapId) !== true) all.push(open);
    return all.sort((a, b) => a.startTimeMs - b.startTimeMs);
  }

  #onBook(record: BookRecord): void {
    const kept = this.#books.get(record.marketId) ?? new NewestBookCopy();
    this.#books.set(record.marketId, kept);
    kept.copy(record);
    this.#noteTime(record);
  }

  #noteTime({ marketId, eventTimeMs }: BookRecord): void {
    const times = this.#times.get(marketId) ?? new PublishedTimes();
    this.#times.set(marketId, times);
    times.add(eventTimeMs, this.#clock.monotonic());
  }

  #onQuote({ marketId, trusted }: QuoteRecord): void {
    const kept = this.#books.get(marketId);
    if (kept !== undefined) kept.isProven = trusted;
  }

  #onGap(gap: Gap): void {
    const { marketId, gapId } = gap;
    const known = this.#gaps.get(marketId) ?? new Map<string, Gap>();
    this.#gaps.set(marketId, known);
    known.set(gapId, gap);
    if (known.size <= KEPT_GAPS_MAX) return;
    const [oldest] = known.keys();
    if (oldest !== undefined) known.delete(oldest);
  }

  /** New markets arrive every few minutes; at that time, forget the markets that the recorder no longer follows. */
  #onMarket({ marketId }: Market): void {
    if (this.#books.has(marketId)) return;
    for (const known of [this.#books, this.#times, this.#gaps]) {
      for (const id of known.keys()) if (this.#recorder.recorded(id) === null) known.delete(id);
    }
  }
}

class NewestBookCopy implements NewestBook {
  eventTimeMs = 0;
  receivedTimeMs = 0;
  underlyingPrice: number | null = null;
  readonly yes = new BookCopy();
  readonly no = new BookCopy();
  /** As of the last quote: a later failed hash can make an unchanged book untrusted. */
  isProven = false;
  isReceiving = true;
  #wasTrusted = false;

  get trusted(): boolean {
    return this.#wasTrusted && this.isProven && this.isReceiving;
  }

  copy({ eventTimeMs, receivedTimeMs, underlyingPrice, trusted, yes, no }: BookRecord): void {
    this.eventTimeMs = eventTimeMs;
    this.receivedTimeMs = receivedTimeMs;
    this.underlyingPrice = underlyingPrice;
    this.isProven = this.#wasTrusted = trusted;
    this.yes.copyFrom(yes);
    this.no.copyFrom(no);
  }
}

/** The venue's times of a market's newest books, and when each was published, in that order. */
class PublishedTimes {
  readonly #eventTimesMs: number[] = [];
  readonly #publishedAt: number[] = [];
  /** Where the next pair is kept, in place of the oldest one. */
  #next = 0;

  add(eventTimeMs: number, publishedAt: number): void {
    this.#eventTimesMs[this.#next] = eventTimeMs;
    this.#publishedAt[this.#next] = publishedAt;
    this.#next = (this.#next + 1) % KEPT_TIMES_MAX;
  }

  /** Whether a book of `atMs` or before was, or may have been, published at the monotonic time `since` or later. */
  isAnySince(since: number, atMs: number): boolean {
    const kept = this.#eventTimesMs.length;
    for (let back = 1; back <= kept; back++) {
      const index = (this.#next - back + kept) % kept;
      if ((this.#publishedAt[index] as number) < since) return false;
      if ((this.#eventTimesMs[index] as number) <= atMs) return true;
    }
    return kept === KEPT_TIMES_MAX;
  }
}
