import { slippageOf } from '../fills/engine.ts';
import { averagePrice, type Fill, type FilledLevel } from '../fills/walk.ts';
import type { Ledger, Posting } from '../ledger.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Token } from '../signals/signal.ts';

/** Why a position ended. */
export type ExitReason = 'resolved' | 'take_profit' | 'stop_loss' | 'market_void';

/** A position for reports. Money is whole micro-USD, prices are USDC per share, times Unix milliseconds. */
export interface Trade {
  readonly token: Token;
  readonly decidedMs: number;
  readonly openedMs: number;
  /** Null while any share is held. */
  readonly closedMs: number | null;
  /** Units of 1/1,000,000 share bought. */
  readonly size: number;
  readonly entryPrice: number;
  /** Average price at which all shares were sold or settled, before fees; null while any is held. */
  readonly exitPrice: number | null;
  /** Reason for the exit of the last shares. */
  readonly exitReason: ExitReason | null;
  readonly principal: number;
  readonly fees: number;
  /** Best ask at the decision to buy. */
  readonly decisionPrice: number;
  /** Average entry price minus the decision price. */
  readonly entrySlippage: number;
  /**
   * Best bid at the decision to sell minus the sale price, averaged over all sales by shares. Null while any share is
   * held, and if the venue paid out all.
   */
  readonly exitSlippage: number | null;
  /** Levels the purchase walked; null: opened by a release that did not store it. */
  readonly entryLevels: number | null;
  /** Levels of all sales together; null if `exitSlippage` is. */
  readonly exitLevels: number | null;
  /** After all fees; null while any share is held. */
  readonly pnl: number | null;
}

/** A decided exit; shares are offered again until all are sold. */
interface Exiting {
  readonly reason: 'take_profit' | 'stop_loss';
  /** Time of the decision. */
  readonly sinceMs: number;
}

/** Shares that left a position, and their proceeds. */
interface Leaving {
  readonly timeMs: number;
  readonly size: number;
  /** At which prices; `proceeds` are rounded. */
  readonly levels: readonly FilledLevel[];
  readonly proceeds: number;
  readonly fee: number;
  readonly reason: ExitReason;
  /** Slippage of a sale; null: a payout. */
  readonly slippage: number | null;
}

interface Exit {
  readonly of: Leaving;
  readonly posting: Posting;
}

/** Shares of one token from their purchase until the last one is gone, with all ledger postings. */
export class Position {
  readonly token: Token;
  readonly openedMs: number;
  readonly #decidedMs: number;
  /** Best ask at the decision, in ticks. */
  readonly #best: number;
  readonly #entry: Fill;
  readonly #entryPosting: Posting;
  readonly #ledger: Ledger;
  #exits: Exit[] = [];
  /** Shares still held, in units. */
  left: number;
  exiting: Exiting | null = null;
  #costLeft: number;

  constructor(
    ledger: Ledger,
    opened: { token: Token; decidedMs: number; openedMs: number; fill: Fill; best: number },
  ) {
    this.#ledger = ledger;
    this.token = opened.token;
    this.openedMs = opened.openedMs;
    this.#decidedMs = opened.decidedMs;
    this.#best = opened.best;
    this.#entry = opened.fill;
    this.left = opened.fill.size;
    this.#costLeft = opened.fill.principal;
    this.#entryPosting = ledger.buy(opened.fill);
  }

  /** @param sale `best`: best bid at the decision, in ticks. */
  sell(timeMs: number, fill: Fill, { reason, best }: { reason: ExitReason; best: number }): void {
    const { size, levels, principal: proceeds, fee } = fill;
    this.#exit({ timeMs, size, levels, proceeds, fee, reason, slippage: slippageOf('sell', fill, best) });
  }

  /** Filled orders: its purchase and its sales. */
  get fills(): number {
    return 1 + this.#exits.filter(isSale).length;
  }

  /** @param payout USDC that a share of this token pays; null: annulled, the cost of the shares is refunded. */
  settle(timeMs: number, payout: number | null): void {
    const size = this.left;
    if (payout === null) {
      const part = size / this.#entry.size;
      const levels = this.#entry.levels.map((level) => ({ price: level.price, size: level.size * part }));
      const proceeds = this.#costLeft;
      this.#exit({ timeMs, size, levels, proceeds, fee: 0, reason: 'market_void', slippage: null });
      return;
    }
    const levels = [{ price: payout * TICKS_PER_USDC, size }];
    const proceeds = Math.floor(size * payout);
    this.#exit({ timeMs, size, levels, proceeds, fee: 0, reason: 'resolved', slippage: null });
  }

  /**
   * Reverses fills and exit decisions after a time, because the book since then has turned out to be unknown.
   * @returns The state of the position afterwards.
   */
  reverseSince(timeMs: number): 'kept' | 'reopened' | 'gone' {
    const kept = this.#exits.filter(({ of }) => of.timeMs <= timeMs);
    const changed = kept.length < this.#exits.length;
    for (const exit of this.#exits.slice(kept.length)) {
      this.#ledger.reverse(exit.posting);
      this.left += exit.of.size;
      this.#costLeft -= exit.posting.positions;
    }
    this.#exits = kept;
    if (this.exiting !== null && this.exiting.sinceMs > timeMs) this.exiting = null;
    if (this.openedMs > timeMs) {
      this.#ledger.reverse(this.#entryPosting);
      return 'gone';
    }
    return changed ? 'reopened' : 'kept';
  }

  trade(): Trade {
    const { size, principal } = this.#entry;
    const exits = this.#exits;
    const last = this.left === 0 ? exits.at(-1) : undefined;
    let [proceeds, fees] = [0, this.#entry.fee];
    for (const { of } of exits) {
      proceeds += of.proceeds;
      fees += of.fee;
    }
    const sold = last === undefined ? null : soldOf(exits);
    return {
      token: this.token,
      decidedMs: this.#decidedMs,
      openedMs: this.openedMs,
      closedMs: last?.of.timeMs ?? null,
      size,
      entryPrice: averagePrice(this.#entry),
      exitPrice: last === undefined ? null : averagePrice({ levels: levelsOf(exits), size }),
      exitReason: last?.of.reason ?? null,
      principal,
      fees,
      decisionPrice: this.#best / TICKS_PER_USDC,
      entrySlippage: slippageOf('buy', this.#entry, this.#best),
      exitSlippage: sold?.slippage ?? null,
      entryLevels: this.#entry.levels.length,
      exitLevels: sold?.levels ?? null,
      pnl: last === undefined ? null : proceeds - principal - fees,
    };
  }

  #exit(of: Leaving): void {
    const { size, proceeds, fee } = of;
    const cost = size === this.left ? this.#costLeft : partOf(this.#costLeft, size, this.left);
    this.#exits.push({ of, posting: this.#ledger.close({ proceeds, fee, cost }) });
    this.left -= size;
    this.#costLeft -= cost;
  }
}

function isSale({ of }: Exit): boolean {
  return of.slippage !== null;
}

/** Average slippage of the sales by shares, and the levels they walked; null if nothing was sold. */
function soldOf(exits: readonly Exit[]): { slippage: number; levels: number } | null {
  let [sales, size, weighted, levels] = [0, 0, 0, 0];
  let slippage = 0;
  for (const { of } of exits) {
    if (of.slippage === null) continue;
    sales++;
    slippage = of.slippage;
    size += of.size;
    weighted += of.slippage * of.size;
    levels += of.levels.length;
  }
  if (sales === 0) return null;
  // Exact for a single sale: not divided by its shares.
  return { slippage: sales === 1 ? slippage : weighted / size, levels };
}

function levelsOf(exits: readonly Exit[]): readonly FilledLevel[] {
  const [first] = exits;
  return exits.length === 1 && first !== undefined ? first.of.levels : exits.flatMap(({ of }) => of.levels);
}

/** floor(amount x part / whole), exact if the product is beyond 2^53. */
function partOf(amount: number, part: number, whole: number): number {
  return Number((BigInt(amount) * BigInt(part)) / BigInt(whole));
}
