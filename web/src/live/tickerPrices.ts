import { SecondPrices } from '../../../src/core/pricing/secondPrices.ts';
import { VolatilityEstimator } from '../../../src/core/pricing/volatilityEstimator.ts';

/** As the service's own board: ten minutes. */
const SIGMA_WINDOW_SECONDS = 600;

/** What is known of one underlying: its last prices by the second, and how much it moves. */
export class TickerPrices {
  readonly seconds = new SecondPrices();
  readonly #estimator = new VolatilityEstimator();
  #sigma: { second: number; value: number | null } | null = null;
  price: number | null = null;

  push(timeMs: number, price: number): void {
    this.seconds.push(timeMs, price);
    if (this.#estimator.push(timeMs, price)) this.price = price;
  }

  /** Worked out once a second at most. */
  sigmaAnnual(nowMs: number): number | null {
    const second = Math.floor(nowMs / 1000);
    if (this.#sigma?.second !== second) {
      this.#sigma = { second, value: this.#estimator.sigmaAnnual(SIGMA_WINDOW_SECONDS) };
    }
    return this.#sigma.value;
  }
}
