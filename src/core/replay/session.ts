/**
 * One strategy on one market, as a state machine: rows in, orders and fills out. Backtests, sweeps and paper trading
 * all run this; only where the rows come from differs.
 *
 * An order meets the book in force when latency and hold have passed. Whether that book was the true one is known
 * only when a later message of the market has come, so it is matched then, against the book of its due time: a feed
 * that had died by then fills nothing.
 */
import type { ReplayParams } from '../../schema/strategy.ts';
import { Consumption, type ReadSide } from '../fills/consumption.ts';
import { type Best, dueTime, fillTaker, midSide, slippageOf, type TakerOrder } from '../fills/engine.ts';
import type { Fill } from '../fills/walk.ts';
import type { Ledger } from '../ledger.ts';
import { MarketRules } from '../marketRules.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Token } from '../signals/signal.ts';
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
import { ROW_BOOK, ROW_GAP_KNOWN, type Rows } from './rows.ts';
import type { Ladders, Resolution, TapeMarket } from './tape.ts';

export interface SessionTerms {
  readonly strategy: CompiledStrategy;
  /** Whole micro-USD spent on shares at most, each time one buys. */
  readonly size: number;
  readonly params: ReplayParams;
}

/** Why an order got nothing. */
export type MissReason =
  /** Nothing was for sale (bid) within the limit. */
  | 'no_depth'
  /** The book in force was not proven, or lay in a gap. */
  | 'untrusted'
  /** No later message of the market came. */
  | 'unconfirmed';

/** What a session did, in order. `knownMs`: receipt of the row at which it was known. */
export type SessionEvent =
  | { readonly kind: 'order'; readonly knownMs: number; readonly dueMs: number; readonly order: TakerOrder }
  | {
      readonly kind: 'fill';
      readonly knownMs: number;
      readonly timeMs: number;
      readonly order: TakerOrder;
      readonly fill: Fill;
    }
  | {
      readonly kind: 'miss';
      readonly knownMs: number;
      readonly order: TakerOrder;
      readonly reason: MissReason;
    }
  /** A gap that reaches back to `sinceMs` was found: what was dealt since is taken back. */
  | { readonly kind: 'taken_back'; readonly knownMs: number; readonly sinceMs: number };

export type SessionListener = (event: SessionEvent) => void;

interface PendingOrder {
  readonly order: TakerOrder;
  readonly placedMs: number;
  readonly dueMs: number;
  /** In ticks, at the decision. */
  readonly best: number;
  readonly reason: ExitReason | null;
}

/** The rows of a market, and the books they name. */
export interface SessionMarket {
  readonly market: TapeMarket;
  readonly rows: Rows;
  /** Null: no book was recorded; then only the mid can be dealt at. */
  readonly ladders: Ladders | null;
  /** Where sessions share them. */
  readonly rules?: MarketRules;
}

/** Until when new positions may be opened, by receipt; what is held is dealt with to its end. */
export interface Entries {
  untilMs: number;
}

const NO_END: Entries = { untilMs: Number.POSITIVE_INFINITY };

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
  readonly #read: ReadSide;
  readonly #limitPrice: number;
  #pending: PendingOrder | null = null;
  #position: Position | null = null;
  #closed: Position[] = [];
  #book = -1;
  #trusted = false;
  /** In force before the running row, kept only while an order is on its way. */
  #best: Best = { bid: Number.NaN, ask: Number.NaN };
  readonly missed: Record<MissReason, number> = { no_depth: 0, untrusted: 0, unconfirmed: 0 };
  /** No row but a gap's can change anything any more. */
  finished = false;

  constructor(
    { market, rows, ladders, rules = new MarketRules(market) }: SessionMarket,
    {
      terms,
      ledger,
      listener = null,
      entries = NO_END,
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
    this.#run = terms.strategy.start(rows, market);
    this.#limitPrice = Math.floor(terms.params.max_fill_price * TICKS_PER_USDC + 1e-6);
    this.#ladders = ladders;
    this.#read = (token, side) => {
      if (ladders === null) throw new RangeError(`no books of ${market.marketId}`);
      return ladders.side(this.#book, token, side);
    };
  }

  /** Takes the next row. Rows have to come in order, each once. */
  step(row: number): void {
    const rows = this.#rows;
    const timeMs = rows.timeMs[row] as number;
    const kind = rows.kind[row] as number;
    if (this.#pending !== null && kind <= ROW_BOOK && timeMs > this.#pending.dueMs)
      this.#match(this.#pending, timeMs);
    if (kind === ROW_GAP_KNOWN) this.#takeBack(rows.gapStartMs[row] as number, timeMs);
    const book = rows.book[row] as number;
    if (book !== this.#book) {
      this.#book = book;
      if (!this.#consumption.isEmpty && this.#ladders !== null)
        this.#consumption.observe(this.#read, this.#ladders.isMirrored(book));
    }
    this.#trusted = rows.trusted[row] === 1;
    if (timeMs < this.#market.endTimeMs) {
      const intent = this.#run.decide(row, this.#position?.token ?? null);
      if (this.#trusted && this.#pending === null) this.#act(intent, row, timeMs);
    }
    if (this.#pending !== null) this.#best = bestAt(rows, row, this.#pending.order.token);
  }

  /** The venue has named the outcome: what is held is paid out. */
  settle({ payoutYes, resolvedTimeMs }: Resolution): void {
    if (this.#pending !== null) this.#miss(this.#pending, resolvedTimeMs, 'unconfirmed');
    const position = this.#position;
    if (position === null) return;
    position.settle(
      resolvedTimeMs,
      payoutYes === null || position.token === 'yes' ? payoutYes : 1 - payoutYes,
    );
    this.#close(position);
  }

  /** All positions, oldest first; the last may be open. */
  trades(): Trade[] {
    const all = this.#position === null ? this.#closed : [...this.#closed, this.#position];
    return all.map((position) => position.trade());
  }

  #act(intent: Intent, row: number, timeMs: number): void {
    const position = this.#position;
    if (position === null) {
      if (intent !== BUY_YES && intent !== BUY_NO) return;
      const mayEnter =
        timeMs >= this.#market.startTimeMs &&
        timeMs < this.#entries.untilMs &&
        this.#closed.length < this.#terms.strategy.tradesMax;
      if (!mayEnter) return;
      const token: Token = intent === BUY_YES ? 'yes' : 'no';
      const order = { kind: 'buy', token, budget: this.#terms.size, limitPrice: this.#limitPrice } as const;
      this.#place(order, bestAt(this.#rows, row, token).ask, timeMs);
      return;
    }
    if (intent === STOP_LOSS) position.exiting ??= { reason: 'stop_loss', sinceMs: timeMs };
    else if (intent === TAKE_PROFIT) position.exiting ??= { reason: 'take_profit', sinceMs: timeMs };
    if (position.exiting === null) return;
    const order = { kind: 'sell', token: position.token, size: position.left } as const;
    this.#place(order, bestAt(this.#rows, row, position.token).bid, timeMs);
  }

  /** An order that would meet the book only after the window's end is not placed, nor one without a price to meet. */
  #place(order: TakerOrder, best: number, placedMs: number): void {
    const { endTimeMs } = this.#market;
    const takerHoldMs = this.#rules.takerHoldMs(placedMs);
    const dueMs = dueTime(placedMs, { latencyMs: this.#terms.params.latency_ms, takerHoldMs });
    if (dueMs >= endTimeMs || Number.isNaN(best)) return;
    this.#pending = { order, placedMs, dueMs, best, reason: this.#position?.exiting?.reason ?? null };
    this.#listener?.({ kind: 'order', knownMs: placedMs, dueMs, order });
  }

  #match(pending: PendingOrder, knownMs: number): void {
    const { order, dueMs } = pending;
    if (!this.#trusted || this.#best.bid > this.#best.ask) {
      this.#miss(pending, knownMs, 'untrusted');
      return;
    }
    const fill = this.#fill(order, dueMs);
    if (fill === null) {
      this.#miss(pending, knownMs, 'no_depth');
      return;
    }
    this.#pending = null;
    this.#listener?.({ kind: 'fill', knownMs, timeMs: dueMs, order, fill });
    if (order.kind === 'buy') this.#open(pending, fill);
    else this.#sold(pending, fill);
  }

  #fill(order: TakerOrder, dueMs: number): Fill | null {
    // The rule of the day the order trades, not of the day it is replayed.
    const fee = this.#rules.fee(dueMs);
    const { token, kind } = order;
    if (this.#terms.params.fill_mode === 'mid') return fillTaker(order, midSide(kind, this.#best), fee);
    if (this.#book < 0) return null;
    const side = kind === 'buy' ? 'asks' : 'bids';
    const shown = this.#read(token, side);
    const fill = fillTaker(order, this.#consumption.remaining(token, side, shown), fee);
    if (fill !== null)
      this.#consumption.take({ token, side, view: shown, filled: fill.levels, timeMs: dueMs });
    return fill;
  }

  #open({ order, placedMs, dueMs, best }: PendingOrder, fill: Fill): void {
    const slippage = slippageOf('buy', fill, best);
    const opened = { token: order.token, decidedMs: placedMs, openedMs: dueMs, fill, slippage };
    this.#position = new Position(this.#ledger, opened);
    this.#updateFinished();
  }

  #sold({ dueMs, reason }: PendingOrder, fill: Fill): void {
    const position = this.#position;
    if (position === null || reason === null) throw new RangeError('a sale of what is not held');
    position.sell(dueMs, fill, reason);
    if (position.left === 0) this.#close(position);
  }

  #close(position: Position): void {
    this.#closed.push(position);
    this.#position = null;
    this.#updateFinished();
  }

  #miss({ order }: PendingOrder, knownMs: number, reason: MissReason): void {
    this.#pending = null;
    this.missed[reason]++;
    this.#listener?.({ kind: 'miss', knownMs, order, reason });
  }

  /** A gap reaches back to its last good receipt: what was dealt since then was dealt on a book nobody had. */
  #takeBack(sinceMs: number, knownMs: number): void {
    const pending = this.#pending;
    // The feed was still good at `sinceMs`, so what was due by then met the book we have.
    if (pending !== null && pending.dueMs <= sinceMs) this.#match(pending, knownMs);
    else if (pending !== null) this.#miss(pending, knownMs, 'untrusted');
    this.#consumption.takeBackSince(sinceMs);
    const before = this.#position === null ? this.#closed : [...this.#closed, this.#position];
    const left = before
      .map((position) => ({ position, became: position.takeBackSince(sinceMs) }))
      .filter(({ became }) => became !== 'gone');
    const reopened = left.some(({ became }) => became === 'reopened');
    if (!reopened && left.length === before.length) return;
    this.#position = left.find(({ position }) => position.left > 0)?.position ?? null;
    this.#closed = left.map(({ position }) => position).filter((position) => position !== this.#position);
    this.#updateFinished();
    this.#listener?.({ kind: 'taken_back', knownMs, sinceMs });
  }

  #updateFinished(): void {
    const { strategy } = this.#terms;
    this.finished = this.#position === null ? this.#closed.length >= strategy.tradesMax : !strategy.exits;
  }
}

function bestAt({ yesBid, yesAsk, noBid, noAsk }: Rows, row: number, token: Token): Best {
  return token === 'yes'
    ? { bid: yesBid[row] as number, ask: yesAsk[row] as number }
    : { bid: noBid[row] as number, ask: noAsk[row] as number };
}
