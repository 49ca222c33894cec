import type { OrderTerms } from '../desk/order.ts';
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../money.ts';
import type { OwnOrder } from './definition.ts';
import type { OrderOutcome, OrderReason, RunFill, RunOrder, RunTrade, SaleReason } from './result.ts';

interface Decision {
  readonly orderId: number;
  readonly marketId: string;
  readonly terms: OrderTerms;
  readonly decidedMs: number;
  /** Best price of the side that it meets, in ticks; the order's own limit without one. */
  readonly best: number;
  readonly saleReason: SaleReason;
  /** Of a purchase. */
  readonly atEntry: RunTrade['atEntry'] | null;
  /** The order that it replaces. */
  readonly replaces: OrderRecord | null;
}

/** One order of a run, from its decision to its end. */
export class OrderRecord {
  readonly decision: Decision;
  dueMs: number | null = null;
  endedMs: number | null = null;
  outcome: OrderOutcome = 'in_flight';
  reason: OrderReason | null = null;
  /** Of a purchase, micro-USD that its open part can cost. */
  reserved = 0;
  fills: RunFill[] = [];
  /** Micro-USD spent on shares. */
  spent = 0;

  /** The orders that it replaces and that were open at its decision. */
  readonly #replaced: readonly OrderRecord[];
  /** Shares that the others that it replaces filled. */
  readonly #carriedSize: number;
  /** It and all that replace the same orders, oldest first; ended ones are removed when it is read. */
  readonly #alternatives: Set<OrderRecord>;

  constructor(decision: Decision) {
    this.decision = decision;
    const { replaces } = decision;
    const before = replaces === null ? [] : [replaces, ...replaces.#replaced];
    this.#replaced = before.filter(({ isOpen }) => isOpen);
    this.#carriedSize = before
      .filter(({ isOpen }) => !isOpen)
      .reduce((sum, { filledSize }) => sum + filledSize, replaces === null ? 0 : replaces.#carriedSize);
    this.#alternatives = replaces === null ? new Set() : replaces.#alternatives;
    this.#alternatives.add(this);
  }

  get isOpen(): boolean {
    return this.endedMs === null;
  }

  get filledSize(): number {
    return this.fills.reduce((sum, { size }) => sum + size, 0);
  }

  /** Shares and money that may still be filled. Fills of what it replaces count toward its size. */
  get open(): { readonly size: number | null; readonly budget: number | null } {
    const { size, budget } = this.decision.terms;
    const before = this.#replaced.reduce((sum, { filledSize }) => sum + filledSize, this.#carriedSize);
    return {
      size: size === null ? null : Math.max(0, size - before - this.filledSize),
      budget: budget === null ? null : budget - this.spent,
    };
  }

  /** The open orders of which only one can be filled whole: each takes the place of another. Oldest first. */
  get alternatives(): ReadonlySet<OrderRecord> {
    for (const order of this.#alternatives) if (!order.isOpen) this.#alternatives.delete(order);
    return this.#alternatives;
  }

  /**
   * It has met the book, so that it alone takes the place of what it replaces.
   * @returns The other replacements, which the venue will refuse. They are no longer alternatives.
   */
  takePlace(): OrderRecord[] {
    const isRival = (order: OrderRecord) => order !== this && !order.#replaced.includes(this);
    const rivals = [...this.alternatives].filter(isRival);
    for (const rival of rivals) this.#alternatives.delete(rival);
    return rivals;
  }

  /** As the strategy sees it; a new object after each change. */
  get view(): OwnOrder {
    const { orderId, marketId, terms } = this.decision;
    const { filledSize } = this;
    const cost = this.fills.reduce((sum, { price, size }) => sum + price * size, 0);
    return {
      ...{ orderId, marketId, token: terms.token, action: terms.action },
      limitPrice: terms.limitPrice / TICKS_PER_USDC,
      ...{ state: this.outcome, reason: this.reason },
      filledSize: filledSize / UNITS_PER_SHARE,
      averagePrice: filledSize === 0 ? null : cost / (filledSize * TICKS_PER_USDC),
    };
  }

  get report(): RunOrder {
    const { orderId, marketId, terms, decidedMs } = this.decision;
    const { dueMs, endedMs, outcome, reason, filledSize } = this;
    return { orderId, marketId, terms, decidedMs, dueMs, endedMs, outcome, reason, filledSize };
  }
}
