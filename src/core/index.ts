/**
 * The public interface of the engine, as published in `@underround/engine`: books, fees, fills, prices, sessions, runs
 * of strategies of one's own, and statistics. It is pure: no import of other packages, no input or output, no clock and
 * no randomness of its own. Inside this project, import from the module itself.
 */

export type {
  PerpDepthEvent,
  PerpVenueName,
  UnderlyingEvent,
  UnderlyingSource,
} from '../schema/events.ts';
export type {
  EventType,
  Ticker,
} from '../schema/market.ts';
export { EVENT_TYPES, TICKERS } from '../schema/market.ts';
export type { BookSide, BookView, PerpDepthRecord, SideView, TradeSide } from '../schema/records.ts';
export type { Condition, ReplayParams, Strategy } from '../schema/strategy.ts';
export {
  type LatencyModel,
  type OrderTerms,
  type QueueModel,
  REFUSALS,
  type Refusal,
  TIMES_IN_FORCE,
  type TimeInForce,
} from './desk/order.ts';
export { type Outage, restartOf } from './desk/outage.ts';
export { TakerFee } from './fees.ts';
export {
  averagePrice,
  buyForBudget,
  buyShares,
  type Fill,
  type FilledLevel,
  sellShares,
} from './fills/walk.ts';
export { LadderSide } from './ladderSide.ts';
export { Ledger } from './ledger.ts';
export { formatPrice, formatSize, parsePrice, parseSize } from './money.ts';
export { probabilityUp, sigmaPerSecond } from './pricing/probability.ts';
export { VolatilityEstimator } from './pricing/volatilityEstimator.ts';
export { Random } from './random.ts';
export { defineStrategy } from './run/defineStrategy.ts';
export type {
  BookReader,
  Context,
  HeldPosition,
  Inputs,
  MarketView,
  ModelView,
  OwnOrder,
  ParamSpec,
  ParamSpecs,
  ParamValues,
  PlaceOrder,
  PriceLevel,
  StrategyDefinition,
  StrategyEvent,
} from './run/definition.ts';
export { itemsOf, stretchesOf } from './run/itemsOf.ts';
export type {
  EquityPoint,
  OrderOutcome,
  RunFill,
  RunMarket,
  RunOrder,
  RunResult,
  RunTrade,
  SaleReason,
} from './run/result.ts';
export type { RunItem, RunRequest, StrategyRunner } from './run/runner.ts';
export type { RunTape, TickerTape } from './run/runTape.ts';
export { startRun } from './run/startRun.ts';
export type { RunTerms } from './run/terms.ts';
export type { ExitReason, Trade } from './session/position.ts';
export { prepareMarket } from './session/prepare.ts';
export { coverageOf, type MarketReplay, replayMarket, type SkipReason } from './session/replay.ts';
export type { OrderCounts, SessionEvent } from './session/sessionEvents.ts';
export {
  type MarketTape,
  type Resolution,
  TAPE_TRADE_SIDES,
  type TapeBooks,
  type TapeGap,
  type TapeMarket,
  type TapePrices,
  type TapeQuotes,
  type TapeSide,
  type TapeTrades,
} from './session/tape.ts';
export type { Token } from './signals/signal.ts';
export * from './statistics/bootstrap.ts';
export * from './statistics/returns.ts';
export * from './statistics/trackRecord.ts';
export * from './statistics/wilson.ts';
export { compileStrategy } from './strategies/compile.ts';
export { feeOfMarket, VENUE_RULES_VERSION, venueRulesAt } from './venueRules.ts';
