import type { FinishedAction } from '../core/marketBook.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { GapCause } from '../schema/gap.ts';
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

  constructor(options: { gaps: Gaps; metrics: Metrics }) {
    this.#gaps = options.gaps;
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
    const gap = this.#gaps.of(marketId);
    // What could not be stored is not mended by a good book, but by a store that takes rows again.
    if (gap?.cause === 'store_down') return false;
    const repairedBy = asked ? 'rest_book' : action.form === 'book' ? 'snapshot' : 'action';
    if (gap !== null) this.#gaps.close(marketId, action.receivedTimeMs, repairedBy);
    else if (recorded.unproven !== null) this.#settle(recorded, recorded.unproven, action, repairedBy);
    recorded.unproven = null;
    this.#unproven.delete(recorded);
    recorded.provenTimeMs = action.receivedTimeMs;
    return true;
  }

  /** Opens the gaps of books that have been unproven for too long at `nowMs`. */
  due(nowMs: number): void {
    for (const recorded of this.#unproven) {
      const { unproven } = recorded;
      if (unproven !== null && nowMs - unproven.sinceMs < MISMATCH_GRACE_MS) continue;
      if (unproven !== null) this.open(recorded, { cause: unproven.cause, knownTimeMs: nowMs });
      this.#unproven.delete(recorded);
    }
  }

  /**
   * Opens a gap from the last good receipt on, unless one stands.
   * @param startTimeMs Where more is known than when the market was last heard of.
   */
  open(
    recorded: RecordedMarket,
    gap: { cause: GapCause; knownTimeMs: number; startTimeMs?: number; feed?: string },
  ): void {
    const { marketId } = recorded.market;
    const startTimeMs = gap.startTimeMs ?? recorded.lastGoodTimeMs;
    if (startTimeMs === null) return;
    this.#gaps.open({ feed: CLOB_FEED, ...gap, marketId, startTimeMs });
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
    const { yes, no } = recorded.book;
    const cause = yes.crossed || no.crossed ? 'crossed_book' : 'book_mismatch';
    recorded.unproven = { sinceMs: receivedTimeMs, cause, inputs: inputsOf(recorded), wasLate: false };
    this.#unproven.add(recorded);
  }

  /**
   * An unproven book was proven before it became a gap. It had been right all along where only an input of its hash
   * was missing; where the same inputs now verify, or a whole book differed from it, something had been lost.
   */
  #settle(recorded: RecordedMarket, unproven: Unproven, action: FinishedAction, by: string): void {
    const { form, changed } = action;
    const sameInputs = unproven.inputs === inputsOf(recorded);
    // What one socket lost and the other still had is no loss.
    const isHealed = unproven.wasLate || form === 'late';
    const wasWrong = !isHealed && (form === 'book' ? changed : sameInputs);
    if (!wasWrong) {
      this.#dismissed.inc();
      return;
    }
    const startTimeMs = recorded.provenTimeMs ?? unproven.sinceMs;
    const { marketId } = recorded.market;
    const { receivedTimeMs: knownTimeMs } = action;
    const gap = { marketId, startTimeMs, knownTimeMs, cause: unproven.cause, feed: CLOB_FEED };
    this.#gaps.passed(gap, knownTimeMs, by);
  }
}

/** What the hash holds beside the levels. */
function inputsOf({ book }: RecordedMarket): string {
  return `${book.context.tickSize} ${book.context.lastTradePrice}`;
}
