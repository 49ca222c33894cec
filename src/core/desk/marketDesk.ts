/**
 * The venue's side of our orders in one market. Everything that trades uses it: sessions of JSON strategies, and runs of
 * strategies of one's own.
 * An order meets the book in force when latency and hold have passed. Only a later message of the market proves that
 * this book was current. So the order is matched when that message arrives, against the book of its due time: a feed
 * that was dead by then fills nothing.
 * An order that may rest meets the book after the latency alone. If any of it would trade at once, the venue holds it
 * like a taker's order and then matches it. Its unfilled part rests behind all displayed size at its price.
 */
import type { QueueModel, ReplayParams } from '../../schema/strategy.ts';
import { type BestPrices, dueTime } from '../fills/engine.ts';
import { QueuePosition } from '../fills/queue.ts';
import { type Fill, makerFill } from '../fills/walk.ts';
import type { MarketRules } from '../marketRules.ts';
import type { Ladders } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import { DeskBook } from './deskBook.ts';
import { delayOf, type LatencyRandom } from './latency.ts';
import { LimitOrder, type VenueTrade } from './limitOrder.ts';
import type { LatencyModel, OrderTerms, Refusal } from './order.ts';
import { cancelledAt, type Outage, refusedAt } from './outage.ts';
import type { DeskListener, DeskOrder, MissReason } from './report.ts';
import { RestingOrders } from './restingOrders.ts';

interface DeskOptions {
  readonly market: { readonly marketId: string; readonly endTimeMs: number };
  readonly rules: MarketRules;
  /** Null: no book was recorded; then only the fill mode `mid` works. */
  readonly ladders: Ladders | null;
  /** Orders cannot rest in the fill mode `mid`. */
  readonly fillMode: ReplayParams['fill_mode'];
  readonly latency: LatencyModel;
  /** Null is enough for a constant latency. */
  readonly random: LatencyRandom | null;
  readonly queueModel: QueueModel;
  readonly outages: readonly Outage[];
  /** Whether a maker's fill has the rebate that can be expected as a negative fee. The venue does not promise it. */
  readonly countsRebate: boolean;
  readonly listener: DeskListener;
}

/** An order on its way to the venue, or held by it. */
interface InFlight extends DeskOrder {
  readonly arrivesMs: number;
  /** Null: it never rests. */
  readonly limit: LimitOrder | null;
}

/**
 * Call `message` before the state of a message is shown with `show` and `quote`. No member holds a closure: see
 * `MarketSession`.
 */
export class MarketDesk {
  readonly #options: DeskOptions;
  readonly #book: DeskBook;
  /** By due time. */
  #inFlight: InFlight[] = [];
  /** Null: no order ever rested. */
  #resting: RestingOrders | null = null;
  /** Receive time of the newest message. */
  #nowMs = Number.NEGATIVE_INFINITY;
  /** Due time of the first order in flight; infinite without one. */
  nextDueMs = Number.POSITIVE_INFINITY;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.#book = new DeskBook(options);
  }

  /** Whether any order may still fill. */
  get hasOrders(): boolean {
    return this.#inFlight.length > 0 || this.#restingCount > 0;
  }

  /** Whether it must be given every message and every trade of the market: an order rests, or is about to. */
  get needsTrades(): boolean {
    return this.#restingCount > 0 || this.#inFlight.some(({ limit }) => limit !== null);
  }

  /** Whether any displayed size was consumed by our fills. While it is, the desk must be shown every proven book. */
  get hasConsumed(): boolean {
    return this.#book.hasConsumed;
  }

  /** Number of the book in force, for the ladders; -1 before the first. */
  get book(): number {
    return this.#book.book;
  }

  /** Whether the book in force is proven. */
  get trusted(): boolean {
    return this.#book.trusted;
  }

  /** Tick size of a token's prices by the book in force. @param timeMs When an order is placed. */
  tickSize(token: Token, timeMs: number): number {
    return this.#book.tickSize(token, timeMs);
  }

  /** @returns Due time of the order; or why it was refused at once: then nothing more is reported of it. */
  place(orderId: number, terms: OrderTerms, placedMs: number): number | Refusal {
    const { latency, random, rules, market } = this.#options;
    const latencyMs = delayOf(latency, random);
    if (mayRest(terms)) return this.#placeLimit({ orderId, terms, placedMs, replaced: null }, latencyMs);
    const takerHoldMs = rules.takerHoldMs(placedMs);
    const dueMs = dueTime(placedMs, { latencyMs, takerHoldMs });
    if (dueMs >= market.endTimeMs) return 'window_ended';
    this.#send({ orderId, terms, placedMs, dueMs, arrivesMs: placedMs + latencyMs, limit: null });
    return dueMs;
  }

  /**
   * Cancels an order that may rest. The cancel has a latency of its own: a fill before it arrives counts. It never
   * overtakes its order. An order that never rests cannot be cancelled.
   * @param timeMs When the cancel is sent; it may be in the future.
   */
  cancel(orderId: number, timeMs: number): void {
    const { latency, random, outages } = this.#options;
    const arrivesMs = timeMs + delayOf(latency, random);
    const limit = this.#limitOf(orderId);
    limit?.endAt(cancelledAt(outages, Math.max(arrivesMs, limit.order.dueMs)), 'cancelled');
  }

  /**
   * Cancels an order and places another in one message; the new order joins the end of its queue. What the old one
   * fills before the message arrives counts toward the size of the new one.
   * @returns As `place`.
   */
  replace(oldOrderId: number, orderId: number, terms: OrderTerms, placedMs: number): number | Refusal {
    const { latency, random } = this.#options;
    if (!mayRest(terms)) throw new RangeError('a replacement must be able to rest');
    const latencyMs = delayOf(latency, random);
    const replaced = this.#limitOf(oldOrderId);
    if (replaced === undefined) return 'replaced_order_ended';
    // The message never overtakes the order.
    const untilDueMs = replaced.order.dueMs - placedMs;
    return this.#placeLimit({ orderId, terms, placedMs, replaced }, Math.max(latencyMs, untilDueMs));
  }

  /** A message of the market arrived. It proves the book in force until then, so that due orders are matched. */
  message(timeMs: number): void {
    this.advance(timeMs);
    if (this.nextDueMs >= timeMs) return;
    while (this.nextDueMs < timeMs) this.#arrive(this.#takeNext(), timeMs);
    this.advance(timeMs);
  }

  /** Applies cancels and expiries before a time, which need no proof. */
  advance(timeMs: number): void {
    this.#nowMs = timeMs;
    if (this.#resting === null) return;
    for (const limit of this.#resting.endingBefore(timeMs)) this.#end(limit, limit.endsMs);
  }

  /**
   * A trade of the market, in order of arrival. It proves the arrival of orders that may rest; orders that take wait
   * for the next message of the book.
   */
  trade(trade: VenueTrade): void {
    const { timeMs } = trade;
    this.advance(timeMs);
    for (const order of this.#inFlight.filter(({ limit }) => limit !== null)) {
      if (order.dueMs < timeMs && !this.#book.wouldTrade(order.terms))
        this.#arrive(this.#takeOne(order), timeMs);
    }
    this.advance(timeMs);
    if (!this.#book.trusted || this.#resting === null) return;
    for (const { order, size } of this.#resting.filledBy(trade)) this.#fillMaker(order, size);
  }

  /** The best prices in force, needed while an order is in flight. */
  quote(best: BestPrices): void {
    this.#book.quote(best);
  }

  /** Shows the book in force, by its number in the ladders. */
  show(book: number, trusted: boolean): void {
    const isNew = this.#book.show(book, trusted);
    if (this.#resting === null) return;
    if (!trusted) this.#resting.lose();
    if (!isNew) return;
    for (const limit of this.#resting) {
      const size = this.#book.crossedBy(limit, this.#nowMs);
      if (size > 0) this.#fillMaker(limit, size);
    }
  }

  /**
   * A gap reaches back to its last good receive time: fills since then used a book that did not exist. Every order
   * ends, because nobody knows what happened to it.
   */
  gapKnown(sinceMs: number, knownMs: number): void {
    // The feed was still good at `sinceMs`, so an order due by then met the known book.
    while (this.nextDueMs <= sinceMs) this.#arrive(this.#takeNext(), knownMs);
    this.#missAll(knownMs, 'untrusted');
    this.advance(knownMs);
    if (this.#resting !== null) for (const limit of this.#resting) this.#end(limit, sinceMs, 'gap');
    this.#book.reverseSince(sinceMs);
    this.#options.listener.onReport({ kind: 'taken_back', knownMs, sinceMs });
  }

  /** No message can arrive any more: no order in flight can be confirmed, and every other ends. */
  end(timeMs: number): void {
    this.#missAll(timeMs, 'unconfirmed');
    if (this.#resting === null) return;
    this.advance(timeMs);
    for (const limit of this.#resting) this.#end(limit, timeMs);
  }

  get #restingCount(): number {
    return this.#resting === null ? 0 : this.#resting.count;
  }

  #placeLimit(
    { replaced, ...order }: Omit<DeskOrder, 'dueMs'> & { replaced: LimitOrder | null },
    latencyMs: number,
  ): number | Refusal {
    const { rules, market, fillMode } = this.#options;
    const { terms, placedMs } = order;
    if (fillMode === 'mid') throw new RangeError('an order cannot rest in the fill mode mid');
    const dueMs = placedMs + latencyMs;
    if (dueMs >= market.endTimeMs) return 'window_ended';
    if (terms.limitPrice % this.tickSize(terms.token, placedMs) !== 0) return 'not_a_tick';
    if ((terms.size as number) < rules.minimumSize(placedMs)) return 'below_minimum_size';
    const endsMs = Math.min(terms.expiresMs ?? Number.POSITIVE_INFINITY, market.endTimeMs);
    const limit = new LimitOrder({ ...order, dueMs }, { endsMs, replaced });
    replaced?.endAt(dueMs, 'replaced');
    this.#send({ ...order, dueMs, arrivesMs: dueMs, limit });
    return dueMs;
  }

  #limitOf(orderId: number): LimitOrder | undefined {
    const sent = this.#inFlight.find((order) => order.orderId === orderId);
    return sent === undefined ? this.#resting?.find(orderId) : (sent.limit ?? undefined);
  }

  #send(order: InFlight): void {
    const orders = this.#inFlight;
    let at = orders.length;
    while (at > 0 && (orders[at - 1] as InFlight).dueMs > order.dueMs) at--;
    // Nearly always the only one.
    if (at === orders.length) orders.push(order);
    else orders.splice(at, 0, order);
    this.nextDueMs = (orders[0] as InFlight).dueMs;
  }

  #takeNext(): InFlight {
    const orders = this.#inFlight;
    const order = orders.length === 1 ? orders.pop() : orders.shift();
    if (order === undefined) throw new RangeError('no order in flight');
    this.nextDueMs = this.#inFlight[0]?.dueMs ?? Number.POSITIVE_INFINITY;
    return order;
  }

  #takeOne(order: InFlight): InFlight {
    this.#inFlight = this.#inFlight.filter((other) => other !== order);
    this.nextDueMs = this.#inFlight[0]?.dueMs ?? Number.POSITIVE_INFINITY;
    return order;
  }

  #missAll(knownMs: number, reason: MissReason): void {
    while (this.#inFlight.length > 0) this.#miss(this.#takeNext(), knownMs, reason);
  }

  #arrive(order: InFlight, knownMs: number): void {
    const { outages } = this.#options;
    const refusal = outages.length === 0 ? null : refusedAt(outages, order.arrivesMs, order.terms);
    if (refusal !== null) this.#refuse(order, knownMs, refusal);
    else if (order.limit === null) this.#match(order, knownMs);
    else this.#meet(order, order.limit, knownMs);
  }

  #match(order: InFlight, knownMs: number): void {
    const { terms, dueMs } = order;
    const isUsable = this.#book.isUsable(terms.token);
    const fill = isUsable ? this.#book.take(terms, dueMs, terms.size) : 'untrusted';
    if (typeof fill === 'string') this.#miss(order, knownMs, fill);
    else this.#reportFill(order, fill, { knownMs, timeMs: dueMs, liquidity: 'taker', isOpen: false });
  }

  /** An order that may rest meets the book. */
  #meet(order: InFlight, limit: LimitOrder, knownMs: number): void {
    const { terms, dueMs, arrivesMs, placedMs } = order;
    const { replaced } = limit;
    // Both may have arrived since the last message.
    if (replaced !== null && replaced.queue !== null && !replaced.hasEnded && replaced.endsMs <= dueMs)
      this.#end(replaced, replaced.endsMs);
    if (replaced !== null && !replaced.isReplacedBy(order.orderId)) {
      this.#refuse(order, knownMs, 'replaced_order_ended');
      return;
    }
    if (limit.endsMs < dueMs) {
      this.#end(limit, limit.endsMs);
      return;
    }
    if (!this.#book.isUsable(terms.token) || this.#book.book < 0) {
      this.#miss(order, knownMs, 'untrusted');
      return;
    }
    if (replaced !== null && dueMs === arrivesMs) {
      limit.left -= replaced.filled;
      limit.filled = replaced.filled;
      if (limit.left <= 0) {
        this.#refuse(order, knownMs, 'replaced_order_ended');
        return;
      }
    }
    if (this.#book.wouldTrade(terms)) {
      const takerHoldMs = this.#options.rules.takerHoldMs(placedMs);
      if (terms.postOnly) this.#refuse(order, knownMs, 'post_only_would_trade');
      else if (dueMs === arrivesMs && takerHoldMs > 0) this.#send({ ...order, dueMs: dueMs + takerHoldMs });
      else this.#takeFirst(order, limit, knownMs);
    } else this.#rest(limit, dueMs, knownMs);
  }

  #takeFirst(order: InFlight, limit: LimitOrder, knownMs: number): void {
    const { terms, dueMs } = order;
    const fill = this.#book.take(terms, dueMs, limit.left);
    if (typeof fill === 'string') throw new RangeError(`no fill of an order that trades: ${fill}`);
    limit.left -= fill.size;
    limit.filled += fill.size;
    const isOpen = limit.left > 0;
    this.#reportFill(order, fill, { knownMs, timeMs: dueMs, liquidity: 'taker', isOpen });
    if (isOpen) this.#rest(limit, dueMs, knownMs);
  }

  #rest(limit: LimitOrder, timeMs: number, knownMs: number): void {
    const { queueModel, listener } = this.#options;
    const shown = this.#book.displayedAt(limit);
    limit.acceptedMs = timeMs;
    limit.queue = new QueuePosition(queueModel, shown);
    this.#resting ??= new RestingOrders();
    this.#resting.add(limit);
    listener.onReport({ kind: 'accepted', order: limit.order, knownMs, timeMs, ahead: shown });
  }

  #fillMaker(limit: LimitOrder, size: number): void {
    const { rules, countsRebate } = this.#options;
    const { action, limitPrice: price } = limit.order.terms;
    const timeMs = this.#nowMs;
    const before = limit.made;
    limit.left -= size;
    limit.filled += size;
    limit.made += size;
    const isOpen = limit.left > 0;
    if (!isOpen) this.#resting?.remove(limit);
    const fee = countsRebate ? 0 - rules.makerRebate({ price, size }, timeMs) : 0;
    const fill = makerFill(action, { price, size }, { fee, before });
    this.#reportFill(limit.order, fill, { knownMs: timeMs, timeMs, liquidity: 'maker', isOpen });
  }

  #reportFill(
    order: DeskOrder,
    fill: Fill,
    how: { knownMs: number; timeMs: number; liquidity: 'taker' | 'maker'; isOpen: boolean },
  ): void {
    this.#options.listener.onReport({ kind: 'fill', order, fill, ...how });
  }

  /** @param by Null: by what the order ends by. */
  #end(limit: LimitOrder, timeMs: number, by: 'gap' | null = null): void {
    const { order, endsBy } = limit;
    this.#resting?.remove(limit);
    limit.hasEnded = true;
    const report = { order, knownMs: this.#nowMs, timeMs };
    const { listener } = this.#options;
    if (by === null && endsBy === 'expired') listener.onReport({ kind: 'expired', ...report });
    else {
      const reason = by ?? (endsBy === 'replaced' ? 'replaced' : 'asked');
      listener.onReport({ kind: 'cancelled', ...report, reason });
    }
  }

  #miss(order: InFlight, knownMs: number, reason: MissReason): void {
    this.#options.listener.onReport({ kind: 'miss', order, knownMs, reason });
  }

  #refuse(order: InFlight, knownMs: number, reason: Refusal): void {
    this.#options.listener.onReport({ kind: 'refused', order, knownMs, reason });
  }
}

function mayRest({ timeInForce }: OrderTerms): boolean {
  return timeInForce === 'gtc' || timeInForce === 'gtd';
}
