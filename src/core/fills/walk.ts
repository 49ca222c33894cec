/**
 * Walking the book: a taker's order consumes levels best first. All money is whole micro-USD, all sizes whole units of
 * 1/1,000,000 share, prices ticks of 1/10000 USDC; amounts are rounded against the taker.
 */
import type { SideView } from '../../schema/records.ts';
import { TakerFee } from '../fees.ts';
import { TICKS_PER_USDC } from '../money.ts';

/** Ticks times units in one micro-USD. */
const TICK_UNITS_PER_MICRO = 10_000;
const NO_FEE = new TakerFee({ rate: 0, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });

export interface FilledLevel {
  readonly price: number;
  readonly size: number;
}

/** The fill of an order from one side of a book. */
export interface Fill {
  /** Below the requested size if depth (or the limit) ran out. */
  readonly size: number;
  /** Micro-USD paid (buy) or received (sell) for the shares, without the fee. */
  readonly principal: number;
  /** Micro-USD; charged and rounded level by level. */
  readonly fee: number;
  /** Best first. */
  readonly levels: readonly FilledLevel[];
}

/** Terms of a walk; `limitPrice` is the worst accepted price, in ticks, default: any. */
interface Terms {
  readonly fee: TakerFee;
  readonly limitPrice?: number;
}

/** Buys from the asks. @param size Whole units wanted, > 0. @returns Null if nothing is for sale within the limit. */
export function buyShares(
  asks: SideView,
  { size, fee, limitPrice = 10_000 }: Terms & { size: number },
): Fill | null {
  const walk = new Walk(fee, Math.ceil);
  for (let i = 0; i < asks.count && walk.size < size; i++) {
    const price = asks.prices[i] as number;
    if (price > limitPrice) break;
    walk.consume(price, Math.min(size - walk.size, displayed(asks, i)));
  }
  return walk.fill();
}

/** Sells into the bids. @param size Whole units offered, > 0. @returns Null if there is no bid within the limit. */
export function sellShares(
  bids: SideView,
  { size, fee, limitPrice = 0 }: Terms & { size: number },
): Fill | null {
  const walk = new Walk(fee, Math.floor);
  for (let i = 0; i < bids.count && walk.size < size; i++) {
    const price = bids.prices[i] as number;
    if (price < limitPrice) break;
    walk.consume(price, Math.min(size - walk.size, displayed(bids, i)));
  }
  return walk.fill();
}

/**
 * Buys for an amount of money.
 * @param budget Micro-USD, > 0; never exceeded by principal and fee together.
 * @param feeOnTop The budget is for the principal only.
 * @returns Null if nothing is for sale within the limit, or the budget buys no unit.
 */
export function buyForBudget(
  asks: SideView,
  { budget, fee, feeOnTop = false, limitPrice = 10_000 }: Terms & { budget: number; feeOnTop?: boolean },
): Fill | null {
  const walk = new Walk(fee, Math.ceil);
  const feeInside = feeOnTop ? NO_FEE : fee;
  for (let i = 0; i < asks.count; i++) {
    const price = asks.prices[i] as number;
    if (price > limitPrice) break;
    const left = budget - (feeOnTop ? walk.principal : walk.spent);
    const all = displayed(asks, i);
    const size = Math.min(all, affordable(price, { left, fee: feeInside }));
    walk.consume(price, size);
    if (size < all) break;
  }
  return walk.fill();
}

/**
 * The fill of a resting order at its price. All its fills together are rounded once, so that they cost no more than
 * the whole order would.
 * @param fee Micro-USD; negative: a rebate. @param before Units of it that earlier fills made at this price.
 */
export function makerFill(
  action: 'buy' | 'sell',
  level: FilledLevel,
  { fee = 0, before = 0 }: { fee?: number; before?: number } = {},
): Fill {
  const round = action === 'buy' ? Math.ceil : Math.floor;
  const { price, size } = level;
  const amountOf = (units: number) => round((price * units) / TICK_UNITS_PER_MICRO);
  return { size, principal: amountOf(before + size) - amountOf(before), fee, levels: [level] };
}

/**
 * Average price of a fill in USDC per share, without the fee, from its levels before the principal was rounded. For
 * levels at one price it is exactly that price, whatever their sizes.
 */
export function averagePrice({ levels, size }: Pick<Fill, 'levels' | 'size'>): number {
  const price = onlyPrice(levels);
  return price === null ? costOf(levels) / (size * TICKS_PER_USDC) : price / TICKS_PER_USDC;
}

/** The average price of a pair: shares bought together, the same number of each leg. */
export function averagePairPrice(legs: readonly Pick<Fill, 'levels'>[], size: number): number {
  let ticks = 0;
  for (const { levels } of legs) ticks += onlyPrice(levels) ?? costOf(levels) / size;
  return ticks / TICKS_PER_USDC;
}

/** The common price of all levels in ticks; null if they differ. */
function onlyPrice(levels: readonly FilledLevel[]): number | null {
  const [first] = levels;
  return first !== undefined && levels.every(({ price }) => price === first.price) ? first.price : null;
}

function costOf(levels: readonly FilledLevel[]): number {
  let cost = 0;
  for (const { price, size } of levels) cost += price * size;
  return cost;
}

/** Whole units that a level offers, rounded down. Beyond the last level, 0. */
export function displayed(side: SideView, at: number): number {
  return at < side.count ? Math.floor(side.sizes[at] as number) : 0;
}

/**
 * Units that `left` micro-USD buy including their fee. The principal is computed first, like in the venue's clients.
 */
function affordable(price: number, { left, fee }: { left: number; fee: TakerFee }): number {
  const perShare = price / TICK_UNITS_PER_MICRO;
  const sizeFor = (micro: number) => Math.floor((micro * TICK_UNITS_PER_MICRO) / price);
  // Without a fee exactly all of it.
  const principal = Math.floor(left / (1 + fee.perShare(price) / perShare));
  const size = sizeFor(principal);
  // The rounded fee may be a few micro-USD above the formula. A principal lower by the excess lowers the total at least
  // as much, because no unit costs more than a micro-USD.
  const excess = totalOf(price, size, fee) - left;
  return excess > 0 ? sizeFor(principal - excess) : size;
}

function totalOf(price: number, size: number, fee: TakerFee): number {
  return Math.ceil((price * size) / TICK_UNITS_PER_MICRO) + fee.charged({ price, size });
}

/** Accumulates the fill of one order. */
class Walk {
  size = 0;
  principal = 0;
  #feePaid = 0;
  readonly #levels: FilledLevel[] = [];
  readonly #fee: TakerFee;
  readonly #round: (micro: number) => number;

  constructor(fee: TakerFee, round: (micro: number) => number) {
    this.#fee = fee;
    this.#round = round;
  }

  get spent(): number {
    return this.principal + this.#feePaid;
  }

  consume(price: number, size: number): void {
    if (size <= 0) return;
    this.size += size;
    this.principal += this.#round((price * size) / TICK_UNITS_PER_MICRO);
    this.#feePaid += this.#fee.charged({ price, size });
    this.#levels.push({ price, size });
  }

  fill(): Fill | null {
    if (this.size === 0) return null;
    return { size: this.size, principal: this.principal, fee: this.#feePaid, levels: this.#levels };
  }
}
