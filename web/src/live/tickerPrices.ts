import { SecondPrices } from '../../../src/core/pricing/secondPrices.ts';
import { VolatilityEstimator } from '../../../src/core/pricing/volatilityEstimator.ts';

/** Ten minutes, as on the service's own board. */
const SIGMA_WINDOW_SECONDS = 600;

/** Recent prices of one underlying by the second, and its volatility. */
export class TickerPrices {
  readonly seconds = new SecondPrices();
  readonly #estimator = new VolatilityEstimator();
  #sigma: { second: number; value: number | null } | null = null;
  price: number | null = null;

  push(timeMs: number, price: number): void {
    this.seconds.push(timeMs, price);
    if (this.#estimator.push(timeMs, price)) this.price = price;
  }

  /** Computed at most once a second. */
  sigmaAnnual(nowMs: number): number | null {
    const second = Math.floor(nowMs / 1000);
    if (this.#sigma?.second !== second) {
      this.#sigma = { second, value: this.#estimator.sigmaAnnual(SIGMA_WINDOW_SECONDS) };
    }
    return this.#sigma.value;
  }
}
