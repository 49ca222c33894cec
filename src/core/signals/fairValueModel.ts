import { normalCdf } from '../pricing/normal.ts';
import { deviationAhead, distanceToStrike, sigmaPerSecond } from '../pricing/probability.ts';
import { decidedTimeMs } from '../settlement.ts';
import type { SettlementRule } from '../venueRulesTable.ts';

/** The constant terms of a market for its valuation. */
interface ModelTerms {
  readonly endTimeMs: number;
  /** `settlementOfMarket`, or `venueRulesAt(...).settlement` of the window's start. */
  readonly settlement: SettlementRule;
}

/** The model's inputs; a caller may keep one object and change it in place. */
export interface ModelReadings {
  readonly nowMs: number;
  /** Null until it is known. */
  readonly strike: number | null;
  /** Null if none is fresh. Best from the feed that resolves the market: feeds differ by some basis points. */
  readonly spot: number | null;
  readonly sigmaAnnual: number | null;
  /**
   * Mean of that feed from `averageFromMs` to now (`SecondPrices.mean`, the newest seconds filled in); null before, or
   * if it is unknown.
   */
  readonly insideMean: number | null;
}

/**
 * The model's value of one market, updated in place on every book change and price of the underlying. Null where an
 * input is missing.
 */
export class FairValueModel {
  readonly endTimeMs: number;
  /** Start of the deciding average; for a single deciding price, its time. */
  readonly averageFromMs: number;
  readonly #decidesAtMs: number;
  /** Reused, so that an update allocates nothing. */
  readonly #outlook;
  /** Seconds until the window ends; negative after. */
  secondsLeft = 0;
  strike: number | null = null;
  spot: number | null = null;
  sigmaAnnual: number | null = null;
  /** Standard deviation of the log of the deciding price, seen from now. */
  sigmaTau: number | null = null;
  /** ln(spot / strike). */
  logDiff: number | null = null;
  /** `distanceToStrike`: positive if Up is ahead. */
  distance: number | null = null;
  /** P(Up). */
  yesProb: number | null = null;

  constructor({ endTimeMs, settlement }: ModelTerms) {
    const twapSeconds = settlement.kind === 'chainlink_twap' ? settlement.lookbackSeconds : 0;
    this.endTimeMs = endTimeMs;
    this.#decidesAtMs = decidedTimeMs(settlement, endTimeMs);
    this.averageFromMs = this.#decidesAtMs - twapSeconds * 1_000;
    this.#outlook = { spot: 0, strike: 0, secondsLeft: 0, sigma: 0, twapSeconds, insideMean: 0 };
  }

  update({ nowMs, strike, spot, sigmaAnnual, insideMean }: ModelReadings): void {
    const outlook = this.#outlook;
    this.secondsLeft = (this.endTimeMs - nowMs) / 1_000;
    this.strike = strike;
    this.spot = spot;
    this.sigmaAnnual = sigmaAnnual;
    this.logDiff = spot === null || strike === null ? null : Math.log(spot / strike);
    outlook.secondsLeft = (this.#decidesAtMs - nowMs) / 1_000;
    outlook.sigma = sigmaAnnual === null ? 0 : sigmaPerSecond(sigmaAnnual);
    this.sigmaTau = sigmaAnnual === null ? null : deviationAhead(outlook);
    this.distance = null;
    this.yesProb = null;
    const averaging = nowMs > this.averageFromMs && outlook.twapSeconds > 0;
    if (strike === null || spot === null || this.sigmaTau === null) return;
    if (averaging && insideMean === null) return;
    outlook.strike = strike;
    outlook.spot = spot;
    outlook.insideMean = insideMean ?? 0;
    this.distance = distanceToStrike(outlook);
    this.yesProb = normalCdf(this.distance - this.sigmaTau / 2);
  }
}
