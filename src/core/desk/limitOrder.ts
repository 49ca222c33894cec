import type { BookSide, SideView, TradeSide } from '../../schema/records.ts';
import type { QueuePosition } from '../fills/queue.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { DeskOrder } from './report.ts';

/** A trade of the market, as the venue reported it. */
export interface VenueTrade {
  readonly side: TradeSide;
  /** Ticks, of the traded token. */
  readonly price: number;
  readonly size: number;
  /** The venue's own time. */
  readonly eventTimeMs: number;
  /** Time of our receipt. */
  readonly timeMs: number;
}

/** `replaced`: cancelled by the message that places another order. */
type Ending = 'cancelled' | 'expired' | 'replaced';

/** An order that may rest, from its placement until it ends. */
export class LimitOrder {
  readonly order: DeskOrder;
  /** Its side of its token's book. */
  readonly side: BookSide;
  /** Units that may still fill. */
  left: number;
  /** Units that it and what it replaced have filled. */
  filled = 0;
  /** Units that it has filled itself while it rested. */
  made = 0;
  /** Null: it does not rest, or no longer. */
  queue: QueuePosition | null = null;
  acceptedMs = Number.POSITIVE_INFINITY;
  /** It ends after this time at the latest; a message of this very time can still fill it. */
  endsMs: number;
  endsBy: Ending = 'expired';
  /** It rested or was held, and has ended. An order that the venue refuses was never there to be replaced. */
  hasEnded = false;
  /** The order that it replaces. */
  readonly replaced: LimitOrder | null;
  #replacedBy: number | null = null;
  /** As a level of YES; a higher rank is filled first. */
  readonly #yesSide: BookSide;
  readonly rank: number;

  constructor(order: DeskOrder, { endsMs, replaced }: { endsMs: number; replaced: LimitOrder | null }) {
    const { token, action, limitPrice, size } = order.terms;
    if (size === null) throw new RangeError('an order that may rest needs a size');
    this.order = order;
    this.left = size;
    this.endsMs = endsMs;
    this.replaced = replaced;
    this.side = action === 'buy' ? 'bids' : 'asks';
    const isYes = token === 'yes';
    this.#yesSide = isYes === (action === 'buy') ? 'bids' : 'asks';
    const yesPrice = isYes ? limitPrice : TICKS_PER_USDC - limitPrice;
    this.rank = this.#yesSide === 'bids' ? yesPrice : -yesPrice;
  }

  /** Lets it end earlier. */
  endAt(timeMs: number, by: Ending): void {
    if (timeMs >= this.endsMs) return;
    this.endsMs = timeMs;
    this.endsBy = by;
  }

  /** Whether an order takes its place. Of several replacements that is the first to arrive. */
  isReplacedBy(orderId: number): boolean {
    if (this.endsBy !== 'replaced' || !this.hasEnded || this.left === 0) return false;
    this.#replacedBy ??= orderId;
    return this.#replacedBy === orderId;
  }

  /**
   * How far a trade's price is beyond the limit, in ticks: 0 at the limit; negative if the trade does not reach the
   * order. The venue keeps one book: a purchase of NO sells YES.
   */
  reachedBy({ side, price }: VenueTrade): number {
    const isYes = side.endsWith('YES');
    const takerSells = side.startsWith('SELL') === isYes;
    if (takerSells !== (this.#yesSide === 'bids')) return -1;
    const yesPrice = isYes ? price : TICKS_PER_USDC - price;
    return this.#yesSide === 'bids' ? this.rank - yesPrice : yesPrice + this.rank;
  }

  /** Units displayed at its price in its side of the book; null: the level is beyond the displayed ones. */
  displayedIn({ count, prices, sizes }: SideView): number | null {
    const { limitPrice } = this.order.terms;
    for (let at = 0; at < count; at++) if (prices[at] === limitPrice) return sizes[at] as number;
    if (count === 0) return 0;
    const worst = prices[count - 1] as number;
    const isInRange = this.side === 'asks' ? limitPrice < worst : limitPrice > worst;
    return isInRange ? 0 : null;
  }
}
