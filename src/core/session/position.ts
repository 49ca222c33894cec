import { slippageOf } from '../fills/engine.ts';
import { averagePrice, type Fill, type FilledLevel } from '../fills/walk.ts';
import type { Ledger, Posting } from '../ledger.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Token } from '../signals/signal.ts';

/** Why a position ended. */
export type ExitReason = 'resolved' | 'take_profit' | 'stop_loss' | 'market_void';

/**
 * A position for reports. Money is whole micro-USD, prices are USDC per share, times Unix milliseconds. `Own`: reasons
 * for exits that the owner of the position adds.
 */
export interface Trade<Own extends string = never> {
  readonly token: Token;
  /** Of the first purchase, as is `openedMs`. */
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
  readonly exitReason: ExitReason | Own | null;
  readonly principal: number;
  readonly fees: number;
  /** Best ask at the decision to buy, averaged over all purchases by shares. */
  readonly decisionPrice: number;
  /** Average entry price minus the decision price. */
  readonly entrySlippage: number;
  /**
   * Best bid at the decision to sell minus the sale price, averaged over all sales by shares. Null while any share is
   * held, and if the venue paid out all.
   */
  readonly exitSlippage: number | null;
  /** Levels that the purchases walked; null: opened by a release that did not store it. */
  readonly entryLevels: number | null;
  /** Levels of all sales together; null if `exitSlippage` is. */
  readonly exitLevels: number | null;
  /** After all fees; null while any share is held. */
  readonly pnl: number | null;
}

/** A trade without its details, as `Trade`. */
export type TradeResult = Pick<Trade, 'closedMs' | 'pnl'>;

/** A change of the cost of open positions, whole micro-USD without fees. */
export interface CostChange {
  readonly timeMs: number;
  readonly change: number;
  /**
   * Place among the changes of one time: money that returns (0) counts before money that leaves (1), but not before it
   * has left itself (2).
   */
  readonly rank: 0 | 1 | 2;
}

/** A decided exit; shares are offered again until all are sold. */
interface Exiting {
  readonly reason: 'take_profit' | 'stop_loss';
  /** Time of the decision. */
  readonly sinceMs: number;
}

/** Shares that left a position, and their proceeds. */
interface Leaving<Own extends string> {
  readonly timeMs: number;
  readonly size: number;
  /** At which prices; `proceeds` are rounded. */
  readonly levels: readonly FilledLevel[];
  readonly proceeds: number;
  readonly fee: number;
  readonly reason: ExitReason | Own;
  /** Slippage of a sale; null: a payout. */
  readonly slippage: number | null;
}

interface Exit<Own extends string> {
  readonly of: Leaving<Own>;
  readonly posting: Posting;
  /** Its place among the purchases and exits in the order in which they became known. */
  readonly place: number;
}

/** One fill of a purchase. */
interface Purchase {
  readonly decidedMs: number;
  readonly openedMs: number;
  readonly fill: Fill;
  /** Best ask at the decision, in ticks. */
  readonly best: number;
}

interface Entry extends Purchase {
  readonly posting: Posting;
  /** As that of an exit. */
  readonly place: number;
}

/** Shares of one token from their first purchase until the last one is gone, with all ledger postings. */
export class Position<Own extends string = never> {
  readonly token: Token;
  readonly #ledger: Ledger;
  /**
   * In the order in which they became known; a trade may fill a resting order before an earlier fill of a taker is
   * confirmed. Never empty, except after the position was reversed.
   */
  #entries: Entry[] = [];
  #exits: Exit<Own>[] = [];
  /** Shares still held, in units. */
  left = 0;
  exiting: Exiting | null = null;
  #costLeft = 0;
  #places = 0;

  constructor(ledger: Ledger, { token, ...first }: Purchase & { readonly token: Token }) {
    this.#ledger = ledger;
    this.token = token;
    this.buy(first);
  }

  /** Adds a purchase. */
  buy(purchase: Purchase): void {
    const { fill } = purchase;
    this.left += fill.size;
    this.#costLeft += fill.principal;
    this.#entries.push({ ...purchase, posting: this.#ledger.buy(fill), place: this.#places++ });
  }

  get openedMs(): number {
    return this.#first.openedMs;
  }

  /** Cost of the shares still held, without fees. */
  get cost(): number {
    return this.#costLeft;
  }

  /** What its purchases added to the cost of the shares held, and its exits took away, in no order. */
  get costChanges(): CostChange[] {
    const bought = new Set(this.#entries.map(({ openedMs }) => openedMs));
    return [
      ...this.#entries.map(({ openedMs, posting }) => {
        return { timeMs: openedMs, change: posting.positions, rank: 1 } as const;
      }),
      ...this.#exits.map(({ of: { timeMs }, posting }) => {
        return { timeMs, change: posting.positions, rank: bought.has(timeMs) ? 2 : 0 } as const;
      }),
    ];
  }

  /** @param sale `best`: best bid at the decision, in ticks. */
  sell(timeMs: number, fill: Fill, { reason, best }: { reason: ExitReason | Own; best: number }): void {
    const { size, levels, principal: proceeds, fee } = fill;
    this.#exit({ timeMs, size, levels, proceeds, fee, reason, slippage: slippageOf('sell', fill, best) });
  }

  /** Fills of its purchases and of its sales. */
  get fills(): number {
    return this.#entries.length + this.sales;
  }

  /** Fills of its sales. */
  get sales(): number {
    return this.#exits.filter(isSale).length;
  }

  get #first(): Entry {
    return this.#entries[0] as Entry;
  }

  /** Of all purchases together. */
  get #bought(): Fill {
    const fills = this.#entries.map(({ fill }) => fill);
    return fills.length === 1 && fills[0] !== undefined ? fills[0] : together(fills);
  }

  /** @param payout USDC that a share of this token pays; null: annulled, the cost of the shares is refunded. */
  settle(timeMs: number, payout: number | null): void {
    const size = this.left;
    if (payout === null) {
      const bought = this.#bought;
      const part = size / bought.size;
      const levels = bought.levels.map((level) => ({ price: level.price, size: level.size * part }));
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
    for (const exit of this.#exits.filter(({ of }) => of.timeMs > timeMs)) {
      this.#ledger.reverse(exit.posting);
      this.left += exit.of.size;
      this.#costLeft -= exit.posting.positions;
    }
    this.#exits = kept;
    if (this.exiting !== null && this.exiting.sinceMs > timeMs) this.exiting = null;
    return this.#reverseEntries(timeMs) ?? (changed ? 'reopened' : 'kept');
  }

  /** @returns The state of the position afterwards; null if no purchase was reversed. */
  #reverseEntries(timeMs: number): 'reopened' | 'gone' | null {
    const kept = this.#entries.filter(({ openedMs }) => openedMs <= timeMs);
    if (kept.length === this.#entries.length) return null;
    for (const { posting } of this.#entries.filter(({ openedMs }) => openedMs > timeMs))
      this.#ledger.reverse(posting);
    this.#entries = kept;
    this.#costAgain();
    return kept.length === 0 ? 'gone' : 'reopened';
  }

  /** An exit that became known after a purchase that was reversed has taken a part of its cost away. */
  #costAgain(): void {
    const exits = this.#exits;
    this.#exits = [];
    [this.left, this.#costLeft] = [0, 0];
    for (const known of [...this.#entries, ...exits].sort((a, b) => a.place - b.place)) {
      if ('fill' in known) {
        this.left += known.fill.size;
        this.#costLeft += known.fill.principal;
      } else {
        this.#ledger.reverse(known.posting);
        this.#exit(known.of, known.place);
      }
    }
  }

  trade(): Trade<Own> {
    const bought = this.#bought;
    const { size, principal } = bought;
    const { decidedMs, openedMs } = this.#first;
    const exits = this.#exits;
    const last = this.left === 0 ? exits.at(-1) : undefined;
    const fees = exits.reduce((sum, { of }) => sum + of.fee, bought.fee);
    const { closedMs, pnl } = this.result();
    const sold = last === undefined ? null : soldOf(exits);
    return {
      token: this.token,
      decidedMs,
      openedMs,
      closedMs,
      size,
      entryPrice: averagePrice(bought),
      exitPrice: last === undefined ? null : averagePrice({ levels: levelsOf(exits), size }),
      exitReason: last?.of.reason ?? null,
      principal,
      fees,
      decisionPrice: decisionPriceOf(this.#entries, size),
      entrySlippage: entrySlippageOf(this.#entries),
      exitSlippage: sold?.slippage ?? null,
      entryLevels: bought.levels.length,
      exitLevels: sold?.levels ?? null,
      pnl,
    };
  }

  /** What a sweep needs of `trade`, which costs several times as much. */
  result(): TradeResult {
    const last = this.left === 0 ? this.#exits.at(-1) : undefined;
    if (last === undefined) return { closedMs: null, pnl: null };
    let pnl = 0;
    for (const { fill } of this.#entries) pnl -= fill.principal + fill.fee;
    for (const { of } of this.#exits) pnl += of.proceeds - of.fee;
    return { closedMs: last.of.timeMs, pnl };
  }

  #exit(of: Leaving<Own>, place = this.#places++): void {
    const { size, proceeds, fee } = of;
    const cost = size === this.left ? this.#costLeft : partOf(this.#costLeft, size, this.left);
    this.#exits.push({ of, posting: this.#ledger.close({ proceeds, fee, cost }), place });
    this.left -= size;
    this.#costLeft -= cost;
  }
}

/** Several fills as one. */
function together(fills: readonly Fill[]): Fill {
  const sumOf = (of: (fill: Fill) => number) => fills.reduce((sum, fill) => sum + of(fill), 0);
  return {
    size: sumOf(({ size }) => size),
    principal: sumOf(({ principal }) => principal),
    fee: sumOf(({ fee }) => fee),
    levels: fills.flatMap(({ levels }) => levels),
  };
}

/** Average best ask of the purchases by shares; exact for a common one. */
function decisionPriceOf(entries: readonly Entry[], size: number): number {
  const levels = entries.map(({ best, fill }) => ({ price: best, size: fill.size }));
  return averagePrice({ levels, size });
}

/** Average slippage of the purchases by shares; exact for a single one. */
function entrySlippageOf(entries: readonly Entry[]): number {
  let [size, weighted, slippage] = [0, 0, 0];
  for (const { fill, best } of entries) {
    slippage = slippageOf('buy', fill, best);
    size += fill.size;
    weighted += slippage * fill.size;
  }
  return entries.length === 1 ? slippage : weighted / size;
}

function isSale({ of }: Exit<string>): boolean {
  return of.slippage !== null;
}

/** Average slippage of the sales by shares, and the levels they walked; null if nothing was sold. */
function soldOf(exits: readonly Exit<string>[]): { slippage: number; levels: number } | null {
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

function levelsOf(exits: readonly Exit<string>[]): readonly FilledLevel[] {
  const [first] = exits;
  return exits.length === 1 && first !== undefined ? first.of.levels : exits.flatMap(({ of }) => of.levels);
}

/** floor(amount x part / whole), exact if the product is beyond 2^53. */
function partOf(amount: number, part: number, whole: number): number {
  return Number((BigInt(amount) * BigInt(part)) / BigInt(whole));
}
