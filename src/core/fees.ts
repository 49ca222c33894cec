import { TICKS_PER_USDC, UNITS_PER_SHARE } from './money.ts';
import type { FeeRule } from './venueRulesTable.ts';

/** Micro-USD in one USDC. */
export const MICRO_PER_USDC = 1_000_000;
/**
 * Scale in which the cost of one share with its fee is a whole number for every fee of exponent 1 whose rate has at
 * most six decimals: tick² (10^-8) times 10^-6. Sums of a few such costs stay exact in a double.
 */
export const COST_SCALE = 1e14;
const COST_PER_TICK = COST_SCALE / TICKS_PER_USDC;
/** Bound of a double's relative error after the few multiplications of one fee. */
const RELATIVE_ERROR = 4e-15;

/**
 * The taker fee of one market: shares x [price] x rate x (p(1-p))^exponent, charged and rounded for each level's fill
 * separately.
 * @see Venue fee formula: https://docs.polymarket.com/trading/fees, read 2026-11-20.
 */
export class TakerFee {
  readonly rule: FeeRule;
  readonly #onCost: boolean;
  /** The rate in millionths: whole if it has at most six decimals, which its double may just miss. */
  readonly #rateMillionths: number;
  /** Micro-USD per step of the last decimal that the venue charges. */
  readonly #stepMicro: number;

  /** @throws {RangeError} If a number of the rule is negative, or its last decimal is finer than a micro-USD. */
  constructor(rule: FeeRule) {
    const { rate, exponent, decimals } = rule;
    if (!(rate >= 0 && exponent >= 0 && Number.isInteger(decimals) && decimals >= 0 && decimals <= 6)) {
      throw new RangeError(`not a fee rule: ${JSON.stringify(rule)}`);
    }
    this.rule = rule;
    this.#onCost = rule.base === 'cost';
    this.#stepMicro = 10 ** (6 - decimals);
    const millionths = rate * 1e6;
    const whole = Math.round(millionths);
    this.#rateMillionths = Math.abs(millionths - whole) < 1e-6 ? whole : millionths;
  }

  /** Fee of one share at a price in ticks, in USDC, before rounding. */
  perShare(price: number): number {
    const { rate, exponent } = this.rule;
    const spread = (price * (TICKS_PER_USDC - price)) / 1e8;
    const fee = rate * (exponent === 1 ? spread : spread ** exponent);
    return this.#onCost ? (fee * price) / TICKS_PER_USDC : fee;
  }

  /** Price and fee of one share bought at a price in ticks, in 1/`COST_SCALE` USDC, before rounding. */
  shareCost(price: number): number {
    if (this.rule.exponent === 1 && !this.#onCost) {
      return price * COST_PER_TICK + this.#rateMillionths * price * (TICKS_PER_USDC - price);
    }
    return price * COST_PER_TICK + this.perShare(price) * COST_SCALE;
  }

  /** Expected P&L in USDC of a share bought at a price in ticks that pays 1 with a probability. */
  edge(price: number, probability: number): number {
    return probability - price / TICKS_PER_USDC - this.perShare(price);
  }

  /**
   * The venue's charge for one fill.
   * @param price Ticks.
   * @param size Whole units of 1/1,000,000 share.
   * @returns Micro-USD: rounded to the rule's decimals, and 0 if the fee is below the last of them.
   */
  charged({ price, size }: { price: number; size: number }): number {
    const steps = (this.perShare(price) * size) / this.#stepMicro;
    if (steps < 1 - RELATIVE_ERROR) return 0;
    const shifted = this.rule.rounding === 'half_up' ? steps + 0.5 : steps;
    const whole = Math.floor(shifted);
    const uncertain = shifted * RELATIVE_ERROR;
    const nearEdge = shifted - whole < uncertain || whole + 1 - shifted < uncertain;
    return (nearEdge ? this.#exactSteps(price, size, whole) : whole) * this.#stepMicro;
  }

  /** Decides with whole numbers on which side of a rounding edge the fee is, if a double is too imprecise. */
  #exactSteps(price: number, size: number, estimate: number): number {
    const { rate, exponent, decimals, rounding } = this.rule;
    // A fractional exponent has no exact value.
    if (!Number.isInteger(exponent)) return estimate;
    const [digits, scale] = decimalOf(rate);
    const tick = BigInt(price);
    let numerator = BigInt(size) * digits * (tick * (BigInt(TICKS_PER_USDC) - tick)) ** BigInt(exponent);
    let denominator = BigInt(UNITS_PER_SHARE) * scale * 10n ** BigInt(8 * exponent);
    if (this.#onCost) {
      numerator *= tick;
      denominator *= BigInt(TICKS_PER_USDC);
    }
    numerator *= 10n ** BigInt(decimals);
    if (numerator < denominator) return 0;
    return Number(
      rounding === 'half_up' ? (2n * numerator + denominator) / (2n * denominator) : numerator / denominator,
    );
  }
}

/** The digits of a rate ("0.072") and the power of ten below them. */
function decimalOf(rate: number): [digits: bigint, scale: bigint] {
  const text = rate.toFixed(12);
  return [BigInt(text.replace('.', '')), 10n ** 12n];
}
