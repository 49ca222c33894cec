import { parsePrice, TICKS_PER_USDC } from '../../../core/money.ts';

/** Most prices of one action to try as the unseen trade that changed the hash. */
const PRICES_MAX = 12;

/**
 * Candidates for the last trade price in a hash: the venue puts a trade into the hash of both tokens' books before or
 * after its message reaches us.
 */
export class LastTradeGuesser {
  readonly #prices: number[] = [];
  #previous = '';

  /** The current action touched this price: an unseen trade happened at one of these. */
  note(price: number | null): void {
    if (price === null || this.#prices.length >= PRICES_MAX || this.#prices.includes(price)) return;
    this.#prices.push(price);
  }

  /** The known trade replaced this price: the hash may still use it. */
  replaced(text: string): void {
    this.#previous = text;
  }

  /** The action has ended. */
  clear(): void {
    this.#prices.length = 0;
  }

  /** Likeliest first: the replaced price, the other token's side of the known trade, then the prices touched. */
  *texts(known: string): Generator<string> {
    for (const text of [this.#previous, complementText(known), ...this.#prices.map(tradePriceText)]) {
      if (text !== known) yield text;
    }
  }
}

/** A last trade price as the hash formats it: three decimals, or four where the tick size needs them. */
export function tradePriceText(ticks: number): string {
  return (ticks / TICKS_PER_USDC).toFixed(ticks % 10 === 0 ? 3 : 4);
}

/** The price of the same trade on the other token. */
function complementText(text: string): string {
  const ticks = parsePrice(text);
  return ticks === null ? text : tradePriceText(TICKS_PER_USDC - ticks);
}
