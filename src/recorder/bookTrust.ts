import type { Metrics } from '../runtime/metrics.ts';
import type { GapCause, RowTimes } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { FinishedAction } from '../venues/polymarket/book/bookAction.ts';
import { UnprovenStates } from '../venues/polymarket/book/unprovenStates.ts';
import type { GapTracker } from './gapTracker.ts';
import type { RecordedMarket, Unproven } from './recordedMarket.ts';

export const CLOB_FEED = 'polymarket.clob';
/**
 * How long an unproven book waits for messages in flight before it becomes a gap: a trade's message can arrive
 * 0.6 s after the change it caused (seen 2026-10).
 */
const MISMATCH_GRACE_MS = 1000;

/**
 * Decides what a finished action means for the trust in a market: whether its state is trusted, whether it ends a gap,
 * and when an unproven state becomes a gap.
 */
export class BookTrust {
  readonly #gaps: GapTracker;
  /** Markets whose book is published unproven, without a gap so far. */
  readonly #unproven = new Set<RecordedMarket>();
  readonly #dismissed;
  /** The store is dropping rows: even a good book is not stored. */
  isStoreDown = false;
  readonly #isLate;
  readonly #byHashOnly: boolean;

  /**
   * @param options.isLate Whether a feed that the market depends on is late.
   * @param options.byHashOnly Whether announced best prices prove nothing.
   */
  constructor(options: {
    gaps: GapTracker;
    metrics: Metrics;
    isLate?: (market: Market) => boolean;
    byHashOnly?: boolean | undefined;
  }) {
    this.#byHashOnly = options.byHashOnly ?? false;
    this.#gaps = options.gaps;
    this.#isLate = options.isLate ?? (() => false);
    this.#dismissed = options.metrics.counter(
      'underround_mismatches_dismissed_total',
      'Unproven books that what came late proved right all along',
    );
  }

  /**
   * @param asked The state comes from a book that we requested, not from the feed.
   * @returns Whether the state is trusted: it is proven and no gap is open.
   */
  finished(recorded: RecordedMarket, action: FinishedAction, asked: boolean): boolean {
    const { marketId } = recorded.market;
    // While no hash has verified, a trusted state is one that announced best prices vouch for.
    const isProven = action.trusted && (recorded.book.recipeProven || !this.#byHashOnly);
    if (!isProven) {
      if (action.end !== 'disconnected' && !this.#gaps.isOpen(marketId)) this.#note(recorded, action);
      return false;
    }
    if (this.#isLate(recorded.market)) return false;
    const gap = this.#gaps.of(marketId);
    // A good book does not repair lost rows: a gap of any cause ends only when the store accepts rows again.
    if (gap !== null && this.isStoreDown) return false;
    const provedBy = asked ? 'rest_book' : action.form === 'book' ? 'snapshot' : 'action';
    if (gap !== null) this.#gaps.close(marketId, action, gap.cause === 'store_down' ? 'store' : provedBy);
    else if (recorded.unproven !== null) this.#settle(recorded, recorded.unproven, action, provedBy);
    else if (action.form === 'overdue')
      this.#passed(recorded, action, { cause: 'book_mismatch', by: provedBy });
    else if (action.isFirstBook && action.changed && !asked) this.#missed(recorded, action);
    recorded.unproven = null;
    this.#unproven.delete(recorded);
    return true;
  }

  /**
   * Opens the gaps of books that have been unproven for too long at `nowMs`. Infinity, at the end of a recording, opens
   * all of them, each at the end of its grace period.
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
   * Opens a gap after the last proven row, unless one is open. Opens none before the first message: nothing is lost yet.
   * @param gap.start An earlier row, where later rows are doubtful too.
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
      recorded.unproven.wasOverdue ||= form === 'overdue';
      recorded.unproven.wasLate ||= form === 'late';
      recorded.unproven.states.add(recorded.book);
      return;
    }
    const { yes, no, isOneSided, isLopsided } = recorded.book;
    const isCrossed = yes.crossed || no.crossed;
    const cause = isOneSided || isLopsided ? 'silent_market' : isCrossed ? 'crossed_book' : 'book_mismatch';
    recorded.unproven = {
      sinceMs: receivedTimeMs,
      cause,
      inputs: inputsOf(recorded),
      states: new UnprovenStates(recorded.book),
      wasLate: form === 'late',
      wasOverdue: form === 'overdue',
      isOneSided,
    };
    this.#unproven.add(recorded);
  }

  /**
   * A book sent on subscription differs from the proven one. The market was subscribed again before the answer to an
   * earlier subscription arrived, and everything that the venue sent between the two subscriptions is lost.
   */
  #missed(recorded: RecordedMarket, action: FinishedAction): void {
    if (recorded.provenRow === null) return;
    this.#passed(recorded, action, { cause: 'disconnected', by: 'snapshot' });
  }

  /**
   * An unproven book was proven before it became a gap. It had been right all along if only an input of its hash
   * was missing, and that input proves it now. If the same inputs now verify, or a whole book differed from it, data had
   * been lost.
   */
  #settle(recorded: RecordedMarket, unproven: Unproven, action: FinishedAction, by: string): void {
    const { form, changed, isFirstBook } = action;
    const sameInputs = unproven.inputs === inputsOf(recorded);
    // A book that only arrived after its twin is no loss.
    // The whole book that follows a trade replaces levels whose late frames may be on their way.
    const isAhead = unproven.wasLate && by === 'snapshot' && !isFirstBook;
    const isHealed = unproven.isOneSided || isAhead;
    // Nor are frames that one socket lost and the other delivered, or the last ones of an action, that came late.
    const isCompleted = form === 'late' || form === 'rest';
    const isChanged = form === 'book' ? changed : sameInputs && !isCompleted;
    // A later change may have set the lost level again, so that the current state verifies.
    const wasLost = () => !unproven.states.areRight(recorded.book);
    const wasWrong = !isHealed && (isChanged || wasLost());
    const wasOverdue = unproven.wasOverdue || unproven.states.wasOverdue;
    if (wasWrong || wasOverdue) this.#passed(recorded, action, { cause: unproven.cause, by });
    else this.#dismissed.inc();
  }

  /** Records a gap that this proof has ended. */
  #passed(
    { market: { marketId }, gapStart: start }: RecordedMarket,
    action: FinishedAction,
    { cause, by }: { cause: GapCause; by: string },
  ): void {
    if (start === null) return;
    const { receivedTimeMs: knownTimeMs } = action;
    this.#gaps.passed({ marketId, start, knownTimeMs, cause, feed: CLOB_FEED }, action, by);
  }
}

/** The inputs of the hash other than the levels. */
function inputsOf({ book }: RecordedMarket): string {
  return `${book.context.tickSize} ${book.context.lastTradePrice}`;
}
