import { formatPrice, parsePrice, TICKS_PER_USDC } from '../../../core/money.ts';

/** Prices of one action tried as the unseen trade that moved the hash. */
const PRICES_MAX = 12;

/**
 * What the last trade price in a hash may be besides the one we know: the venue puts a trade into the hash of both
 * tokens' books before (or after) we hear of it.
 */
export class TradeGuesses {
  readonly #prices: number[] = [];
  #previous = '';

  /** A price the running action touched: an unseen trade happened at one of them. */
  note(price: number | null): void {
    if (price === null || this.#prices.length >= PRICES_MAX || this.#prices.includes(price)) return;
    this.#prices.push(price);
  }

  /** The price the known trade replaced: the hash may not have the known one yet. */
  replaced(text: string): void {
    this.#previous = text;
  }

  /** The action is over. */
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

/** A last trade price as the venue's hash has it: three decimals, four where the tick needs them. */
export function tradePriceText(ticks: number): string {
  const text = formatPrice(ticks);
  const decimals = text.includes('.') ? text.length - text.indexOf('.') - 1 : 0;
  return decimals > 3 ? text : (ticks / TICKS_PER_USDC).toFixed(3);
}

/** The same trade as the other token has it. */
function complementText(text: string): string {
  const ticks = parsePrice(text);
  return ticks === null ? text : tradePriceText(TICKS_PER_USDC - ticks);
}
