import type { Metrics } from '../runtime/metrics.ts';
import type { GapCause, RowTimes } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { FinishedAction } from '../venues/polymarket/book/marketBook.ts';
import type { Gaps } from './gaps.ts';
import type { RecordedMarket, Unproven } from './recordedMarket.ts';

export const CLOB_FEED = 'polymarket.clob';
/**
 * A book that no hash vouches for gets this long to be proven by what is still under way: a trade's message can come
 * 0.6 s after the change it caused (seen 2026-10). Then it is a gap.
 */
export const MISMATCH_GRACE_MS = 1000;

/**
 * Decides what a finished action means for the trust in a market: whether its state may be called trusted, whether
 * it ends a gap, and when a state that no hash vouches for has become a gap.
 */
export class BookTrust {
  readonly #gaps: Gaps;
  readonly #unproven = new Set<RecordedMarket>();
  readonly #dismissed;
  /** Rows are being dropped: no book, however good, is stored. */
  isStoreDown = false;
  readonly #isLate;

  /** @param options.isLate Whether a feed that the market depends on is late. */
  constructor(options: { gaps: Gaps; metrics: Metrics; isLate?: (market: Market) => boolean }) {
    this.#gaps = options.gaps;
    this.#isLate = options.isLate ?? (() => false);
    this.#dismissed = options.metrics.counter(
      'underround_mismatches_dismissed_total',
      'Unproven books that what came late proved right all along',
    );
  }

  /** Markets whose book is shown unproven, without a gap so far. */
  get unproven(): ReadonlySet<RecordedMarket> {
    return this.#unproven;
  }

  /**
   * @param asked The state was made by a book we asked for, not by what the venue sent.
   * @returns Whether the state may be called trusted: it is proven, and no gap stands.
   */
  finished(recorded: RecordedMarket, action: FinishedAction, asked: boolean): boolean {
    const { marketId } = recorded.market;
    if (!action.trusted) {
      if (action.end !== 'disconnected' && !this.#gaps.isOpen(marketId)) this.#note(recorded, action);
      return false;
    }
    if (this.#isLate(recorded.market)) return false;
    const gap = this.#gaps.of(marketId);
    // What could not be stored is not mended by a good book, but by a store that takes rows again.
    if (gap?.cause === 'store_down' && this.isStoreDown) return false;
    const provedBy = asked ? 'rest_book' : action.form === 'book' ? 'snapshot' : 'action';
    if (gap !== null) this.#gaps.close(marketId, action, gap.cause === 'store_down' ? 'store' : provedBy);
    else if (recorded.unproven !== null) this.#settle(recorded, recorded.unproven, action, provedBy);
    else if (action.isFirstBook && action.changed && !asked) this.#missed(recorded, action);
    recorded.unproven = null;
    this.#unproven.delete(recorded);
    return true;
  }

  /**
   * Opens the gaps of books that have been unproven for too long at `nowMs`; Infinity: of all, at the end of a recording,
   * each at the end of its second.
   */
  due(nowMs: number): void {
    for (const recorded of this.#unproven) {
      const { unproven } = recorded;
      if (unproven !== null && nowMs - unproven.sinceMs < MISMATCH_GRACE_MS) continue;
      const { cause, sinceMs } = unproven ?? { cause: 'book_mismatch', sinceMs: nowMs };
      const knownTimeMs = Number.isFinite(nowMs) ? nowMs : sinceMs + MISMATCH_GRACE_MS;
      if (unproven !== null) this.open(recorded, { cause, knownTimeMs });
      this.#unproven.delete(recorded);
    }
  }

  /**
   * Opens a gap after the last proven row, unless one is open. None before anything was received: nothing is lost yet.
   * @param gap.start An earlier row, where later ones are in doubt too.
   */
  open(
    recorded: RecordedMarket,
    gap: { cause: GapCause; knownTimeMs: number; start?: RowTimes | null; feed?: string },
  ): void {
    const { marketId } = recorded.market;
    const start = gap.start ?? recorded.gapStart;
    if (start === null) return;
    this.#gaps.open({ feed: CLOB_FEED, ...gap, marketId, start });
    this.#unproven.delete(recorded);
    recorded.unproven = null;
  }

  forget(recorded: RecordedMarket): void {
    this.#unproven.delete(recorded);
  }

  #note(recorded: RecordedMarket, { receivedTimeMs, form }: FinishedAction): void {
    if (recorded.unproven !== null) {
      recorded.unproven.wasLate ||= form === 'late';
      return;
    }
    const { yes, no, isOneSided, isLopsided } = recorded.book;
    const isCrossed = yes.crossed || no.crossed;
    const cause = isOneSided || isLopsided ? 'silent_market' : isCrossed ? 'crossed_book' : 'book_mismatch';
    recorded.unproven = {
      sinceMs: receivedTimeMs,
      cause,
      inputs: inputsOf(recorded),
      wasLate: false,
      isOneSided,
    };
    this.#unproven.add(recorded);
  }

  /**
   * A book sent on subscription differs from the proven one: the market was subscribed again before the answer to an
   * earlier subscription had arrived, and what the venue sent between the two subscriptions is lost.
   */
  #missed({ market, provenRow: start }: RecordedMarket, action: FinishedAction): void {
    if (start === null) return;
    const { receivedTimeMs: knownTimeMs } = action;
    const gap = {
      marketId: market.marketId,
      start,
      knownTimeMs,
      cause: 'disconnected',
      feed: CLOB_FEED,
    } as const;
    this.#gaps.passed(gap, action, 'snapshot');
  }

  /**
   * An unproven book was proven before it became a gap. It had been right all along where only an input of its hash
   * was missing; where the same inputs now verify, or a whole book differed from it, something had been lost.
   */
  #settle(recorded: RecordedMarket, unproven: Unproven, action: FinishedAction, by: string): void {
    const { form, changed } = action;
    const sameInputs = unproven.inputs === inputsOf(recorded);
    // What one socket lost and the other still had is no loss.
    // Nor is a book that only came after its twin.
    const isHealed = unproven.wasLate || unproven.isOneSided || form === 'late';
    const wasWrong = !isHealed && (form === 'book' ? changed : sameInputs);
    if (!wasWrong) {
      this.#dismissed.inc();
      return;
    }
    const start = recorded.gapStart;
    if (start === null) return;
    const { marketId } = recorded.market;
    const { receivedTimeMs: knownTimeMs } = action;
    const gap = { marketId, start, knownTimeMs, cause: unproven.cause, feed: CLOB_FEED };
    this.#gaps.passed(gap, action, by);
  }
}

/** What the hash holds beside the levels. */
function inputsOf({ book }: RecordedMarket): string {
  return `${book.context.tickSize} ${book.context.lastTradePrice}`;
}
