/** The venue's fee and taker hold for one market's orders, computed once per period of its rules. */
import { TakerFee } from './fees.ts';
import type { TapeMarket } from './session/tape.ts';
import { feeOfMarket, unchangedAround, venueRulesAt } from './venueRules.ts';

/** Shared by all sessions on a market, which need the rules at every order. */
export class MarketRules {
  readonly #market: TapeMarket;
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  #inForce: { readonly fee: TakerFee; readonly takerHoldMs: number } | null = null;

  constructor(market: TapeMarket) {
    this.#market = market;
  }

  /** @param timeMs When the order trades. */
  fee(timeMs: number): TakerFee {
    return this.#at(timeMs).fee;
  }

  /** @param timeMs When the order is placed. */
  takerHoldMs(timeMs: number): number {
    return this.#at(timeMs).takerHoldMs;
  }

  /** Call this after the market's own terms were changed in place. */
  changed(): void {
    this.#inForce = null;
  }

  #at(timeMs: number) {
    if (this.#inForce !== null && timeMs >= this.#fromMs && timeMs < this.#untilMs) return this.#inForce;
    const { eventType, ticker, takerDelayMs } = this.#market;
    const { fromMs, untilMs } = unchangedAround(timeMs);
    this.#fromMs = fromMs;
    this.#untilMs = untilMs;
    this.#inForce = {
      fee: new TakerFee(feeOfMarket(this.#market, timeMs)),
      takerHoldMs: takerDelayMs ?? venueRulesAt(eventType, ticker, timeMs).takerHoldMs,
    };
    return this.#inForce;
  }
}
