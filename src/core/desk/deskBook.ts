import type { BookSide, SideView } from '../../schema/records.ts';
import type { ReplayParams } from '../../schema/strategy.ts';
import { Consumption } from '../fills/consumption.ts';
import { type Best, type BestPrices, fillTaker, midSide, whyNothing } from '../fills/engine.ts';
import { displayed, type Fill } from '../fills/walk.ts';
import type { MarketRules } from '../marketRules.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Ladders } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { TickRule } from '../venueRulesTable.ts';
import type { LimitOrder } from './limitOrder.ts';
import type { OrderTerms } from './order.ts';
import type { MissReason } from './report.ts';

interface DeskBookOptions {
  readonly market: { readonly marketId: string };
  readonly rules: MarketRules;
  /** Null: no book was recorded; then only the fill mode `mid` works. */
  readonly ladders: Ladders | null;
  readonly fillMode: ReplayParams['fill_mode'];
}

/** The book in force as our orders find it: as recorded, without the sizes that our fills have consumed. */
export class DeskBook {
  readonly #options: DeskBookOptions;
  readonly #consumption = new Consumption();
  /** The newest proven book, which `#consumption` has observed. */
  #observed = -1;
  #yesBid = Number.NaN;
  #yesAsk = Number.NaN;
  #noBid = Number.NaN;
  #noAsk = Number.NaN;
  /** Number of the book in force; -1 before the first. */
  book = -1;
  trusted = false;

  constructor(options: DeskBookOptions) {
    this.#options = options;
  }

  /** Whether any displayed size is consumed. */
  get hasConsumed(): boolean {
    return !this.#consumption.isEmpty;
  }

  /** The best prices in force. */
  quote({ yesBid, yesAsk, noBid, noAsk }: BestPrices): void {
    // Copied, so that V8 need not allocate the caller's object.
    this.#yesBid = yesBid;
    this.#yesAsk = yesAsk;
    this.#noBid = noBid;
    this.#noAsk = noAsk;
  }

  /** @returns Whether resting orders must be shown this state: the book is proven, and it or its proof is new. */
  show(book: number, trusted: boolean): boolean {
    const wasTrusted = this.trusted;
    this.book = book;
    this.trusted = trusted;
    // A level missing from an unproven book may still exist.
    if (!trusted) return false;
    if (book === this.#observed) return !wasTrusted;
    this.#observed = book;
    const { ladders } = this.#options;
    if (!this.#consumption.isEmpty && ladders !== null) this.#consumption.observe(ladders, book);
    return ladders !== null;
  }

  reverseSince(timeMs: number): void {
    this.#consumption.reverseSince(timeMs);
  }

  /** Whether the book in force is proven and not crossed. */
  isUsable(token: Token): boolean {
    const { bid, ask } = this.#bestOf(token);
    return this.trusted && !(bid > ask);
  }

  /** Tick size of a token's prices by the book in force. @param timeMs When an order is placed. */
  tickSize(token: Token, timeMs: number): number {
    const rule = this.#options.rules.tick(timeMs);
    if (this.#options.ladders === null || this.book < 0) return tickSizeOf(rule, []);
    return tickSizeOf(rule, [this.#side(token, 'bids'), this.#side(token, 'asks')]);
  }

  /** Whether any of an order would trade at once. */
  wouldTrade({ token, action, limitPrice }: OrderTerms): boolean {
    if (this.#options.ladders === null || this.book < 0) return false;
    const remaining = this.#remaining(token, action === 'buy' ? 'asks' : 'bids');
    for (let at = 0; at < remaining.count; at++) {
      const price = remaining.prices[at] as number;
      if (action === 'buy' ? price > limitPrice : price < limitPrice) return false;
      if (displayed(remaining, at) > 0) return true;
    }
    return false;
  }

  /**
   * Fills an order that takes, and consumes the sizes.
   * @param timeMs Time of the match. @param size The order's unfilled size.
   * @returns The fill, or why there is none.
   */
  take(terms: OrderTerms, timeMs: number, size: number | null): Fill | MissReason {
    const { rules, fillMode } = this.#options;
    // The rule in force when the order trades, not when it is replayed.
    const fee = rules.fee(timeMs);
    const { token, action, limitPrice, budget, timeInForce } = terms;
    const order = { action, limitPrice, size, budget };
    if (fillMode === 'mid') {
      const mid = midSide(action, this.#bestOf(token));
      return fillTaker(order, mid, fee) ?? whyNothing(mid);
    }
    if (this.book < 0) return 'no_depth';
    const side = action === 'buy' ? 'asks' : 'bids';
    const remaining = this.#remaining(token, side);
    const fill = fillTaker(order, remaining, fee);
    if (fill === null) return whyNothing(remaining);
    if (timeInForce === 'fok' && !isComplete(terms, fill)) return 'no_depth';
    const view = this.#side(token, side);
    this.#consumption.consume({ token, side, view, filled: fill.levels, timeMs });
    return fill;
  }

  /** Size displayed at the price of an order that may rest; null: the level is beyond the displayed ones. */
  displayedAt(limit: LimitOrder): number | null {
    return limit.displayedIn(this.#side(limit.order.terms.token, limit.side));
  }

  /**
   * Shows the book to a resting order. Our order is not in the recorded book. Size displayed on the other side at our
   * price or better would have traded with it, so it fills us, at our price, and is consumed. A locked or crossed book
   * shows no such size.
   * @returns Units of the order that the book fills.
   */
  crossedBy(limit: LimitOrder, timeMs: number): number {
    const { token, action, limitPrice } = limit.order.terms;
    const otherSide = limit.side === 'bids' ? 'asks' : 'bids';
    const [own, other] = [this.#side(token, limit.side), this.#side(token, otherSide)];
    if (limit.queue === null || isLocked(own, other, limit.side)) return 0;
    limit.queue.displayed(limit.displayedIn(own), timeMs);
    const remaining = this.#remaining(token, otherSide);
    const filled: { price: number; size: number }[] = [];
    let size = 0;
    for (let at = 0; at < remaining.count && size < limit.left; at++) {
      const price = remaining.prices[at] as number;
      if (action === 'buy' ? price > limitPrice : price < limitPrice) break;
      const taken = Math.min(limit.left - size, displayed(remaining, at));
      if (taken > 0) filled.push({ price, size: taken });
      size += taken;
    }
    if (size > 0) this.#consumption.consume({ token, side: otherSide, view: other, filled, timeMs });
    return size;
  }

  #remaining(token: Token, side: BookSide): SideView {
    return this.#consumption.remaining(token, side, this.#side(token, side));
  }

  #side(token: Token, side: BookSide): SideView {
    const { ladders, market } = this.#options;
    if (ladders === null) throw new RangeError(`no books of ${market.marketId}`);
    return ladders.side(this.book, token, side);
  }

  #bestOf(token: Token): Best {
    return token === 'yes'
      ? { bid: this.#yesBid, ask: this.#yesAsk }
      : { bid: this.#noBid, ask: this.#noAsk };
  }
}

function isLocked(own: SideView, other: SideView, side: BookSide): boolean {
  if (own.count === 0 || other.count === 0) return false;
  const [ownBest, otherBest] = [own.prices[0] as number, other.prices[0] as number];
  return side === 'bids' ? ownBest >= otherBest : ownBest <= otherBest;
}

/** Whether nothing more of an order could have filled with more depth. */
function isComplete({ size, budget }: OrderTerms, fill: Fill): boolean {
  if (size !== null) return fill.size === size;
  const last = fill.levels.at(-1);
  if (budget === null || last === undefined) return false;
  return Math.floor(((budget - fill.principal) * TICKS_PER_USDC) / last.price) === 0;
}

/**
 * The tick size that a book proves, in ticks of 1/10000 USDC: the finer one if a displayed price needs it, or if the
 * best price is in the range where the venue has switched to it. A book that proves neither has the coarse one.
 */
function tickSizeOf(rule: TickRule, sides: readonly SideView[]): number {
  const { coarse, fine, fineBelow, fineAbove } = rule;
  if (fine === null) return coarse;
  for (const { count, prices } of sides) {
    const best = prices[0] as number;
    if (count > 0 && (best < fineBelow || best > fineAbove)) return fine;
    for (let at = 0; at < count; at++) if ((prices[at] as number) % coarse !== 0) return fine;
  }
  return coarse;
}
