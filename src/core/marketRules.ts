/** The venue's rules for one market's orders, computed once per period of its rules. */
import { TakerFee } from './fees.ts';
import type { TapeMarket } from './session/tape.ts';
import { feeOfMarket, unchangedAround, venueRulesAt } from './venueRules.ts';
import type { TickRule } from './venueRulesTable.ts';

interface RulesInForce {
  readonly fee: TakerFee;
  readonly takerHoldMs: number;
  readonly tick: TickRule;
  readonly minimumSize: number;
  readonly makerRebate: number;
}

/** Shared by all sessions on a market, which need the rules at every order. */
export class MarketRules {
  readonly #market: TapeMarket;
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  #inForce: RulesInForce | null = null;

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

  /** @param timeMs When the order is placed. */
  tick(timeMs: number): TickRule {
    return this.#at(timeMs).tick;
  }

  /** @param timeMs When the order is placed. @returns Units; of an order that may rest. */
  minimumSize(timeMs: number): number {
    return this.#at(timeMs).minimumSize;
  }

  /**
   * The rebate that the maker of a fill can expect, in whole micro-USD: a share of the fee that its taker paid.
   * @param timeMs When the order trades.
   */
  makerRebate(fill: { readonly price: number; readonly size: number }, timeMs: number): number {
    const { fee, makerRebate } = this.#at(timeMs);
    return Math.floor(fee.charged(fill) * makerRebate);
  }

  /** Call this after the market's own terms were changed in place. */
  changed(): void {
    this.#inForce = null;
  }

  #at(timeMs: number): RulesInForce {
    if (this.#inForce !== null && timeMs >= this.#fromMs && timeMs < this.#untilMs) return this.#inForce;
    const { eventType, ticker, takerDelayMs } = this.#market;
    const { fromMs, untilMs } = unchangedAround(timeMs);
    const rules = venueRulesAt(eventType, ticker, timeMs);
    this.#fromMs = fromMs;
    this.#untilMs = untilMs;
    this.#inForce = {
      fee: new TakerFee(feeOfMarket(this.#market, timeMs)),
      takerHoldMs: takerDelayMs ?? rules.takerHoldMs,
      tick: rules.tick,
      minimumSize: rules.minimumSize,
      makerRebate: rules.makerRebate,
    };
    return this.#inForce;
  }
}
