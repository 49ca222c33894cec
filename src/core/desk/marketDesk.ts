/**
 * The venue's side of our orders in one market. Everything that trades uses it: sessions of JSON strategies, and runs of
 * strategies of one's own.
 * An order meets the book in force when latency and hold have passed. Only a later message of the market proves that
 * this book was current. So the order is matched when that message arrives, against the book of its due time: a feed
 * that was dead by then fills nothing.
 */
import type { ReplayParams } from '../../schema/strategy.ts';
import { Consumption } from '../fills/consumption.ts';
import { type Best, type BestPrices, dueTime, fillTaker, midSide, whyNothing } from '../fills/engine.ts';
import type { Fill } from '../fills/walk.ts';
import type { MarketRules } from '../marketRules.ts';
import type { Ladders } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import { delayOf } from './latency.ts';
import type { LatencyModel, OrderTerms, Refusal } from './order.ts';
import type { DeskListener, DeskOrder, MissReason } from './report.ts';

interface DeskOptions {
  readonly market: { readonly marketId: string; readonly endTimeMs: number };
  readonly rules: MarketRules;
  /** Null: no book was recorded; then only the fill mode `mid` works. */
  readonly ladders: Ladders | null;
  readonly fillMode: ReplayParams['fill_mode'];
  readonly latency: LatencyModel;
  readonly listener: DeskListener;
}

const NO_PRICES: BestPrices = {
  ...{ yesBid: Number.NaN, yesAsk: Number.NaN },
  ...{ noBid: Number.NaN, noAsk: Number.NaN },
};

/**
 * Call `message` before the state of a message is shown with `show` and `quote`. No member holds a closure: see
 * `MarketSession`.
 */
export class MarketDesk {
  readonly #options: DeskOptions;
  readonly #consumption = new Consumption();
  /** Orders on their way to the venue, or held by it; by due time. */
  #inFlight: DeskOrder[] = [];
  #book = -1;
  /** The newest proven book, which `#consumption` has observed. */
  #observed = -1;
  #trusted = false;
  #best = NO_PRICES;
  /** Due time of the first order in flight; infinite without one. */
  nextDueMs = Number.POSITIVE_INFINITY;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  get hasOrders(): boolean {
    return this.#inFlight.length > 0;
  }

  /** Whether any displayed size was consumed by our fills. While it is, the desk must be shown every proven book. */
  get hasConsumed(): boolean {
    return !this.#consumption.isEmpty;
  }

  /** Number of the book in force, for the ladders; -1 before the first. */
  get book(): number {
    return this.#book;
  }

  /** Whether the book in force is proven. */
  get trusted(): boolean {
    return this.#trusted;
  }

  /** @returns Due time of the order; or why it was refused at once: then nothing more is reported of it. */
  place(orderId: number, terms: OrderTerms, placedMs: number): number | Refusal {
    const { latency, rules, market } = this.#options;
    const takerHoldMs = rules.takerHoldMs(placedMs);
    const dueMs = dueTime(placedMs, { latencyMs: delayOf(latency), takerHoldMs });
    if (dueMs >= market.endTimeMs) return 'window_ended';
    this.#send({ orderId, terms, placedMs, dueMs });
    return dueMs;
  }

  /** A message of the market arrived. It proves the book in force until then, so that due orders are matched. */
  message(timeMs: number): void {
    while (this.nextDueMs < timeMs) this.#match(this.#takeNext(), timeMs);
  }

  /** The best prices in force, needed while an order is in flight. */
  quote(best: BestPrices): void {
    this.#best = best;
  }

  /** Shows the book in force, by its number in the ladders. */
  show(book: number, trusted: boolean): void {
    this.#book = book;
    this.#trusted = trusted;
    // A level missing from an unproven book may still exist.
    if (!trusted || book === this.#observed) return;
    this.#observed = book;
    const { ladders } = this.#options;
    if (!this.#consumption.isEmpty && ladders !== null) this.#consumption.observe(ladders, book);
  }

  /** A gap reaches back to its last good receive time: fills since then used a book that did not exist. */
  gapKnown(sinceMs: number, knownMs: number): void {
    // The feed was still good at `sinceMs`, so an order due by then met the known book.
    while (this.nextDueMs <= sinceMs) this.#match(this.#takeNext(), knownMs);
    this.#missAll(knownMs, 'untrusted');
    this.#consumption.reverseSince(sinceMs);
    this.#options.listener.onReport({ kind: 'taken_back', knownMs, sinceMs });
  }

  /** No message can arrive any more: no order in flight can be confirmed. */
  end(timeMs: number): void {
    this.#missAll(timeMs, 'unconfirmed');
  }

  #send(order: DeskOrder): void {
    const orders = this.#inFlight;
    let at = orders.length;
    while (at > 0 && (orders[at - 1] as DeskOrder).dueMs > order.dueMs) at--;
    orders.splice(at, 0, order);
    this.nextDueMs = (orders[0] as DeskOrder).dueMs;
  }

  #takeNext(): DeskOrder {
    const order = this.#inFlight.shift();
    if (order === undefined) throw new RangeError('no order in flight');
    this.nextDueMs = this.#inFlight[0]?.dueMs ?? Number.POSITIVE_INFINITY;
    return order;
  }

  #missAll(knownMs: number, reason: MissReason): void {
    while (this.#inFlight.length > 0) this.#miss(this.#takeNext(), knownMs, reason);
  }

  #match(order: DeskOrder, knownMs: number): void {
    const best = this.#bestOf(order.terms.token);
    if (!this.#trusted || best.bid > best.ask) {
      this.#miss(order, knownMs, 'untrusted');
      return;
    }
    const fill = this.#fill(order, best);
    if (typeof fill === 'string') this.#miss(order, knownMs, fill);
    else this.#options.listener.onReport({ kind: 'fill', order, knownMs, timeMs: order.dueMs, fill });
  }

  #miss(order: DeskOrder, knownMs: number, reason: MissReason): void {
    this.#options.listener.onReport({ kind: 'miss', order, knownMs, reason });
  }

  /** @returns The fill, or why there is none. */
  #fill({ terms, dueMs }: DeskOrder, best: Best): Fill | MissReason {
    const { rules, ladders, market, fillMode } = this.#options;
    // The rule in force when the order trades, not when it is replayed.
    const fee = rules.fee(dueMs);
    const { token, action } = terms;
    if (fillMode === 'mid') {
      const mid = midSide(action, best);
      return fillTaker(terms, mid, fee) ?? whyNothing(mid);
    }
    if (this.#book < 0) return 'no_depth';
    if (ladders === null) throw new RangeError(`no books of ${market.marketId}`);
    const side = action === 'buy' ? 'asks' : 'bids';
    const shown = ladders.side(this.#book, token, side);
    const remaining = this.#consumption.remaining(token, side, shown);
    const fill = fillTaker(terms, remaining, fee);
    if (fill === null) return whyNothing(remaining);
    this.#consumption.consume({ token, side, view: shown, filled: fill.levels, timeMs: dueMs });
    return fill;
  }

  #bestOf(token: Token): Best {
    const { yesBid, yesAsk, noBid, noAsk } = this.#best;
    return token === 'yes' ? { bid: yesBid, ask: yesAsk } : { bid: noBid, ask: noAsk };
  }
}
