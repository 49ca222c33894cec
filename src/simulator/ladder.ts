/**
 * One market's book, kept once: a bid for Up at p is an ask for Down at 1 - p with the same size. Prices are
 * thousandths of a dollar (1..999), sizes hundredths of a share. The wire text of all four sides is updated by
 * splicing: a hash is due after every action, and rendering the whole text each time would be too slow.
 */
import { InvalidInputError } from '../runtime/errors.ts';

export type LadderSide = 'bid' | 'ask';

/** Prices 0 and 1 mean "no bid" and "no ask", as in the venue's own format. */
const NO_BID = 0;
export const NO_ASK = 1000;
const PRICE_STEPS = 1000;

/** "0.49" for 490: the venue drops trailing zeros. */
export const PRICE_TEXT: readonly string[] = Array.from({ length: PRICE_STEPS + 1 }, (_, p) =>
  String(p / PRICE_STEPS),
);

export function sizeText(size: number): string {
  return String(size / 100);
}

/** One side of Up and its mirror on Down. Both list worst first, so element n of one mirrors element n of the other. */
class SideText {
  up = '';
  down = '';
  /** Characters of each level, comma included; a price and its mirror have equally many digits. */
  readonly #lengths = new Uint8Array(PRICE_STEPS + 1);
  readonly #ascending: boolean;

  constructor(ascending: boolean) {
    this.#ascending = ascending;
  }

  set(price: number, size: number): void {
    const start = this.#offset(price);
    const end = start + (this.#lengths[price] as number);
    let up = '';
    let down = '';
    if (size > 0) {
      const rest = `","size":"${sizeText(size)}"},`;
      up = `{"price":"${PRICE_TEXT[price]}${rest}`;
      down = `{"price":"${PRICE_TEXT[PRICE_STEPS - price]}${rest}`;
    }
    this.up = this.up.slice(0, start) + up + this.up.slice(end);
    this.down = this.down.slice(0, start) + down + this.down.slice(end);
    this.#lengths[price] = up.length;
  }

  #offset(price: number): number {
    let offset = 0;
    if (this.#ascending) for (let p = 1; p < price; p++) offset += this.#lengths[p] as number;
    else for (let p = PRICE_STEPS - 1; p > price; p--) offset += this.#lengths[p] as number;
    return offset;
  }
}

export class Ladder {
  readonly #bids = new Int32Array(PRICE_STEPS + 1);
  readonly #asks = new Int32Array(PRICE_STEPS + 1);
  readonly #bidText = new SideText(true);
  readonly #askText = new SideText(false);
  #bestBid = NO_BID;
  #bestAsk = NO_ASK;

  get bestBid(): number {
    return this.#bestBid;
  }

  get bestAsk(): number {
    return this.#bestAsk;
  }

  get isTwoSided(): boolean {
    return this.#bestBid !== NO_BID && this.#bestAsk !== NO_ASK;
  }

  size(side: LadderSide, price: number): number {
    return (side === 'bid' ? this.#bids[price] : this.#asks[price]) as number;
  }

  /**
   * Sets one level of Up and the mirrored one of Down; 0 removes it.
   * @throws {InvalidInputError} If the price is not an integer in 1..999, which would corrupt the wire text.
   */
  set(side: LadderSide, price: number, size: number): void {
    if (!Number.isInteger(price) || price <= NO_BID || price >= NO_ASK) {
      throw new InvalidInputError(`no such price level: ${price}`);
    }
    if (side === 'bid') {
      this.#bids[price] = size;
      this.#bidText.set(price, size);
      if (size > 0) this.#bestBid = Math.max(this.#bestBid, price);
      else while (this.#bestBid > NO_BID && this.#bids[this.#bestBid] === 0) this.#bestBid--;
    } else {
      this.#asks[price] = size;
      this.#askText.set(price, size);
      if (size > 0) this.#bestAsk = Math.min(this.#bestAsk, price);
      else while (this.#bestAsk < NO_ASK && this.#asks[this.#bestAsk] === 0) this.#bestAsk++;
    }
  }

  /** Prices of a side with a size, lowest first. */
  prices(side: LadderSide): number[] {
    const sizes = side === 'bid' ? this.#bids : this.#asks;
    const found: number[] = [];
    for (let p = 1; p < PRICE_STEPS; p++) if ((sizes[p] as number) > 0) found.push(p);
    return found;
  }

  /** Wire JSON arrays of one token: bids ascending, asks descending. */
  json(isUp: boolean): { bids: string; asks: string } {
    return isUp
      ? { bids: bracket(this.#bidText.up), asks: bracket(this.#askText.up) }
      : { bids: bracket(this.#askText.down), asks: bracket(this.#bidText.down) };
  }
}

function bracket(levels: string): string {
  return levels === '' ? '[]' : `[${levels.slice(0, -1)}]`;
}
