/**
 * A replay as docs/BACKTEST.md describes it, written for readability: every row, level and order in plain lists,
 * without caches. It shares only decisions, fee and taker delay with the replay that it checks.
 */
import type { MissReason } from '../../src/core/desk/report.ts';
import { limitOf } from '../../src/core/fills/engine.ts';
import type { ExitReason, Trade } from '../../src/core/session/position.ts';
import type { PreparedMarket } from '../../src/core/session/prepare.ts';
import { ROW_BOOK, ROW_GAP_KNOWN } from '../../src/core/session/rows.ts';
import type { SessionTerms } from '../../src/core/session/session.ts';
import type { OrderCounts } from '../../src/core/session/sessionEvents.ts';
import type { Resolution } from '../../src/core/session/tape.ts';
import type { Token } from '../../src/core/signals/signal.ts';
import { BUY_NO, BUY_YES, STOP_LOSS, TAKE_PROFIT } from '../../src/core/strategies/strategy.ts';

interface Level {
  readonly price: number;
  readonly size: number;
}

/** A YES level that an order consumed; an order for NO consumed the opposite side at the mirrored price. */
interface Taken {
  readonly side: 'bids' | 'asks';
  readonly price: number;
  readonly timeMs: number;
  shown: number;
  readonly size: number;
}

interface Sale {
  readonly timeMs: number;
  readonly levels: readonly Level[];
  readonly proceeds: number;
  readonly fee: number;
  readonly reason: ExitReason;
  /** Best bid at the decision in ticks; null: the venue paid out. */
  readonly best: number | null;
}

interface Held {
  readonly token: Token;
  readonly decidedMs: number;
  readonly openedMs: number;
  readonly best: number;
  readonly levels: readonly Level[];
  readonly principal: number;
  readonly fee: number;
  sales: Sale[];
  exiting: { readonly reason: ExitReason; readonly sinceMs: number } | null;
}

interface Order {
  readonly kind: 'buy' | 'sell';
  readonly token: Token;
  readonly limit: number;
  readonly placedMs: number;
  readonly dueMs: number;
  readonly best: number;
  readonly reason: ExitReason | null;
}

const TICKS = 10_000;
const sizeOf = (levels: readonly Level[]) => levels.reduce((sum, { size }) => sum + size, 0);
const leftOf = ({ levels, sales }: Held) => sizeOf(levels) - sizeOf(sales.flatMap((sale) => sale.levels));

/** Replays a market whose NO mirrors YES, with orders that walk the book. */
export class PlainReplay {
  readonly #market: PreparedMarket;
  readonly #terms: SessionTerms;
  #positions: Held[] = [];
  #taken: Taken[] = [];
  #order: Order | null = null;
  #observed = -1;
  readonly #orders = { placed: 0, filled: 0, takenBack: 0 };
  readonly #missed: Record<MissReason, number> = { no_depth: 0, price: 0, untrusted: 0, unconfirmed: 0 };

  constructor(market: PreparedMarket, terms: SessionTerms) {
    this.#market = market;
    this.#terms = terms;
  }

  run({ payoutYes, resolvedTimeMs }: Resolution): { trades: Trade[]; orders: OrderCounts } {
    const { rows, market } = this.#market;
    const strategy = this.#terms.strategy.start(rows, market);
    for (let row = 0; row < rows.count; row++) {
      const timeMs = rows.timeMs[row] as number;
      const isNews = (rows.kind[row] as number) <= ROW_BOOK;
      if (this.#order !== null && isNews && timeMs > this.#order.dueMs) this.#match(this.#order, row - 1);
      if (rows.kind[row] === ROW_GAP_KNOWN) this.#reverse(rows.gapStartMs[row] as number, row);
      if (rows.trusted[row] === 1) this.#observe(rows.book[row] as number);
      if (timeMs >= market.endTimeMs) continue;
      const intent = strategy.decide(row, this.#held?.token ?? null);
      if (rows.trusted[row] !== 1 || this.#order !== null) continue;
      const held = this.#held;
      if (held === undefined && (intent === BUY_YES || intent === BUY_NO)) {
        this.#buy(intent === BUY_YES ? 'yes' : 'no', row);
      } else if (held !== undefined) {
        if (intent === STOP_LOSS) held.exiting ??= { reason: 'stop_loss', sinceMs: timeMs };
        if (intent === TAKE_PROFIT) held.exiting ??= { reason: 'take_profit', sinceMs: timeMs };
        if (held.exiting !== null) this.#place('sell', held.token, row, held.exiting.reason);
      }
    }
    if (this.#order !== null) this.#miss('unconfirmed');
    const held = this.#held;
    if (held !== undefined) {
      const payout = payoutYes === null || held.token === 'yes' ? payoutYes : 1 - payoutYes;
      held.sales.push(payOut(held, resolvedTimeMs, payout));
    }
    const { placed, filled, takenBack } = this.#orders;
    const orders = { placed, filled: filled - takenBack, missed: this.#missed, takenBack };
    return { trades: this.#positions.map(tradeOf), orders };
  }

  get #held(): Held | undefined {
    return this.#positions.find((position) => leftOf(position) > 0);
  }

  #buy(token: Token, row: number): void {
    const { rows, market } = this.#market;
    if ((rows.timeMs[row] as number) < market.startTimeMs) return;
    if (this.#positions.length < this.#terms.strategy.tradesMax) this.#place('buy', token, row, null);
  }

  #place(kind: Order['kind'], token: Token, row: number, reason: ExitReason | null): void {
    const { rows, market, rules } = this.#market;
    const { params } = this.#terms;
    const placedMs = rows.timeMs[row] as number;
    const best = this.#best(row, token)[kind === 'buy' ? 'ask' : 'bid'];
    const dueMs = placedMs + params.latency_ms + rules.takerHoldMs(placedMs);
    if ((rows.book[row] as number) < 0 || dueMs >= market.endTimeMs || Number.isNaN(best)) return;
    const maxSlippage = params.max_slippage === null ? Number.POSITIVE_INFINITY : params.max_slippage * TICKS;
    const limit = limitOf(kind, { best, maxSlippage, maxFillPrice: params.max_fill_price * TICKS });
    this.#order = { kind, token, limit, placedMs, dueMs, best, reason };
    this.#orders.placed++;
  }

  #best(row: number, token: Token): { bid: number; ask: number } {
    const { yesBid, yesAsk, noBid, noAsk } = this.#market.rows;
    const [bids, asks] = token === 'yes' ? [yesBid, yesAsk] : [noBid, noAsk];
    return { bid: bids[row] as number, ask: asks[row] as number };
  }

  /** @param row The row in force when the order was due. */
  #match(order: Order, row: number): void {
    const { rows, rules } = this.#market;
    const { bid, ask } = this.#best(row, order.token);
    if (rows.trusted[row] !== 1 || bid > ask) {
      this.#miss('untrusted');
      return;
    }
    const side = order.kind === 'buy' ? 'asks' : 'bids';
    const shown = this.#levels(rows.book[row] as number, order.token, side);
    const left = shown.map((level) => ({
      price: level.price,
      size: Math.floor(Math.max(0, level.size - this.#takenOf(order.token, side, level.price))),
    }));
    const levels = this.#fill(order, left);
    if (levels.length === 0) {
      this.#miss(left.some(({ size }) => size > 0) ? 'price' : 'no_depth');
      return;
    }
    for (const { price, size } of levels) {
      const level = shown.find((one) => one.price === price) as Level;
      const yes = yesLevel(order.token, side, price);
      this.#taken.push({ ...yes, timeMs: order.dueMs, shown: level.size, size });
    }
    this.#order = null;
    this.#orders.filled++;
    const round = order.kind === 'buy' ? Math.ceil : Math.floor;
    const principal = levels.reduce((sum, { price, size }) => sum + round((price * size) / TICKS), 0);
    const fee = levels.reduce((sum, level) => sum + rules.fee(order.dueMs).charged(level), 0);
    const { token, placedMs, dueMs, best, reason } = order;
    if (order.kind === 'buy') {
      const decided = { token, decidedMs: placedMs, openedMs: dueMs, best };
      this.#positions.push({ ...decided, levels, principal, fee, sales: [], exiting: null });
    } else {
      const sale = { timeMs: dueMs, levels, proceeds: principal, fee, reason: reason as ExitReason, best };
      this.#held?.sales.push(sale);
    }
  }

  #fill({ kind, limit }: Order, left: readonly Level[]): Level[] {
    const levels: Level[] = [];
    let spent = 0;
    for (const { price, size } of left) {
      if (kind === 'buy' ? price > limit : price < limit) break;
      const wanted =
        kind === 'buy'
          ? sharesFor(this.#terms.size - spent, price)
          : leftOf(this.#held as Held) - sizeOf(levels);
      const filled = Math.min(size, wanted);
      if (filled > 0) levels.push({ price, size: filled });
      spent += Math.ceil((price * filled) / TICKS);
      if (wanted < size) break;
    }
    return levels;
  }

  #levels(book: number, token: Token, side: 'bids' | 'asks'): Level[] {
    const view = this.#market.ladders?.side(book, token, side);
    if (view === undefined) throw new Error('no books');
    return Array.from({ length: view.count }, (_, at) => ({
      price: view.prices[at] as number,
      size: view.sizes[at] as number,
    }));
  }

  #takenOf(token: Token, side: 'bids' | 'asks', price: number): number {
    const yes = yesLevel(token, side, price);
    const of = this.#taken.filter((one) => one.side === yes.side && one.price === yes.price);
    return of.reduce((sum, { size }) => sum + size, 0);
  }

  #observe(book: number): void {
    if (book === this.#observed || book < 0) return;
    this.#observed = book;
    this.#taken = this.#taken.filter((one) => {
      const levels = this.#levels(book, 'yes', one.side);
      const prices = levels.map(({ price }) => price);
      // Worse than all displayed levels: it may only have been cut off.
      if (levels.length > 0 && one.side === 'asks' && one.price > Math.max(...prices)) return true;
      if (levels.length > 0 && one.side === 'bids' && one.price < Math.min(...prices)) return true;
      const size = levels.find(({ price }) => price === one.price)?.size ?? 0;
      if (size === 0 || size > one.shown) return false;
      one.shown = size;
      return true;
    });
  }

  #miss(reason: MissReason): void {
    this.#order = null;
    this.#missed[reason]++;
  }

  #reverse(sinceMs: number, row: number): void {
    if (this.#order !== null && this.#order.dueMs <= sinceMs) this.#match(this.#order, row - 1);
    else if (this.#order !== null) this.#miss('untrusted');
    this.#taken = this.#taken.filter(({ timeMs }) => timeMs <= sinceMs);
    const fills = () => this.#positions.reduce((sum, { sales }) => sum + 1 + sales.length, 0);
    const before = fills();
    for (const position of this.#positions) {
      position.sales = position.sales.filter(({ timeMs }) => timeMs <= sinceMs);
      if (position.exiting !== null && position.exiting.sinceMs > sinceMs) position.exiting = null;
    }
    this.#positions = this.#positions.filter(({ openedMs }) => openedMs <= sinceMs);
    const held = this.#held;
    // The open position is always the newest one.
    if (held !== undefined) this.#positions = [...this.#positions.filter((one) => one !== held), held];
    this.#orders.takenBack += before - fills();
  }
}

function yesLevel(token: Token, side: 'bids' | 'asks', price: number): Pick<Taken, 'side' | 'price'> {
  if (token === 'yes') return { side, price };
  return { side: side === 'bids' ? 'asks' : 'bids', price: TICKS - price };
}

/** Units that a whole amount of micro-USD buys. */
function sharesFor(micro: number, price: number): number {
  return Math.floor((micro * TICKS) / price);
}

/** @param payout Null: the market was annulled, and the venue refunds the remaining cost of the shares. */
function payOut(held: Held, timeMs: number, payout: number | null): Sale {
  const size = leftOf(held);
  if (payout !== null) {
    const levels = [{ price: payout * TICKS, size }];
    const proceeds = Math.floor(size * payout);
    return { timeMs, levels, proceeds, fee: 0, reason: 'resolved', best: null };
  }
  let [cost, shares] = [BigInt(held.principal), BigInt(sizeOf(held.levels))];
  for (const sale of held.sales) {
    const sold = BigInt(sizeOf(sale.levels));
    cost -= (cost * sold) / shares;
    shares -= sold;
  }
  const part = size / sizeOf(held.levels);
  const levels = held.levels.map((level) => ({ price: level.price, size: level.size * part }));
  return { timeMs, levels, proceeds: Number(cost), fee: 0, reason: 'market_void', best: null };
}

/** USDC per share. */
function average(levels: readonly Level[], size: number): number {
  const prices = new Set(levels.map(({ price }) => price));
  if (prices.size === 1) return (levels[0] as Level).price / TICKS;
  return levels.reduce((sum, level) => sum + level.price * level.size, 0) / (size * TICKS);
}

function tradeOf(held: Held): Trade {
  const { token, decidedMs, openedMs, principal, levels, sales } = held;
  const size = sizeOf(levels);
  const isClosed = leftOf(held) <= 0;
  const last = isClosed ? sales.at(-1) : undefined;
  const fees = sales.reduce((sum, { fee }) => sum + fee, held.fee);
  const proceeds = sales.reduce((sum, sale) => sum + sale.proceeds, 0);
  const sold = sales.flatMap(({ best, levels: at }) =>
    best === null
      ? []
      : [{ size: sizeOf(at), slippage: best / TICKS - average(at, sizeOf(at)), levels: at.length }],
  );
  const weighted =
    sold.reduce((sum, one) => sum + one.slippage * one.size, 0) /
    sold.reduce((sum, one) => sum + one.size, 0);
  const isSold = isClosed && sold.length > 0;
  const decisionPrice = held.best / TICKS;
  const entryPrice = average(levels, size);
  const exitPrice = average(
    sales.flatMap((sale) => sale.levels),
    size,
  );
  return {
    ...{ token, decidedMs, openedMs, closedMs: last?.timeMs ?? null, size, entryPrice, principal, fees },
    ...{ exitPrice: isClosed ? exitPrice : null, exitReason: last?.reason ?? null, decisionPrice },
    entrySlippage: entryPrice - decisionPrice,
    exitSlippage: !isSold ? null : sold.length === 1 ? (sold[0]?.slippage ?? null) : weighted,
    entryLevels: levels.length,
    exitLevels: isSold ? sold.reduce((sum, one) => sum + one.levels, 0) : null,
    pnl: isClosed ? proceeds - principal - fees : null,
  };
}
