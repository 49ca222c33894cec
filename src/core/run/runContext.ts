import type { PerpVenueName, UnderlyingSource } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import { MICRO_PER_USDC } from '../fees.ts';
import { UNITS_PER_SHARE } from '../money.ts';
import { Random } from '../random.ts';
import type { Token } from '../signals/signal.ts';
import type {
  BookReader,
  Context,
  HeldPosition,
  MarketView,
  ModelView,
  OwnOrder,
  ParamSpecs,
  ParamValues,
  PlaceOrder,
  PriceLevel,
} from './definition.ts';
import type { MarketRegistry } from './marketRegistry.ts';
import type { NewestPrice, RunFeeds } from './runFeeds.ts';
import type { RunLog } from './runLog.ts';
import type { RunOrders } from './runOrders.ts';
import type { RunClock } from './views.ts';

const NOTHING_HELD: HeldPosition = Object.freeze({ size: 0, averagePrice: null, costUsd: 0 });

interface ContextOptions {
  readonly clock: RunClock;
  readonly seed: number;
  readonly params: ParamValues<ParamSpecs>;
  readonly state: unknown;
  readonly usesModel: boolean;
  readonly registry: MarketRegistry;
  readonly orders: RunOrders;
  readonly feeds: RunFeeds;
  readonly log: RunLog;
  /** Micro-USD; null: the purse is unlimited. */
  readonly money: () => { readonly cash: number; readonly equity: number } | null;
}

/** The only door of a strategy to its run. */
export class RunContext implements Context {
  readonly params: ParamValues<ParamSpecs>;
  readonly state: unknown;
  readonly #options: ContextOptions;
  readonly #random: Random;

  constructor(options: ContextOptions) {
    this.#options = options;
    this.params = options.params;
    this.state = options.state;
    this.#random = new Random(`strategy ${options.seed}`);
  }

  get nowMs(): number {
    return this.#options.clock.nowMs;
  }

  random(): number {
    return this.#random.next();
  }

  market(marketId: string): MarketView {
    return this.#options.registry.known(marketId).facts;
  }

  markets(): readonly MarketView[] {
    return this.#options.registry.open(this.nowMs);
  }

  book(marketId: string): BookReader {
    return this.#options.registry.known(marketId).book;
  }

  price(marketId: string, source?: UnderlyingSource): NewestPrice | null {
    const { tracker } = this.#options.registry.known(marketId);
    return this.#options.feeds.price(tracker.market.ticker, source ?? tracker.source);
  }

  model(marketId: string): ModelView {
    if (!this.#options.usesModel) throw new RangeError('the model needs `model: true` in the inputs');
    return this.#options.registry.known(marketId).model;
  }

  perpDepth(
    ticker: Ticker,
    venue: PerpVenueName,
  ): { bids: readonly PriceLevel[]; asks: readonly PriceLevel[] } | null {
    return this.#options.feeds.depth(ticker, venue);
  }

  position(marketId: string, token: Token): HeldPosition {
    const { holdings } = this.#options.registry.known(marketId).tracker;
    const held = holdings.held(token);
    if (held === null) return NOTHING_HELD;
    const { left, cost } = held;
    return { size: left / UNITS_PER_SHARE, averagePrice: cost / left, costUsd: cost / MICRO_PER_USDC };
  }

  openOrders(marketId?: string): readonly OwnOrder[] {
    if (marketId !== undefined) this.#options.registry.known(marketId);
    return this.#options.orders.openOrders(marketId);
  }

  get cash(): number | null {
    const money = this.#options.money();
    return money === null ? null : money.cash / MICRO_PER_USDC;
  }

  get equity(): number | null {
    const money = this.#options.money();
    return money === null ? null : money.equity / MICRO_PER_USDC;
  }

  place(order: PlaceOrder): number {
    const { registry, orders } = this.#options;
    return orders.place(registry.known(order.marketId).tracker, order, this.nowMs);
  }

  cancel(orderId: number): void {
    this.#options.orders.cancel(orderId, this.nowMs);
  }

  replace(orderId: number, change: { readonly limitPrice?: number; readonly size?: number }): number {
    return this.#options.orders.replace(orderId, change, this.nowMs);
  }

  log(text: string): void {
    this.#options.log.add(this.nowMs, text);
  }
}
