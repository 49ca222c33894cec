/** The orders of a run: its own limits before the venue's, and what its desks report. */

import type { OrderTerms, Refusal } from '../desk/order.ts';
import type { DeskReport } from '../desk/report.ts';
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../money.ts';
import { bestAt } from '../session/rows.ts';
import type { Token } from '../signals/signal.ts';
import type { OwnOrder, PlaceOrder } from './definition.ts';
import type { MarketRegistry } from './marketRegistry.ts';
import type { MarketTracker } from './marketTracker.ts';
import { OrderRecord } from './orderRecord.ts';
import { rests, termsOf } from './orderTerms.ts';
import { checkKeys } from './parameters.ts';
import { type Exposure, type Purse, reserveOf } from './purse.ts';
import type { RunFill, RunOrder, RunTrade, SaleReason } from './result.ts';

/** Micro-USD of a budget that no share's price fits into. */
const BUDGET_REST_MICRO = 10;

type FillReport = Extract<DeskReport, { kind: 'fill' }>;

interface RunOrdersOptions {
  readonly purse: Purse;
  readonly registry: MarketRegistry;
  readonly atEntry: (tracker: MarketTracker, token: Token) => RunTrade['atEntry'];
}

export class RunOrders {
  readonly #options: RunOrdersOptions;
  /** All of them, by their id minus 1. */
  readonly #records: OrderRecord[] = [];
  readonly #open = new Map<number, OrderRecord>();
  /** Of markets in play. */
  readonly #byMarket = new Map<string, OrderRecord[]>();
  #positions = 0;
  /** Changes that the strategy has not seen yet, oldest first. */
  #changes: OwnOrder[] = [];
  /** Whether a fill or a reversal has changed the money since the last call of `takeChanged`. */
  #changed = false;

  constructor(options: RunOrdersOptions) {
    this.#options = options;
  }

  /** @returns The order's id. */
  place(tracker: MarketTracker, order: PlaceOrder, nowMs: number): number {
    return this.#place(
      tracker,
      { terms: termsOf(order, nowMs), reason: order.reason, replaces: null },
      nowMs,
    );
  }

  /** An order that has ended, or that never rests, is not changed by it. @throws {RangeError} Without such an order. */
  cancel(orderId: number, nowMs: number): void {
    const record = this.#recordOf(orderId);
    if (record.isOpen)
      this.#options.registry.known(record.decision.marketId).tracker.desk.cancel(orderId, nowMs);
  }

  /** @returns The new order's id. @throws {RangeError} Without such an order, or if it never rests. */
  replace(
    orderId: number,
    change: { readonly limitPrice?: number; readonly size?: number },
    nowMs: number,
  ): number {
    const replaces = this.#recordOf(orderId);
    const { terms: old, marketId, saleReason: reason } = replaces.decision;
    checkKeys('change', change, ['limitPrice', 'size']);
    if (!rests(old.timeInForce) || old.size === null) throw new RangeError(`order ${orderId} never rests`);
    const { limitPrice = old.limitPrice / TICKS_PER_USDC, size = old.size / UNITS_PER_SHARE } = change;
    const { token, action, timeInForce, postOnly, expiresMs } = old;
    const expires = expiresMs === null ? {} : { expiresMs };
    const order = { marketId, token, action, limitPrice, size, timeInForce, postOnly, ...expires };
    const { tracker } = this.#options.registry.known(marketId);
    return this.#place(tracker, { terms: termsOf(order, nowMs), reason, replaces }, nowMs);
  }

  #place(
    tracker: MarketTracker,
    {
      terms,
      reason,
      replaces,
    }: { terms: OrderTerms; reason: SaleReason | undefined; replaces: OrderRecord | null },
    nowMs: number,
  ): number {
    const orderId = this.#records.length + 1;
    const { token, action } = terms;
    const prices = bestAt(tracker.rows, 0, token);
    const best = action === 'buy' ? prices.ask : prices.bid;
    const record = new OrderRecord({
      ...{ orderId, marketId: tracker.market.marketId, terms, decidedMs: nowMs },
      best: best >= 0 ? best : terms.limitPrice,
      saleReason: reason ?? 'sold',
      atEntry: action === 'buy' ? this.#options.atEntry(tracker, token) : null,
      replaces,
    });
    this.#records.push(record);
    this.#ofMarket(tracker).push(record);
    const refusal = this.#send(tracker, record);
    if (refusal === null) this.#open.set(orderId, record);
    else this.#end(record, { outcome: 'refused', reason: refusal, endedMs: nowMs });
    return orderId;
  }

  /** Those that may still fill. */
  openOrders(marketId?: string): OwnOrder[] {
    const open = [...this.#open.values()];
    const own = marketId === undefined ? open : open.filter(({ decision }) => decision.marketId === marketId);
    return own.map(({ view }) => view);
  }

  onReport(tracker: MarketTracker, report: DeskReport): void {
    if (report.kind === 'taken_back') {
      this.#takeBack(tracker, report);
      return;
    }
    const record = this.#recordOf(report.order.orderId);
    const endedMs = report.knownMs;
    if (report.kind === 'accepted' || report.kind === 'fill')
      for (const rival of record.takePlace()) this.#setReserved(tracker, rival, 0);
    switch (report.kind) {
      case 'accepted':
        record.outcome = 'resting';
        this.#changes.push(record.view);
        break;
      case 'fill':
        this.#fill(tracker, record, report);
        break;
      case 'miss':
        this.#end(record, { outcome: 'missed', reason: report.reason, endedMs });
        break;
      case 'expired':
        this.#end(record, { outcome: 'expired', reason: null, endedMs });
        break;
      default:
        this.#end(record, { outcome: report.kind, reason: report.reason, endedMs });
    }
    this.#reserve(tracker, record);
  }

  /** @returns The oldest change that the strategy has not seen yet. */
  nextChange(): OwnOrder | undefined {
    return this.#changes.shift();
  }

  /** Whether money has changed since the last call. */
  takeChanged(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  /** Call when a market is no longer in play. */
  forget({ market }: MarketTracker): void {
    this.#byMarket.delete(market.marketId);
  }

  orders(): RunOrder[] {
    return this.#records.map(({ report }) => report);
  }

  fills(): RunFill[] {
    return this.#records
      .flatMap(({ fills }) => fills)
      .sort((a, b) => a.timeMs - b.timeMs || a.orderId - b.orderId);
  }

  /** @returns Why it was refused; null: it is on its way. */
  #send(tracker: MarketTracker, record: OrderRecord): Refusal | null {
    const { orderId, terms, decidedMs, replaces } = record.decision;
    const refusal =
      terms.action === 'sell' ? this.#saleRefusal(tracker, record) : this.#buyRefusal(tracker, record);
    if (refusal !== null) return refusal;
    const { desk } = tracker;
    tracker.quoteDesk();
    const sent =
      replaces === null
        ? desk.place(orderId, terms, decidedMs)
        : desk.replace(replaces.decision.orderId, orderId, terms, decidedMs);
    if (typeof sent === 'string') return sent;
    record.dueMs = sent;
    this.#reserve(tracker, record);
    return null;
  }

  /** Shares that open sales offer already cannot be sold again. */
  #saleRefusal({ holdings, market }: MarketTracker, record: OrderRecord): Refusal | null {
    const { token } = record.decision.terms;
    const sales = [...this.#open.values()].filter(
      ({ decision: { marketId, terms } }) =>
        marketId === market.marketId && terms.token === token && terms.action === 'sell',
    );
    let offered = 0;
    // Empty: the winner was filled, and the venue has yet to refuse this one.
    for (const alternatives of new Set([...sales, record].map((sale) => sale.alternatives)))
      offered += Math.max(0, ...[...alternatives].map(({ open }) => open.size ?? 0));
    return offered > (holdings.held(token)?.left ?? 0) ? 'no_shares' : null;
  }

  /** The money of its alternatives counts for it. */
  #buyRefusal(tracker: MarketTracker, record: OrderRecord): Refusal | null {
    let amount = costOf(tracker, record);
    for (const { reserved } of record.alternatives) amount -= reserved;
    return this.#options.purse.refusalOf(amount, this.#exposureOf(tracker));
  }

  #exposureOf({ market, holdings, reserved }: MarketTracker): Exposure {
    let [ticker, total] = [0, 0];
    for (const other of this.#options.registry.trackers()) {
      const own = other.holdings.cost + other.reserved;
      total += own;
      if (other.market.ticker === market.ticker) ticker += own;
    }
    return { market: holdings.cost + reserved, ticker, total };
  }

  /** An order and its alternatives reserve together what the most expensive of them can cost. */
  #reserve(tracker: MarketTracker, record: OrderRecord): void {
    if (!record.isOpen) this.#setReserved(tracker, record, 0);
    let together = 0;
    for (const order of record.alternatives) {
      const amount = Math.max(0, costOf(tracker, order) - together);
      this.#setReserved(tracker, order, amount);
      together += amount;
    }
  }

  #setReserved(tracker: MarketTracker, record: OrderRecord, amount: number): void {
    const change = amount - record.reserved;
    record.reserved = amount;
    tracker.reserved += change;
    this.#options.purse.reserved += change;
  }

  #fill(
    tracker: MarketTracker,
    record: OrderRecord,
    { knownMs, timeMs, fill, liquidity, isOpen }: FillReport,
  ): void {
    const { orderId, marketId, terms, best, decidedMs, saleReason, atEntry } = record.decision;
    const { token } = terms;
    const fee = tracker.rules.fee(timeMs);
    for (const level of fill.levels) {
      const charged = fill.levels.length === 1 ? fill.fee : fee.charged(level);
      record.fills.push({ orderId, marketId, timeMs, liquidity, ...level, fee: charged });
    }
    record.spent += fill.principal;
    const holdingFill = { token, timeMs, fill, liquidity, best } as const;
    if (atEntry === null) tracker.holdings.sell(holdingFill, saleReason);
    else tracker.holdings.buy(holdingFill, { number: ++this.#positions, decidedMs, atEntry });
    this.#changed = true;
    if (isOpen) {
      this.#changes.push(record.view);
      return;
    }
    const { size, budget } = record.open;
    const isWhole = size === 0 || (budget !== null && budget <= BUDGET_REST_MICRO);
    this.#end(record, { outcome: isWhole ? 'filled' : 'partly_filled', reason: null, endedMs: knownMs });
  }

  #end(
    record: OrderRecord,
    { outcome, reason, endedMs }: Pick<OrderRecord, 'outcome' | 'reason'> & { readonly endedMs: number },
  ): void {
    record.outcome = outcome;
    record.reason = reason;
    record.endedMs = endedMs;
    this.#open.delete(record.decision.orderId);
    this.#changes.push(record.view);
  }

  /** Fills after a time used a book that did not exist. */
  #takeBack(tracker: MarketTracker, { sinceMs, knownMs }: Extract<DeskReport, { kind: 'taken_back' }>): void {
    if (!tracker.holdings.reverseSince(sinceMs)) return;
    this.#changed = true;
    for (const record of this.#ofMarket(tracker)) {
      const kept = record.fills.filter(({ timeMs }) => timeMs <= sinceMs);
      if (kept.length === record.fills.length) continue;
      record.fills = kept;
      this.#end(record, { outcome: 'taken_back', reason: null, endedMs: knownMs });
    }
  }

  #ofMarket({ market: { marketId } }: MarketTracker): OrderRecord[] {
    const known = this.#byMarket.get(marketId);
    if (known !== undefined) return known;
    const records: OrderRecord[] = [];
    this.#byMarket.set(marketId, records);
    return records;
  }

  #recordOf(orderId: number): OrderRecord {
    const record = this.#records[orderId - 1];
    if (record === undefined) throw new RangeError(`no order ${orderId}`);
    return record;
  }
}

/** The most that the open part of an order can cost. */
function costOf({ rules }: MarketTracker, { decision: { terms, decidedMs }, open }: OrderRecord): number {
  return reserveOf(terms, open, rules.fee(decidedMs));
}
