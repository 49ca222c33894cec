/**
 * One strategy on one market, as a state machine: rows in, orders and fills out. Backtests, sweeps and paper trading
 * all run this; only the source of the rows differs. Its desk decides what the venue makes of its orders.
 */
import type { Execution, ReplayParams } from '../../schema/strategy.ts';
import type { VenueTrade } from '../desk/limitOrder.ts';
import { MarketDesk } from '../desk/marketDesk.ts';
import type { OrderTerms } from '../desk/order.ts';
import type { Outage } from '../desk/outage.ts';
import type { DeskListener, DeskReport, MissReason } from '../desk/report.ts';
import { limitOf } from '../fills/engine.ts';
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
import { type CostChange, type ExitReason, Position, type Trade, type TradeResult } from './position.ts';
import { PositionBook } from './positionBook.ts';
import { restingPurchase } from './restingEntry.ts';
import {
  bestAt,
  bestPricesAt,
  firstGapKnown,
  firstMessageAfter,
  isMessageAfter,
  ROW_BOOK,
  ROW_GAP_KNOWN,
  type Rows,
} from './rows.ts';
import type { OrderCounts, SessionListener } from './sessionEvents.ts';
import type { Ladders, Resolution, TapeMarket } from './tape.ts';
import { TradeCursor, type TradeRows } from './tradeRows.ts';

export interface SessionTerms {
  readonly strategy: CompiledStrategy;
  /** Maximum whole micro-USD spent on shares per purchase. */
  readonly size: number;
  readonly params: ReplayParams;
  /** Omitted: purchases take. */
  readonly execution?: Execution | undefined;
}

/** A purchase that rests, or is about to. */
interface RestingEntry {
  readonly orderId: number;
  readonly decision: Decision;
  isFilled: boolean;
}

/** The decision behind an order in flight. */
interface Decision {
  readonly placedMs: number;
  /** In ticks. */
  readonly best: number;
  readonly reason: ExitReason | null;
}

interface Purchase {
  readonly token: Token;
  readonly timeMs: number;
  readonly fill: Fill;
}

const MS_PER_SECOND = 1_000;
const NO_OUTAGES: readonly Outage[] = [];

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
  /** Of a recording. In a live market each trade is given to `trade`. */
  readonly trades?: TradeRows | null;
}

/** Receive time until which new positions may be opened; existing positions run to exit or resolution. */
export interface Entries {
  untilMs: number;
}

/**
 * No member holds a closure: V8 allocates a function that is assigned to a member in old memory, and one that refers to
 * its session keeps all of a replay alive until a full collection. That cost a third of the time of a trading run.
 */
export class MarketSession implements DeskListener {
  readonly #market: TapeMarket;
  readonly #rows: Rows;
  readonly #terms: SessionTerms;
  readonly #run: StrategyRun;
  readonly #ledger: Ledger;
  readonly #listener: SessionListener | null;
  readonly #entries: Readonly<Entries>;
  readonly #desk: MarketDesk;
  /** In ticks; the slippage is infinite without a limit. */
  readonly #limits: { readonly maxSlippage: number; readonly maxFillPrice: number };
  readonly #positions: PositionBook;
  /** Of the order in flight; null: there is none. */
  #decision: Decision | null = null;
  /** Null: no purchase rests. Until it ends nothing is sold. */
  #entry: RestingEntry | null = null;
  readonly #trades: TradeCursor | null;
  /** The newest processed row. */
  #row = -1;
  #placed = 0;
  #filled = 0;
  #takenBack = 0;
  #refused = 0;
  #notReached = 0;
  readonly #missed: Record<MissReason, number> = { no_depth: 0, price: 0, untrusted: 0, unconfirmed: 0 };

  constructor(
    { market, rows, ladders, rules = new MarketRules(market), columns, trades = null }: SessionMarket,
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
    this.#terms = terms;
    this.#ledger = ledger;
    this.#listener = listener;
    this.#entries = entries;
    const { strategy, execution } = terms;
    this.#trades = trades === null || execution === undefined ? null : new TradeCursor(trades);
    this.#run =
      (columns === undefined ? undefined : strategy.startRecorded?.(columns)) ?? strategy.start(rows, market);
    this.#positions = new PositionBook(terms.strategy);
    const { max_fill_price, max_slippage, latency_ms, fill_mode } = terms.params;
    const maxSlippage = max_slippage === null ? Number.POSITIVE_INFINITY : ticksOf(max_slippage);
    this.#limits = { maxSlippage, maxFillPrice: ticksOf(max_fill_price) };
    this.#desk = new MarketDesk({
      market,
      rules,
      ladders,
      fillMode: fill_mode,
      latency: { kind: 'constant', ms: latency_ms },
      random: null,
      queueModel: execution?.queue_model ?? 'pessimistic',
      outages: NO_OUTAGES,
      countsRebate: false,
      listener: this,
    });
  }

  /** Processes a row. Rows must come in order, each once; rows that `next` skips may be left out. */
  step(row: number): void {
    const rows = this.#rows;
    const desk = this.#desk;
    if (row > this.#row + 1) this.#pass(row - 1);
    this.#row = row;
    const timeMs = rows.timeMs[row] as number;
    if (this.#entry !== null) this.#follow(row, timeMs);
    else if (this.#isDue(row)) desk.message(timeMs);
    if (rows.kind[row] === ROW_GAP_KNOWN) desk.gapKnown(rows.gapStartMs[row] as number, timeMs);
    this.#show(row);
    if (timeMs < this.#market.endTimeMs) {
      const intent = this.#run.decide(row, this.#positions.held?.token ?? null);
      if (desk.trusted && this.#decision === null) this.#act(intent, row, timeMs);
    }
    if (this.#decision !== null || this.#entry !== null) desk.quote(bestPricesAt(rows, row));
  }

  /** Call this with each trade of a live market, in order of arrival among the rows. */
  trade(trade: VenueTrade): void {
    if (this.#entry !== null) this.#desk.trade(trade);
  }

  /** While a purchase rests, the desk gets every trade and every message. */
  #follow(row: number, timeMs: number): void {
    this.#passTrades(row);
    if ((this.#rows.kind[row] as number) <= ROW_BOOK) this.#desk.message(timeMs);
    else this.#desk.advance(timeMs);
  }

  #passTrades(row: number): void {
    const trades = this.#trades;
    for (let trade = trades?.before(row); trade; trade = trades?.before(row)) this.trade(trade);
  }

  /**
   * For recorded rows: the next row to process; `rows.count` if there is none. At the rows before it the strategy has
   * no intent, no order is matched and no gap becomes known, so they change only the book in force.
   */
  next(): number {
    const from = this.#row + 1;
    const { nextWish } = this.#run;
    if (nextWish === undefined || this.#entry !== null) return from;
    if (this.#decision !== null) return firstMessageAfter(this.#rows, from, this.#desk.nextDueMs);
    if (this.finished) return firstGapKnown(this.#rows, from);
    const { held } = this.#positions;
    return held?.exiting ? from : nextWish(from, held?.token ?? null);
  }

  /** Whether the row is a later message of the market than the due time of the order in flight. */
  #isDue(row: number): boolean {
    return isMessageAfter(this.#rows, row, this.#desk.nextDueMs);
  }

  /** Applies skipped rows up to this one. */
  #pass(row: number): void {
    // Consumption of a level depends on every book in between.
    for (let at = this.#desk.hasConsumed ? this.#row + 1 : row; at <= row; at++) this.#show(at);
    if (this.#decision !== null) this.#desk.quote(bestPricesAt(this.#rows, row));
  }

  #show(row: number): void {
    this.#desk.show(this.#rows.book[row] as number, this.#rows.trusted[row] === 1);
  }

  /** The venue has named the outcome: pays out the held position. */
  settle({ payoutYes, resolvedTimeMs }: Resolution): void {
    this.#passTrades(Number.POSITIVE_INFINITY);
    this.#desk.end(resolvedTimeMs);
    const { held } = this.#positions;
    if (held === null) return;
    held.settle(resolvedTimeMs, payoutYes === null || held.token === 'yes' ? payoutYes : 1 - payoutYes);
    this.#positions.close(held);
  }

  /**
   * It has no order in flight or resting, no exit under way and no consumption of a displayed level: only an intent of its
   * strategy would change it.
   */
  get isIdle(): boolean {
    const hasOrders = this.#decision !== null || this.#entry !== null;
    return !hasOrders && !this.#desk.hasConsumed && !this.#positions.held?.exiting;
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
    return this.#positions.finished && this.#entry === null;
  }

  /** Not even a gap makes it need the rows until then. */
  get isDone(): boolean {
    // Reversing only some of the trades makes consumed liquidity available again.
    return this.finished && (!this.#terms.strategy.exits || !this.#desk.hasConsumed);
  }

  /** All positions, oldest first; the last may be open. */
  trades(): Trade[] {
    return this.#positions.trades();
  }

  /** The same without what only reports need. */
  tradeResults(): TradeResult[] {
    return this.#positions.tradeResults();
  }

  /** Of all positions, in no order. */
  costChanges(): CostChange[] {
    return this.#positions.costChanges();
  }

  /** An order in flight counts as placed only. */
  get orders(): OrderCounts {
    const [placed, takenBack] = [this.#placed, this.#takenBack];
    const counts = { placed, filled: this.#filled - takenBack, missed: { ...this.#missed }, takenBack };
    if (this.#terms.execution === undefined) return counts;
    return { ...counts, resting: { refused: this.#refused, notReached: this.#notReached } };
  }

  #act(intent: Intent, row: number, timeMs: number): void {
    const { held } = this.#positions;
    const { execution } = this.#terms;
    if (held === null) {
      if (this.#entry !== null) return;
      if (intent !== BUY_YES && intent !== BUY_NO) return;
      const mayEnter =
        timeMs >= this.#market.startTimeMs && timeMs < this.#entries.untilMs && this.#positions.mayOpen;
      if (!mayEnter) return;
      const token: Token = intent === BUY_YES ? 'yes' : 'no';
      if (execution !== undefined) {
        this.#rest(execution, { token, row, timeMs });
        return;
      }
      const best = bestAt(this.#rows, row, token).ask;
      const limitPrice = limitOf('buy', { best, ...this.#limits });
      this.#place(fillAndKill(token, 'buy', { size: null, budget: this.#terms.size, limitPrice }), {
        placedMs: timeMs,
        best,
        reason: null,
      });
      return;
    }
    if (intent === STOP_LOSS) held.exiting ??= { reason: 'stop_loss', sinceMs: timeMs };
    else if (intent === TAKE_PROFIT) held.exiting ??= { reason: 'take_profit', sinceMs: timeMs };
    if (held.exiting === null) return;
    if (this.#entry !== null) {
      this.#desk.cancel(this.#entry.orderId, timeMs);
      return;
    }
    const best = bestAt(this.#rows, row, held.token).bid;
    const limitPrice = limitOf('sell', { best, ...this.#limits });
    this.#place(fillAndKill(held.token, 'sell', { size: held.left, budget: null, limitPrice }), {
      placedMs: timeMs,
      best,
      reason: held.exiting.reason,
    });
  }

  /**
   * Does not place an order that would meet the book only after the window's end, or that has no price. Without any
   * book received it does not place one that has to walk the book: whether the recording has books is not known yet.
   */
  #place(order: OrderTerms, decision: Decision): void {
    if (this.#terms.params.fill_mode === 'walk_book' && this.#desk.book < 0) return;
    if (Number.isNaN(decision.best)) return;
    const dueMs = this.#desk.place(this.#placed, order, decision.placedMs);
    if (typeof dueMs === 'string') return;
    this.#decision = decision;
    this.#placed++;
    this.#listener?.({ kind: 'order', knownMs: decision.placedMs, dueMs, order });
  }

  /** Places a purchase that rests, and its cancel after the timeout. */
  #rest(execution: Execution, { token, row, timeMs }: { token: Token; row: number; timeMs: number }): void {
    const desk = this.#desk;
    const { bid, ask } = bestAt(this.#rows, row, token);
    const order = restingPurchase(execution, {
      ...{ token, bid, ask, budget: this.#terms.size, maxFillPrice: this.#limits.maxFillPrice },
      tickSize: desk.tickSize(token, timeMs),
    });
    if (order === null || desk.book < 0) return;
    const orderId = this.#placed;
    const dueMs = desk.place(orderId, order, timeMs);
    if (typeof dueMs === 'string') return;
    desk.cancel(orderId, timeMs + execution.timeout_s * MS_PER_SECOND);
    // Without an ask its own limit is the price it was decided at, as in a run.
    const best = Number.isNaN(ask) ? order.limitPrice : ask;
    this.#entry = { orderId, decision: { placedMs: timeMs, best, reason: null }, isFilled: false };
    this.#placed++;
    this.#trades?.skipTo(row);
    this.#listener?.({ kind: 'order', knownMs: timeMs, dueMs, order });
  }

  onReport(report: DeskReport): void {
    if (report.kind === 'taken_back') {
      this.#reverse(report.sinceMs, report.knownMs);
      return;
    }
    const { order, knownMs, kind } = report;
    const { terms } = order;
    if (this.#entry !== null && order.orderId === this.#entry.orderId) {
      this.#onEntry(report, this.#entry);
      return;
    }
    if (kind !== 'miss' && kind !== 'fill') return;
    const decision = this.#decision;
    if (decision === null) throw new RangeError('a report without an order');
    this.#decision = null;
    if (kind === 'miss') {
      const { reason } = report;
      this.#missed[reason]++;
      this.#listener?.({ kind, knownMs, order: terms, reason });
      return;
    }
    const { timeMs, fill } = report;
    this.#filled++;
    this.#listener?.({ kind, knownMs, timeMs, order: terms, fill });
    if (terms.action === 'buy') this.#open({ token: terms.token, timeMs, fill }, decision);
    else this.#sold({ timeMs, fill }, decision);
  }

  #onEntry(report: Exclude<DeskReport, { kind: 'taken_back' }>, entry: RestingEntry): void {
    const { kind, knownMs, order } = report;
    const { terms } = order;
    if (kind === 'accepted') return;
    if (kind === 'fill') {
      const { timeMs, fill, isOpen } = report;
      if (!entry.isFilled) this.#filled++;
      entry.isFilled = true;
      if (!isOpen) this.#entry = null;
      this.#listener?.({ kind, knownMs, timeMs, order: terms, fill });
      this.#open({ token: terms.token, timeMs, fill }, entry.decision);
      return;
    }
    this.#entry = null;
    if (entry.isFilled) return;
    const byGap = kind === 'cancelled' && report.reason === 'gap';
    const reason = kind === 'miss' ? report.reason : byGap ? 'untrusted' : unreached(kind);
    if (reason === 'refused') this.#refused++;
    else if (reason === 'not_reached') this.#notReached++;
    else this.#missed[reason]++;
    this.#listener?.({ kind: 'miss', knownMs, order: terms, reason });
  }

  /** Opens a position, or adds a later fill of the purchase that opened it. */
  #open({ token, timeMs, fill }: Purchase, { placedMs, best }: Decision): void {
    const { held } = this.#positions;
    const purchase = { decidedMs: placedMs, openedMs: timeMs, fill, best };
    if (held === null) this.#positions.open(new Position(this.#ledger, { token, ...purchase }));
    else held.buy(purchase);
  }

  #sold({ timeMs, fill }: Omit<Purchase, 'token'>, { best, reason }: Decision): void {
    const { held } = this.#positions;
    if (held === null || reason === null) throw new RangeError('a sale without a position');
    held.sell(timeMs, fill, { reason, best });
    if (held.left === 0) this.#positions.close(held);
  }

  #reverse(sinceMs: number, knownMs: number): void {
    const fills = this.#positions.reverseSince(sinceMs);
    if (fills === null) return;
    this.#takenBack += fills;
    this.#listener?.({ kind: 'taken_back', knownMs, sinceMs });
  }
}

/** Written out: spreading the constant part costs a tenth of a short replay. */
function fillAndKill(
  token: Token,
  action: OrderTerms['action'],
  { size, budget, limitPrice }: Pick<OrderTerms, 'size' | 'budget' | 'limitPrice'>,
): OrderTerms {
  return { timeInForce: 'fak', expiresMs: null, postOnly: false, token, action, size, budget, limitPrice };
}

function unreached(kind: 'refused' | 'cancelled' | 'expired'): 'refused' | 'not_reached' {
  return kind === 'refused' ? kind : 'not_reached';
}

/** A request's price in ticks, rounded down between two ticks. */
function ticksOf(price: number): number {
  return Math.floor(price * TICKS_PER_USDC + 1e-6);
}
