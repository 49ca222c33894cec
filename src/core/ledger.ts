/**
 * The money of one account in whole micro-USD, as double-entry bookkeeping: the amounts of every posting sum to 0. So
 * the deposit always equals cash, cost of the positions, fees paid, and the trading loss (or minus the profit).
 */

/** The amounts of one event; the four always sum to 0. */
export interface Posting {
  readonly cash: number;
  /** At cost, without fees. */
  readonly positions: number;
  readonly fees: number;
  /** Trading profit with the sign turned: money that came from others. */
  readonly won: number;
}

export class Ledger {
  /** May fall below 0: orders have sizes of their own, not shares of a budget. */
  #cash: number;
  #positions = 0;
  #fees = 0;
  #won = 0;
  readonly deposit: number;

  /** @param deposit Whole micro-USD. */
  constructor(deposit = 0) {
    this.deposit = whole(deposit);
    this.#cash = deposit;
  }

  get cash(): number {
    return this.#cash;
  }

  /** Open positions, at cost without fees. */
  get positions(): number {
    return this.#positions;
  }

  get fees(): number {
    return this.#fees;
  }

  /** Profit of closed positions minus their losses, before fees. */
  get won(): number {
    return 0 - this.#won;
  }

  /** Posts a purchase of shares. */
  buy({ principal, fee }: { principal: number; fee: number }): Posting {
    return this.#post({ cash: -principal - fee, positions: principal, fees: fee, won: 0 });
  }

  /** Posts shares that left for `proceeds` (sold, redeemed at the payout, or annulled at cost). */
  close({ proceeds, fee, cost }: { proceeds: number; fee: number; cost: number }): Posting {
    return this.#post({ cash: proceeds - fee, positions: -cost, fees: fee, won: cost - proceeds });
  }

  /** Reverses a posting. */
  reverse({ cash, positions, fees, won }: Posting): Posting {
    return this.#post({ cash: -cash, positions: -positions, fees: -fees, won: -won });
  }

  #post(posting: Posting): Posting {
    const { cash, positions, fees, won } = posting;
    if (whole(cash) + whole(positions) + whole(fees) + whole(won) !== 0) {
      throw new RangeError(`not balanced: ${JSON.stringify(posting)}`);
    }
    this.#cash = whole(this.#cash + cash);
    this.#positions = whole(this.#positions + positions);
    this.#fees = whole(this.#fees + fees);
    this.#won = whole(this.#won + won);
    return posting;
  }
}

/** Beyond 2^53 sums would no longer be exact. */
function whole(micro: number): number {
  if (!Number.isSafeInteger(micro)) throw new RangeError(`not a whole amount of micro-USD: ${micro}`);
  return micro;
}
