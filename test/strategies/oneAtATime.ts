/**
 * The trading rules of the JSON strategies, written against the interface for users: one position and one order at a
 * time in each market, all orders fill-and-kill.
 */
import type { Context, ParamSpecs, StrategyEvent } from '../../src/core/run/definition.ts';

export type Wish = 'buy_yes' | 'buy_no' | 'take_profit' | 'stop_loss' | null;
type Token = 'yes' | 'no';

export const TRADING_PARAMS = {
  sizeUsd: { default: 10, min: 0 },
  maxFillPrice: { default: 0.985, min: 0, max: 1 },
  /** Largest distance from the decision price; 1: no limit. */
  maxSlippage: { default: 0.02, min: 0, max: 1 },
} as const;
type TradingContext = Context<typeof TRADING_PARAMS & ParamSpecs, unknown>;

interface OwnPosition {
  readonly orderId: number;
  readonly token: Token;
  exiting: { readonly reason: 'take_profit' | 'stop_loss'; readonly sinceMs: number } | null;
}

export const ticksOf = (price: number) => Math.round(price * 10_000);

/** One market of a run. */
export class OneAtATime {
  readonly #marketId: string;
  readonly #tradesMax: number;
  #positions: OwnPosition[] = [];
  #pending = false;

  constructor(marketId: string, tradesMax: number) {
    this.#marketId = marketId;
    this.#tradesMax = tradesMax;
  }

  onOrder({ order }: Extract<StrategyEvent, { type: 'order' }>): void {
    const { orderId, token, action, state } = order;
    if (state === 'taken_back') {
      this.#positions = this.#positions.filter((position) => position.orderId !== orderId);
      return;
    }
    this.#pending = false;
    if (action === 'buy' && order.filledSize > 0) this.#positions.push({ orderId, token, exiting: null });
  }

  /** A decision to sell that was made on a book that did not exist does not count. */
  onGap({ sinceMs }: Extract<StrategyEvent, { type: 'gap' }>): void {
    for (const position of this.#positions)
      if (position.exiting !== null && position.exiting.sinceMs > sinceMs) position.exiting = null;
  }

  held(context: TradingContext): Token | null {
    const last = this.#positions.at(-1);
    return last !== undefined && context.position(this.#marketId, last.token).size > 0 ? last.token : null;
  }

  /** Acts on what the strategy wants now. */
  act(wish: Wish, context: TradingContext): void {
    const marketId = this.#marketId;
    const { trusted, startTimeMs } = context.market(marketId);
    if (!trusted || this.#pending) return;
    const held = this.held(context);
    if (held === null) {
      if (wish !== 'buy_yes' && wish !== 'buy_no') return;
      if (context.nowMs < startTimeMs || this.#positions.length >= this.#tradesMax) return;
      this.#buy(wish === 'buy_yes' ? 'yes' : 'no', context);
      return;
    }
    const position = this.#positions.at(-1);
    if (position === undefined) return;
    if (wish === 'take_profit' || wish === 'stop_loss')
      position.exiting ??= { reason: wish, sinceMs: context.nowMs };
    if (position.exiting !== null) this.#sell(held, position.exiting.reason, context);
  }

  #buy(token: Token, context: TradingContext): void {
    const { sizeUsd, maxFillPrice, maxSlippage } = context.params;
    const ask = context.book(this.#marketId).bestAsk(token);
    if (ask === null || !this.#hasBook(context)) return;
    const limit = Math.min(Math.floor(maxFillPrice * 10_000 + 1e-6), ticksOf(ask) + slippageOf(maxSlippage));
    const order = { token, action: 'buy', limitPrice: limit / 10_000, budget: sizeUsd } as const;
    this.#place(order, context);
  }

  #sell(token: Token, reason: 'take_profit' | 'stop_loss', context: TradingContext): void {
    const bid = context.book(this.#marketId).bestBid(token);
    if (bid === null || !this.#hasBook(context)) return;
    const limit = Math.max(0, ticksOf(bid) - slippageOf(context.params.maxSlippage));
    const { size } = context.position(this.#marketId, token);
    this.#place({ token, action: 'sell', limitPrice: limit / 10_000, size, reason }, context);
  }

  #place(order: Omit<Parameters<TradingContext['place']>[0], 'marketId'>, context: TradingContext): void {
    this.#pending = true;
    context.place({ marketId: this.#marketId, ...order });
  }

  /** An order walks the book, so that best prices alone are not enough. */
  #hasBook(context: TradingContext): boolean {
    const book = context.book(this.#marketId);
    return book.levels('yes', 'bids').length + book.levels('yes', 'asks').length > 0;
  }
}

function slippageOf(maxSlippage: number): number {
  return maxSlippage === 1 ? 10_000 : Math.floor(maxSlippage * 10_000 + 1e-6);
}

/** The markets of one run, each with its own memory. */
export class MarketMap<M extends { readonly trading: OneAtATime }> {
  readonly #markets = new Map<string, M>();
  readonly #make: (marketId: string) => M;

  constructor(make: (marketId: string) => M) {
    this.#make = make;
  }

  of(marketId: string): M {
    const known = this.#markets.get(marketId);
    if (known !== undefined) return known;
    const made = this.#make(marketId);
    this.#markets.set(marketId, made);
    return made;
  }

  /** Handles what all strategies handle alike. @returns The markets on which the strategy decides now. */
  affected(event: StrategyEvent, context: TradingContext): readonly string[] {
    switch (event.type) {
      case 'order':
        this.of(event.order.marketId).trading.onOrder(event);
        return [];
      case 'resolved':
        this.#markets.delete(event.marketId);
        return [];
      case 'gap':
        this.of(event.marketId).trading.onGap(event);
        return ended(event.marketId, context) ? [] : [event.marketId];
      case 'book':
      case 'gap_end':
        return ended(event.marketId, context) ? [] : [event.marketId];
      case 'price': {
        const open = context.markets().filter(({ ticker }) => ticker === event.ticker);
        return open.filter(({ startTimeMs }) => context.nowMs >= startTimeMs).map(({ marketId }) => marketId);
      }
      default:
        return [];
    }
  }
}

function ended(marketId: string, context: TradingContext): boolean {
  return context.nowMs >= context.market(marketId).endTimeMs;
}
