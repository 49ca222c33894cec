/**
 * One run of a user's strategy over many markets, as a sequential machine: items in, orders out. A backtest pushes a
 * recording, live paper trading the live stream; nothing else differs. Nothing is visible before its item was pushed.
 */
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../money.ts';
import { PRICE_FRESH_MS } from '../session/underlyingState.ts';
import { checkTerms } from './checkTerms.ts';
import { checkDefinition } from './defineStrategy.ts';
import type { StrategyDefinition, StrategyEvent } from './definition.ts';
import { EquityCurve } from './equityCurve.ts';
import type { NumberedTrade } from './holdings.ts';
import { MarketRegistry } from './marketRegistry.ts';
import { MarketTracker } from './marketTracker.ts';
import { paramsOf } from './parameters.ts';
import { Purse } from './purse.ts';
import type { EquityPoint, RunMarket, RunResult, RunTrade } from './result.ts';
import { RunContext } from './runContext.ts';
import { RunFeeds } from './runFeeds.ts';
import { RunLog } from './runLog.ts';
import type { RunItem, RunRequest, StrategyRunner } from './runner.ts';
import { RunOrders } from './runOrders.ts';
import type { RunTerms } from './terms.ts';
import type { RunClock } from './views.ts';

/** Order events that one item may cause: a strategy that answers each refusal with an order would never end. */
const ORDER_EVENTS_MAX = 10_000;

type ItemOf<K extends RunItem['kind']> = Extract<RunItem, { kind: K }>;
/** An event without the time, which is that of the run. */
type Happening = StrategyEvent extends infer E
  ? E extends unknown
    ? Omit<E, 'seq' | 'timeMs'>
    : never
  : never;

/** @throws {RangeError} If the definition, a parameter or a term is wrong. */
export function startRun(request: RunRequest): StrategyRunner {
  checkDefinition(request.definition);
  checkTerms(request.terms);
  return new StrategyRun(request);
}

class StrategyRun implements StrategyRunner {
  readonly #definition: StrategyDefinition;
  readonly #terms: RunTerms;
  readonly #clock: RunClock = { nowMs: Number.NEGATIVE_INFINITY, seq: 0 };
  readonly #purse: Purse;
  readonly #registry = new MarketRegistry(this.#clock);
  readonly #feeds: RunFeeds;
  readonly #orders: RunOrders;
  readonly #log = new RunLog();
  readonly #equity = new EquityCurve();
  readonly #context: RunContext;
  /** Of markets that are no longer in play. */
  readonly #trades: NumberedTrade[] = [];
  readonly #markets: RunMarket[] = [];
  #nextClockMs = Number.NEGATIVE_INFINITY;
  /** Whether a payout or a redemption has changed the money within this item. */
  #paid = false;

  constructor({ definition, params, terms }: RunRequest) {
    const usesModel = definition.inputs.model === true;
    this.#definition = definition;
    this.#terms = terms;
    this.#purse = new Purse(terms);
    this.#feeds = new RunFeeds({ usesModel });
    const registry = this.#registry;
    this.#orders = new RunOrders({
      purse: this.#purse,
      registry,
      atEntry: (tracker, token) => this.#atEntry(tracker, token),
    });
    this.#context = new RunContext({
      ...{ clock: this.#clock, seed: terms.seed, params: paramsOf(definition.params, params) },
      ...{ state: definition.state?.(), usesModel, registry, orders: this.#orders },
      ...{ feeds: this.#feeds, log: this.#log },
      money: () => (this.#purse.isLimited ? this.#money() : null),
    });
  }

  push(item: RunItem): void {
    switch (item.kind) {
      case 'market':
        this.#onMarket(item);
        break;
      case 'book':
      case 'quote':
        this.#onMessage(item);
        break;
      case 'trade':
        this.#onTrade(item);
        break;
      case 'price':
        this.#onPrice(item);
        break;
      case 'perp_depth':
        this.#onPerpDepth(item);
        break;
      case 'gap':
        this.#onGap(item);
        break;
      case 'gap_end':
        this.#onGapEnd(item);
        break;
      case 'resolved':
        this.#onResolved(item);
    }
    this.#deliverOrders();
    this.#drawEquity();
  }

  result(): RunResult {
    const open = [...this.#registry.trackers()];
    const trades = [...this.#trades, ...open.flatMap((tracker) => tracker.trades())];
    const markets = [...this.#markets, ...open.map((tracker) => this.#report(tracker))];
    return {
      orders: this.#orders.orders(),
      fills: this.#orders.fills(),
      trades: trades.sort((a, b) => a.number - b.number).map(({ trade }) => trade),
      equity: this.#equity.points(),
      markets: markets.sort((a, b) => a.startTimeMs - b.startTimeMs || (a.marketId < b.marketId ? -1 : 1)),
      log: [...this.#log.lines],
      logLinesLeftOut: this.#log.leftOut,
    };
  }

  #onMarket(item: ItemOf<'market'>): void {
    const { market } = item;
    const { marketId, ticker, eventType, startTimeMs } = market;
    const isListed = this.#registry.has(marketId);
    const listed = isListed ? this.#registry.inPlay(marketId) : null;
    // Resolved, or of another series.
    if (isListed && listed === null) return;
    if (listed !== null) this.#passGapEnds(listed, item.timeMs);
    this.#receive(item);
    const { tickers, eventTypes, model } = this.#definition.inputs;
    if (!isListed) {
      if (!tickers.includes(ticker) || !eventTypes.includes(eventType)) {
        this.#registry.leave(marketId);
        return;
      }
      const tracker = new MarketTracker(market, {
        underlying: (source) => (model === true ? this.#feeds.underlying(ticker, source) : null),
        ledger: this.#purse.ledger,
        terms: this.#terms,
        onReport: (own, report) => this.#orders.onReport(own, report),
      });
      tracker.underlying?.computeSigmaFrom(startTimeMs - PRICE_FRESH_MS);
      this.#registry.add(tracker);
    }
    const tracker = this.#registry.inPlay(marketId);
    if (tracker === null) return;
    tracker.update(market);
    this.#emit({ type: 'market', marketId });
  }

  #onMessage(item: ItemOf<'book'> | ItemOf<'quote'>): void {
    const { marketId, timeMs } = item;
    const tracker = this.#registry.inPlay(marketId);
    if (tracker === null) return;
    this.#passGapEnds(tracker, timeMs);
    this.#receive(item);
    const isNews = item.kind === 'quote' ? tracker.quote(item) : tracker.book(item);
    if (!isNews && (item.kind === 'quote' || this.#definition.inputs.books !== true)) return;
    this.#deliverOrders();
    this.#emit({ type: 'book', marketId });
  }

  #onTrade(item: ItemOf<'trade'>): void {
    const { marketId, timeMs, side, price, size, eventTimeMs } = item;
    const tracker = this.#registry.inPlay(marketId);
    if (tracker === null) return;
    this.#passGapEnds(tracker, timeMs);
    this.#receive(item);
    tracker.trade(item);
    if (this.#definition.inputs.trades !== true) return;
    this.#deliverOrders();
    const trade = { price: price / TICKS_PER_USDC, size: size / UNITS_PER_SHARE };
    this.#emit({ type: 'trade', marketId, side, ...trade, eventTimeMs });
  }

  #onPrice(item: ItemOf<'price'>): void {
    const { timeMs, price } = item;
    const { ticker, source, eventTimeMs } = price;
    const { model, priceSources } = this.#definition.inputs;
    const usesModel = model === true;
    if (!(price.price > 0) || price.isHistory || (!usesModel && priceSources === undefined)) return;
    const isInPlay = (tracker: MarketTracker) => {
      const { startTimeMs, endTimeMs } = tracker.market;
      // A price before the window only feeds the volatility.
      return usesModel && tracker.source === source && timeMs >= startTimeMs && timeMs < endTimeMs;
    };
    const trackers = this.#registry.ofTicker(ticker);
    for (const tracker of trackers) if (isInPlay(tracker)) this.#passGapEnds(tracker, timeMs);
    this.#receive(item);
    this.#feeds.onPrice(price);
    for (const tracker of trackers) if (isInPlay(tracker)) tracker.price(timeMs);
    this.#emit({ type: 'price', ticker, source, price: price.price, eventTimeMs });
  }

  #onPerpDepth(item: ItemOf<'perp_depth'>): void {
    const { depth } = item;
    this.#receive(item);
    this.#feeds.onDepth(depth);
    this.#emit({ type: 'perp_depth', ticker: depth.ticker, venue: depth.venue });
  }

  #onGap(item: ItemOf<'gap'>): void {
    const { marketId, timeMs, startMs } = item;
    const tracker = this.#registry.inPlay(marketId);
    if (tracker === null) return;
    this.#passGapEnds(tracker, timeMs);
    this.#receive(item);
    tracker.gapDetected(startMs, timeMs);
    this.#deliverOrders();
    this.#emit({ type: 'gap', marketId, sinceMs: startMs });
  }

  #onGapEnd(item: ItemOf<'gap_end'>): void {
    const tracker = this.#registry.inPlay(item.marketId);
    if (tracker === null) return;
    this.#receive(item);
    tracker.gapEnds.add(item.endMs);
  }

  #onResolved(item: ItemOf<'resolved'>): void {
    const { marketId, resolution } = item;
    const tracker = this.#registry.inPlay(marketId);
    this.#receive(item);
    if (tracker === null) return;
    const holds = !tracker.holdings.isEmpty;
    this.#purse.lock(tracker.settle(resolution), resolution.resolvedTimeMs);
    this.#purse.redeem(this.#clock.nowMs);
    this.#paid ||= holds;
    this.#deliverOrders();
    this.#emit({ type: 'resolved', marketId, payoutYes: resolution.payoutYes });
    this.#deliverOrders();
    this.#trades.push(...tracker.trades());
    this.#markets.push(this.#report(tracker));
    this.#orders.forget(tracker);
    this.#registry.leave(marketId);
  }

  /** The record received at a time passes the known ends of gaps before it. */
  #passGapEnds(tracker: MarketTracker, timeMs: number): void {
    for (let endMs = tracker.gapEnds.pass(timeMs); endMs !== null; endMs = tracker.gapEnds.pass(timeMs)) {
      this.#advance(endMs);
      tracker.gapEnded(endMs);
      this.#emit({ type: 'gap_end', marketId: tracker.market.marketId });
      this.#deliverOrders();
    }
  }

  /** The item is visible from now on. */
  #receive({ timeMs, seq }: RunItem): void {
    this.#advance(timeMs);
    this.#clock.seq = seq;
  }

  /** Moves the clock, which never goes back. */
  #advance(timeMs: number): void {
    const clock = this.#clock;
    const { clockMs } = this.#definition.inputs;
    if (clock.nowMs === Number.NEGATIVE_INFINITY) this.#start(timeMs);
    if (clockMs !== undefined && timeMs >= this.#nextClockMs) {
      // After a silence of several periods there is one event, not many at once.
      const beatMs = Math.floor(timeMs / clockMs) * clockMs;
      this.#moveTo(beatMs);
      this.#nextClockMs = beatMs + clockMs;
      this.#emit({ type: 'clock' });
      this.#deliverOrders();
    }
    this.#moveTo(timeMs);
  }

  #start(timeMs: number): void {
    const { clockMs } = this.#definition.inputs;
    this.#clock.nowMs = timeMs;
    if (clockMs !== undefined) this.#nextClockMs = (Math.floor(timeMs / clockMs) + 1) * clockMs;
    this.#equity.add(this.#equityPoint(), true);
  }

  #moveTo(timeMs: number): void {
    if (timeMs <= this.#clock.nowMs) return;
    this.#clock.nowMs = timeMs;
    if (this.#purse.redeem(timeMs)) this.#paid = true;
  }

  #emit(happening: Happening): void {
    // Not copied: every caller makes a new object, and a copy of each would take a tenth of a run's time.
    const event = happening as Happening & { seq: number; timeMs: number };
    event.seq = this.#clock.seq;
    event.timeMs = this.#clock.nowMs;
    this.#definition.onEvent(event as StrategyEvent, this.#context);
  }

  #deliverOrders(): void {
    let delivered = 0;
    for (let order = this.#orders.nextChange(); order !== undefined; order = this.#orders.nextChange()) {
      if (++delivered > ORDER_EVENTS_MAX)
        throw new RangeError(`more than ${ORDER_EVENTS_MAX} order events in one item: do the orders end?`);
      this.#emit({ type: 'order', order });
    }
  }

  #drawEquity(): void {
    const isChange = this.#orders.takeChanged() || this.#paid;
    this.#paid = false;
    if (isChange) this.#equity.add(this.#equityPoint(), true);
    else if (this.#clock.nowMs >= this.#equity.nextMs) {
      const hasValue = [...this.#registry.trackers()].some(({ holdings }) => !holdings.isEmpty);
      if (hasValue) this.#equity.add(this.#equityPoint(), false);
      else this.#equity.skip(this.#clock.nowMs);
    }
  }

  #equityPoint(): EquityPoint {
    const { cash, reserved } = this.#purse;
    let { locked } = this.#purse;
    let marked = 0;
    const { nowMs } = this.#clock;
    for (const tracker of this.#registry.trackers()) {
      if (tracker.holdings.isEmpty) continue;
      if (nowMs >= tracker.market.endTimeMs) locked += tracker.holdings.cost;
      else marked += tracker.marked;
    }
    return { timeMs: nowMs, cash, reserved, locked, marked };
  }

  #money(): { cash: number; equity: number } {
    const { cash, reserved, locked, marked } = this.#equityPoint();
    return { cash, equity: cash + reserved + locked + marked };
  }

  #atEntry({ market, rows, underlying }: MarketTracker, token: 'yes' | 'no'): RunTrade['atEntry'] {
    const yes = rows.yesProb[0] as number;
    return {
      secondsToEnd: (market.endTimeMs - this.#clock.nowMs) / 1_000,
      volatility: underlying?.sigmaAnnual ?? null,
      modelProbability: Number.isNaN(yes) ? null : token === 'yes' ? yes : 1 - yes,
    };
  }

  #report(tracker: MarketTracker): RunMarket {
    return tracker.report(this.#clock.nowMs, this.#definition.inputs.model === true);
  }
}
