import type { LimitOrder, VenueTrade } from './limitOrder.ts';

interface MakerFill {
  readonly order: LimitOrder;
  readonly size: number;
}

/** Our orders that rest in one market, in the priority in which the venue fills them: by price, then by arrival. */
export class RestingOrders {
  #orders: LimitOrder[] = [];

  get count(): number {
    return this.#orders.length;
  }

  [Symbol.iterator](): Iterator<LimitOrder> {
    return [...this.#orders].values();
  }

  find(orderId: number): LimitOrder | undefined {
    return this.#orders.find(({ order }) => order.orderId === orderId);
  }

  add(order: LimitOrder): void {
    let at = this.#orders.length;
    while (at > 0 && (this.#orders[at - 1] as LimitOrder).rank < order.rank) at--;
    this.#orders.splice(at, 0, order);
  }

  remove(order: LimitOrder): void {
    order.hasEnded = true;
    this.#orders = this.#orders.filter((other) => other !== order);
  }

  /** Orders that end before a time, the first to end first. */
  endingBefore(timeMs: number): LimitOrder[] {
    if (this.#orders.length === 0) return [];
    return this.#orders.filter(({ endsMs }) => endsMs < timeMs).sort((a, b) => a.endsMs - b.endsMs);
  }

  /**
   * The fills of a trade. Its size fills the queue ahead of an order first, then the order. Each unit fills one of our
   * orders at most.
   */
  filledBy(trade: VenueTrade): MakerFill[] {
    const fills: MakerFill[] = [];
    let left = Math.floor(trade.size);
    for (const order of this.#orders) {
      const { queue } = order;
      const beyond = order.reachedBy(trade);
      if (beyond < 0 || queue === null) continue;
      // A late message: the venue matched the trade before our order arrived.
      const isEarlier = trade.eventTimeMs < order.acceptedMs;
      if (beyond > 0 && isEarlier) continue;
      if (beyond > 0) queue.passed();
      const reaching = beyond > 0 ? left : queue.traded(left, trade.timeMs);
      const size = isEarlier ? 0 : Math.min(order.left, reaching);
      if (size === 0) continue;
      fills.push({ order, size });
      left -= size;
    }
    return fills;
  }

  /** The book is not proven: the queue positions are no longer known. */
  lose(): void {
    for (const { queue } of this.#orders) queue?.lost();
  }
}
