/**
 * One strategy on one market, as a state machine: rows in, orders and fills out. Backtests, sweeps and paper trading
 * all run this; only the source of the rows differs.
 * An order meets the book in force when latency and hold have passed. Only a later message of the market proves that
 * this book was current. So the order is matched when that message arrives, against the book of its due time: a feed
 * that was dead by then fills nothing.
 */
import type { ReplayParams } from '../../schema/strategy.ts';
import { Consumption } from '../fills/consumption.ts';
import {
  type Best,
  dueTime,
  fillTaker,
  limitOf,
  midSide,
  type TakerOrder,
  whyNothing,
} from '../fills/engine.ts';
import type { Fill } from '../fills/walk.ts';
import type { Ledger } from '../ledger.ts';
import { MarketRules } from '../marketRules.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Token } from '../signals/signal.ts';
import type { Crossing } from '../strategies/condition.ts';
import type { ReadingColumns } from '../strategies/readingColumns.ts';
import {
  BUY_NO,
  BUY_YES,
  type CompiledStrategy,
  type Intent,
  STOP_LOSS,
  type StrategyRun,
  TAKE_PROFIT,
} from '../strategies/strategy.ts';
import { type ExitReason, Position, type Trade } from './position.ts';
import { PositionBook } from './positionBook.ts';
import { bestAt, firstRow, ROW_BOOK, ROW_GAP_KNOWN, type Rows } from './rows.ts';
import type { MissReason, OrderCounts, SessionListener } from './sessionEvents.ts';
import type { Ladders, Resolution, TapeMarket } from './tape.ts';

export interface SessionTerms {
  readonly strategy: CompiledStrategy;
  /** Maximum whole micro-USD spent on shares per purchase. */
  readonly size: number;
  readonly params: ReplayParams;
}

interface PendingOrder {
  readonly order: TakerOrder;
  readonly placedMs: number;
  readonly dueMs: number;
  /** In ticks, at the decision. */
  readonly best: number;
  readonly reason: ExitReason | null;
}

/** The rows of a market, and the books that they refer to. */
export interface SessionMarket {
  readonly market: TapeMarket;
  readonly rows: Rows;
  /** Null: no book was recorded; then only the fill mode `mid` works. */
  readonly ladders: Ladders | null;
  /** For sessions that share them. */
  readonly rules?: MarketRules;
  /** Of all rows, if they exist. */
  readonly columns?: ReadingColumns;
}

/** Receive time until which new positions may be opened; existing positions run to exit or resolution. */
export interface Entries {
  untilMs: number;
}

/**
 * No member holds a closure: V8 allocates a function that is assigned to a member in old memory, and one that refers to
 * its session keeps all of a replay alive until a full collection. That cost a third of the time of a trading run.
 */
export class MarketSession {
  readonly #market: TapeMarket;
  readonly #rows: Rows;
  readonly #terms: SessionTerms;
  readonly #run: StrategyRun;
  readonly #ledger: Ledger;
  readonly #listener: SessionListener | null;
  readonly #entries: Readonly<Entries>;
  readonly #consumption = new Consumption();
  readonly #ladders: Ladders | null;
  readonly #rules: MarketRules;
  /** In ticks; the slippage is infinite without a limit. */
  readonly #limits: { readonly maxSlippage: number; readonly maxFillPrice: number };
  readonly #positions: PositionBook;
  #pending: PendingOrder | null = null;
  /** The newest processed row. */
  #row = -1;
  #book = -1;
  /** The newest proven book, which `#consumption` has observed. */
  #observed = -1;
  #trusted = false;
  /** The best prices before the current row, kept only while an order is in flight. */
  #best: Best = { bid: Number.NaN, ask: Number.NaN };
  #placed = 0;
  #filled = 0;
  #takenBack = 0;
  readonly #missed: Record<MissReason, number> = { no_depth: 0, price: 0, untrusted: 0, unconfirmed: 0 };

  constructor(
    { market, rows, ladders, rules = new MarketRules(market), columns }: SessionMarket,
    {
      terms,
      ledger,
      listener = null,
      entries = { untilMs: Number.POSITIVE_INFINITY },
    }: {
      terms: SessionTerms;
      ledger: Ledger;
      listener?: SessionListener | null;
      entries?: Readonly<Entries>;
    },
  ) {
    this.#market = market;
    this.#rows = rows;
    this.#rules = rules;
    this.#terms = terms;
    this.#ledger = ledger;
    this.#listener = listener;
    this.#entries = entries;
    const { strategy } = terms;
    this.#run =
      (columns === undefined ? undefined : strategy.startRecorded?.(columns)) ?? strategy.start(rows, market);
    this.#positions = new PositionBook(terms.strategy);
    const { max_fill_price, max_slippage } = terms.params;
    const maxSlippage = max_slippage === null ? Number.POSITIVE_INFINITY : ticksOf(max_slippage);
    this.#limits = { maxSlippage, maxFillPrice: ticksOf(max_fill_price) };
    this.#ladders = ladders;
  }

  /** Processes a row. Rows must come in order, each once; rows that `next` skips may be left out. */
  step(row: number): void {
    const rows = this.#rows;
    if (row > this.#row + 1) this.#pass(row - 1);
    this.#row = row;
    const timeMs = rows.timeMs[row] as number;
    if (this.#pending !== null && this.#isDue(this.#pending, row)) this.#match(this.#pending, timeMs);
    if (rows.kind[row] === ROW_GAP_KNOWN) this.#reverse(rows.gapStartMs[row] as number, timeMs);
    this.#show(row);
    if (timeMs < this.#market.endTimeMs) {
      const intent = this.#run.decide(row, this.#positions.held?.token ?? null);
      if (this.#trusted && this.#pending === null) this.#act(intent, row, timeMs);
    }
    if (this.#pending !== null) this.#best = bestAt(rows, row, this.#pending.order.token);
  }

  /**
   * For recorded rows: the next row to process; `rows.count` if there is none. At the rows before it the strategy has
   * no intent, no order is matched and no gap becomes known, so they change only the book in force.
   */
  next(): number {
    const from = this.#row + 1;
    const { nextWish } = this.#run;
    const pending = this.#pending;
    if (nextWish === undefined) return from;
    if (pending !== null) return firstRow(this.#rows, from, (row) => this.#isDue(pending, row));
    if (this.finished) return firstRow(this.#rows, from, () => false);
    const { held } = this.#positions;
    return held?.exiting ? from : nextWish(from, held?.token ?? null);
  }

  /** Whether a later message of the market has arrived. */
  #isDue({ dueMs }: PendingOrder, row: number): boolean {
    return (this.#rows.kind[row] as number) <= ROW_BOOK && (this.#rows.timeMs[row] as number) > dueMs;
  }

  /** Applies skipped rows up to this one. */
  #pass(row: number): void {
    const rows = this.#rows;
    // Consumption of a level depends on every book in between.
    for (let at = this.#consumption.isEmpty ? row : this.#row + 1; at <= row; at++) this.#show(at);
    if (this.#pending !== null) this.#best = bestAt(rows, row, this.#pending.order.token);
  }

  #show(row: number): void {
    this.#book = this.#rows.book[row] as number;
    this.#trusted = this.#rows.trusted[row] === 1;
    // A level missing from an unproven book may still exist.
    if (!this.#trusted || this.#book === this.#observed) return;
    this.#observed = this.#book;
    if (!this.#consumption.isEmpty && this.#ladders !== null)
      this.#consumption.observe(this.#ladders, this.#book);
  }

  /** The venue has named the outcome: pays out the held position. */
  settle({ payoutYes, resolvedTimeMs }: Resolution): void {
    if (this.#pending !== null) this.#miss(this.#pending, resolvedTimeMs, 'unconfirmed');
    const { held } = this.#positions;
    if (held === null) return;
    held.settle(resolvedTimeMs, payoutYes === null || held.token === 'yes' ? payoutYes : 1 - payoutYes);
    this.#positions.close(held);
  }

  /**
   * It has no order in flight, no exit under way and no consumption of a displayed level: only an intent of its
   * strategy would change it.
   */
  get isIdle(): boolean {
    return this.#pending === null && this.#consumption.isEmpty && !this.#positions.held?.exiting;
  }

  get holds(): boolean {
    return this.#positions.held !== null;
  }

  /** The crossings that its strategy remembers, if that is its whole memory; else undefined. */
  get crossings(): readonly Crossing[] | undefined {
    return this.#run.crossings;
  }

  /** Only a gap's row can still change anything. */
  get finished(): boolean {
    return this.#positions.finished;
  }

  /** Not even a gap makes it need the rows until then. */
  get isDone(): boolean {
    // Reversing only some of the trades makes consumed liquidity available again.
    return this.finished && (!this.#terms.strategy.exits || this.#consumption.isEmpty);
  }

  /** All positions, oldest first; the last may be open. */
  trades(): Trade[] {
    return this.#positions.trades();
  }

  /** An order in flight counts as placed only. */
  get orders(): OrderCounts {
    const [placed, takenBack] = [this.#placed, this.#takenBack];
    return { placed, filled: this.#filled - takenBack, missed: { ...this.#missed }, takenBack };
  }

  #act(intent: Intent, row: number, timeMs: number): void {
    const { held } = this.#positions;
    if (held === null) {
      if (intent !== BUY_YES && intent !== BUY_NO) return;
      const mayEnter =
        timeMs >= this.#market.startTimeMs && timeMs < this.#entries.untilMs && this.#positions.mayOpen;
      if (!mayEnter) return;
      const token: Token = intent === BUY_YES ? 'yes' : 'no';
      const best = bestAt(this.#rows, row, token).ask;
      const limitPrice = limitOf('buy', { best, ...this.#limits });
      this.#place({ kind: 'buy', token, budget: this.#terms.size, limitPrice }, best, timeMs);
      return;
    }
    if (intent === STOP_LOSS) held.exiting ??= { reason: 'stop_loss', sinceMs: timeMs };
    else if (intent === TAKE_PROFIT) held.exiting ??= { reason: 'take_profit', sinceMs: timeMs };
    if (held.exiting === null) return;
    const best = bestAt(this.#rows, row, held.token).bid;
    const limitPrice = limitOf('sell', { best, ...this.#limits });
    this.#place({ kind: 'sell', token: held.token, size: held.left, limitPrice }, best, timeMs);
  }

  /**
   * Does not place an order that would meet the book only after the window's end, or that has no price. Without any
   * book received it does not place one that has to walk the book: whether the recording has books is not known yet.
   */
  #place(order: TakerOrder, best: number, placedMs: number): void {
    if (this.#terms.params.fill_mode === 'walk_book' && this.#book < 0) return;
    const takerHoldMs = this.#rules.takerHoldMs(placedMs);
    const dueMs = dueTime(placedMs, { latencyMs: this.#terms.params.latency_ms, takerHoldMs });
    if (dueMs >= this.#market.endTimeMs || Number.isNaN(best)) return;
    this.#pending = { order, placedMs, dueMs, best, reason: this.#positions.held?.exiting?.reason ?? null };
    this.#placed++;
    this.#listener?.({ kind: 'order', knownMs: placedMs, dueMs, order });
  }

  #match(pending: PendingOrder, knownMs: number): void {
    const { order, dueMs } = pending;
    if (!this.#trusted || this.#best.bid > this.#best.ask) {
      this.#miss(pending, knownMs, 'untrusted');
      return;
    }
    const fill = this.#fill(order, dueMs);
    if (typeof fill === 'string') {
      this.#miss(pending, knownMs, fill);
      return;
    }
    this.#pending = null;
    this.#filled++;
    this.#listener?.({ kind: 'fill', knownMs, timeMs: dueMs, order, fill });
    if (order.kind === 'buy') this.#open(pending, fill);
    else this.#sold(pending, fill);
  }

  /** @returns The fill, or why there is none. */
  #fill(order: TakerOrder, dueMs: number): Fill | MissReason {
    // The rule in force when the order trades, not when it is replayed.
    const fee = this.#rules.fee(dueMs);
    const { token, kind } = order;
    if (this.#terms.params.fill_mode === 'mid') {
      const mid = midSide(kind, this.#best);
      return fillTaker(order, mid, fee) ?? whyNothing(mid);
    }
    if (this.#book < 0) return 'no_depth';
    if (this.#ladders === null) throw new RangeError(`no books of ${this.#market.marketId}`);
    const side = kind === 'buy' ? 'asks' : 'bids';
    const shown = this.#ladders.side(this.#book, token, side);
    const remaining = this.#consumption.remaining(token, side, shown);
    const fill = fillTaker(order, remaining, fee);
    if (fill === null) return whyNothing(remaining);
    this.#consumption.consume({ token, side, view: shown, filled: fill.levels, timeMs: dueMs });
    return fill;
  }

  #open({ order, placedMs, dueMs, best }: PendingOrder, fill: Fill): void {
    const opened = { token: order.token, decidedMs: placedMs, openedMs: dueMs, fill, best };
    this.#positions.open(new Position(this.#ledger, opened));
  }

  #sold({ dueMs, reason, best }: PendingOrder, fill: Fill): void {
    const { held } = this.#positions;
    if (held === null || reason === null) throw new RangeError('a sale without a position');
    held.sell(dueMs, fill, { reason, best });
    if (held.left === 0) this.#positions.close(held);
  }

  #miss({ order }: PendingOrder, knownMs: number, reason: MissReason): void {
    this.#pending = null;
    this.#missed[reason]++;
    this.#listener?.({ kind: 'miss', knownMs, order, reason });
  }

  /** A gap reaches back to its last good receive time: fills since then used a book that did not exist. */
  #reverse(sinceMs: number, knownMs: number): void {
    const pending = this.#pending;
    // The feed was still good at `sinceMs`, so an order due by then met the known book.
    if (pending !== null && pending.dueMs <= sinceMs) this.#match(pending, knownMs);
    else if (pending !== null) this.#miss(pending, knownMs, 'untrusted');
    this.#consumption.reverseSince(sinceMs);
    const fills = this.#positions.reverseSince(sinceMs);
    if (fills === null) return;
    this.#takenBack += fills;
    this.#listener?.({ kind: 'taken_back', knownMs, sinceMs });
  }
}

/** A request's price in ticks, rounded down between two ticks. */
function ticksOf(price: number): number {
  return Math.floor(price * TICKS_PER_USDC + 1e-6);
}
