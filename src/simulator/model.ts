/**
 * The simulated venues as a model: prices, markets, books and relays in simulated time, without a network.
 * History is generated from it at full speed, and the live server continues with the same instance, so that
 * prices and books are continuous. The same seed, start and calls produce the same frames, byte for byte.
 */

import { Random } from '../core/random.ts';
import { DEFAULT_TICKERS, EVENT_TYPES, type EventType, type Ticker } from '../schema/market.ts';
import { seriesSlugOf } from '../venues/polymarket/lifecycle/series.ts';
import { nextWindow, type Window, windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { MINUTE_MS } from './candles.ts';
import { DAILY_CANDLE_MS } from './fairValue.ts';
import { statementTimesMs } from './gammaObjects.ts';
import { foreignMarketFrame, newMarketFrame, resolvedFrame } from './lifecycleFrames.ts';
import {
  type LatencyRange,
  MarketSimulation,
  RECORDED_LATENCY_MS,
  type VenueContext,
} from './marketSimulation.ts';
import {
  decidedByFutures,
  isByCandle,
  type MarketFacts,
  MarketRegistry,
  type SimulatedMarket,
} from './markets.ts';
import { PerpExchange } from './perpExchange.ts';
import { PriceBoard, roundPrice, STEP_MS, TWAP_SECONDS } from './prices.ts';
import { exact, Relay, type RelayPoint } from './relay.ts';
import { Schedule } from './schedule.ts';
import { SpotTape, type SpotTrade } from './spotTape.ts';

/** Receives the model's frames. Times are Unix milliseconds of arrival at a recorder. */
export interface VenueSink {
  /** A market-channel frame; `market` is null for platform-wide ones; `custom` ones need the custom feature. */
  clob(atMs: number, market: SimulatedMarket | null, frame: string, custom: boolean): void;
  relay(atMs: number, point: RelayPoint): void;
  spot(atMs: number, trade: SpotTrade): void;
  /** A window and its book are opened (one window ahead of its start), or Gamma shows a market as final. */
  entered(atMs: number, market: SimulatedMarket): void;
  final(atMs: number, market: SimulatedMarket): void;
  /** Gamma shows another fact of a market: its strike or its final price. */
  stated(atMs: number, market: SimulatedMarket): void;
}

interface ModelOptions {
  readonly seed: string;
  /** Start of simulated time; rounded down to a whole second. */
  readonly startTimeMs: number;
  /** 1 = the venue's own rate of book changes; trades and quotes keep their rate. */
  readonly density?: number;
  /** How often per hour each market's two tokens together cost less than they pay; default never. */
  readonly opportunitiesPerHour?: number;
  /** Delay from a book frame's timestamp to its sending; by default as in the recordings. */
  readonly latencyMs?: LatencyRange;
  readonly tickers?: readonly Ticker[];
  readonly eventTypes?: readonly EventType[];
  /** Windows that start at or after this time run on protocol V2, like after an announced switch; default: none. */
  readonly v2FromMs?: number | undefined;
}

export class VenueModel {
  readonly seed: string;
  readonly startTimeMs: number;
  readonly prices: PriceBoard;
  readonly registry: MarketRegistry;
  readonly perp: PerpExchange;
  readonly schedule: Schedule;
  density: number;
  /** Added to every later book timestamp (milliseconds). */
  stampOffsetMs = 0;
  #sink: VenueSink = SILENT_SINK;
  readonly #live = new Map<SimulatedMarket, MarketSimulation>();
  readonly #playing = new Set<SimulatedMarket>();
  readonly #context: VenueContext;
  readonly #relay: Relay;
  readonly #platform: Random;

  constructor(options: ModelOptions) {
    this.seed = options.seed;
    this.startTimeMs = Math.floor(options.startTimeMs / 1000) * 1000;
    this.density = options.density ?? 1;
    this.schedule = new Schedule(this.startTimeMs);
    const { tickers = DEFAULT_TICKERS, eventTypes = EVENT_TYPES, v2FromMs } = options;
    this.prices = new PriceBoard(this.seed, this.startTimeMs, tickers);
    this.registry = new MarketRegistry(this.seed, this.startTimeMs, {
      tickers: this.prices.tickers,
      v2FromMs,
    });
    this.perp = new PerpExchange(this.seed, this.prices);
    this.#platform = new Random(`${this.seed}/platform`);
    this.#relay = new Relay(this.seed, {
      prices: this.prices,
      schedule: this.schedule,
      emit: (atMs, point) => this.#sink.relay(Math.floor(atMs), point),
    });
    this.#context = {
      seed: this.seed,
      schedule: this.schedule,
      prices: this.prices,
      density: () => this.density,
      opportunitiesPerHour: () => options.opportunitiesPerHour ?? 0,
      latencyMs: options.latencyMs ?? RECORDED_LATENCY_MS,
      stampOffsetMs: () => this.stampOffsetMs,
      emit: (atMs, market, frame) => this.#sink.clob(Math.floor(atMs), market, frame.text, frame.custom),
    };
    this.schedule.at(this.startTimeMs, this.#step);
    const spot = { prices: this.prices, schedule: this.schedule, density: this.#context.density };
    new SpotTape(this.seed, {
      ...spot,
      tickers,
      emit: (atMs, trade) => this.#sink.spot(Math.floor(atMs), trade),
    }).start();
    for (const ticker of tickers) {
      for (const eventType of eventTypes) {
        if (seriesSlugOf(ticker, eventType) !== null) this.#startSeries(ticker, eventType);
      }
    }
    this.schedule.at(this.startTimeMs + 1000, this.#announceForeign);
  }

  get nowMs(): number {
    return this.schedule.nowMs;
  }

  /** Markets with open books; ended markets stay until they are settled. */
  get playing(): Iterable<SimulatedMarket> {
    return this.#playing;
  }

  /** Runs simulated time up to and including `toMs`; the division into calls makes no difference. */
  advance(toMs: number, sink: VenueSink): void {
    this.#sink = sink;
    this.schedule.advance(toMs);
    this.#sink = SILENT_SINK;
  }

  /** The book of a listed market; null once settled. Books of distant windows are created on request. */
  bookOf(market: SimulatedMarket): MarketSimulation | null {
    if (market.fate.isSettled) return null;
    const known = this.#live.get(market);
    if (known) return known;
    const made = new MarketSimulation(market, this.#context);
    this.#live.set(market, made);
    return made;
  }

  readonly #step = (atMs: number): void => {
    this.prices.step(atMs);
    if (atMs % 1000 === 0) this.#relay.second(atMs);
    if (atMs % (10 * MINUTE_MS) === 0) this.registry.prune(atMs);
    this.schedule.at(atMs + STEP_MS, this.#step);
  };

  readonly #announceForeign = (atMs: number): void => {
    this.#sink.clob(Math.floor(atMs), null, foreignMarketFrame(this.#platform, Math.floor(atMs)), true);
    this.schedule.at(
      atMs + this.#platform.exponential(2000 / Math.max(this.density, 0.05)),
      this.#announceForeign,
    );
  };

  #startSeries(ticker: Ticker, eventType: EventType): void {
    const current = windowAt(eventType, this.startTimeMs);
    // The first step, at the very start, runs before any market reads prices.
    this.schedule.at(this.startTimeMs, (atMs) => {
      this.#enter(this.registry.ofWindow(ticker, eventType, current), atMs);
      this.#enter(this.registry.ofWindow(ticker, eventType, nextWindow(eventType, current)), atMs);
    });
    let unlisted = nextWindow(eventType, current);
    while (this.registry.ofWindow(ticker, eventType, unlisted).facts.createdMs < this.startTimeMs) {
      unlisted = nextWindow(eventType, unlisted);
    }
    this.#announceListing(ticker, eventType, unlisted);
  }

  /** Sends `new_market` when a window of the series is listed, a day ahead. */
  #announceListing(ticker: Ticker, eventType: EventType, window: Window): void {
    const market = this.registry.ofWindow(ticker, eventType, window);
    this.schedule.at(market.facts.createdMs, (atMs) => {
      this.#sink.clob(Math.floor(atMs), null, newMarketFrame(market.facts, Math.floor(atMs)), true);
      this.#announceListing(ticker, eventType, nextWindow(eventType, window));
    });
  }

  #enter(market: SimulatedMarket, nowMs: number): void {
    if (this.#playing.has(market)) return;
    this.#playing.add(market);
    const { window, eventType } = market.facts;
    const live = this.bookOf(market);
    if (!live) return;
    const strikeMs = decidedAtMs(eventType, window.startTimeMs);
    if (strikeMs < this.startTimeMs) market.fate.strike = this.#pastStrike(market.facts);
    else this.schedule.at(strikeMs, () => this.#fixStrike(market));
    live.play(nowMs);
    this.#sink.entered(Math.floor(nowMs), market);
    this.schedule.at(window.startTimeMs, (atMs) => this.#enterNext(market, atMs));
    this.#scheduleStatements(market, nowMs);
    this.#scheduleEnd(market);
  }

  #scheduleStatements(market: SimulatedMarket, nowMs: number): void {
    for (const statedMs of statementTimesMs(market.facts)) {
      if (statedMs < nowMs) continue;
      this.schedule.at(statedMs, (atMs) => this.#sink.stated(Math.floor(atMs), market));
    }
  }

  #enterNext(market: SimulatedMarket, nowMs: number): void {
    const { ticker, eventType, window } = market.facts;
    this.#enter(this.registry.ofWindow(ticker, eventType, nextWindow(eventType, window)), nowMs);
  }

  #scheduleEnd(market: SimulatedMarket): void {
    const { window, eventType, habits } = market.facts;
    const endMs = window.endTimeMs;
    this.schedule.at(decidedAtMs(eventType, endMs), () => this.#decide(market));
    this.schedule.at(endMs + habits.finalDelayMs, (atMs) => {
      market.fate.isFinal = true;
      this.#sink.final(Math.floor(atMs), market);
    });
    this.schedule.at(endMs + habits.resolvedDelayMs, (atMs) => {
      if (!habits.resolvedFrameMissing && market.fate.outcome !== null) {
        this.#sink.clob(Math.floor(atMs), market, resolvedFrame(market, Math.floor(atMs)), true);
      }
      market.fate.isSettled = true;
      this.#live.delete(market);
      this.#playing.delete(market);
    });
  }

  #fixStrike({ facts, fate }: SimulatedMarket): void {
    fate.strike = this.#decidingPrice(facts, facts.window.startTimeMs);
  }

  #decide({ facts, fate }: SimulatedMarket): void {
    const close = this.#decidingPrice(facts, facts.window.endTimeMs);
    const strike = fate.strike ?? close;
    fate.finalPrice = close;
    const isTie = close === strike && facts.eventType === 'daily_up_down';
    fate.payoutUp = isTie ? 0.5 : close >= strike ? 1 : 0;
    fate.outcome = isTie ? null : close >= strike ? 'Up' : 'Down';
  }

  /** The price that decides one end of a window: an average for short windows, a candle's close for hours and days. */
  #decidingPrice({ ticker, eventType }: MarketFacts, edgeMs: number): number {
    if (!isByCandle(eventType)) return exact(this.prices.meanOf(ticker, TWAP_SECONDS));
    const minuteMs = eventType === '1h' ? edgeMs - MINUTE_MS : edgeMs;
    const price = this.prices.candles(ticker).minute(minuteMs)?.close ?? this.prices.spot(ticker);
    return roundPrice(ticker, price, decidedByFutures({ ticker, eventType }) ? 'futures' : 'spot');
  }

  #pastStrike(facts: MarketFacts): number {
    const { ticker, eventType, window } = facts;
    if (isByCandle(eventType)) return this.#decidingPrice(facts, window.startTimeMs);
    return exact(this.prices.pastTwap(ticker, window.startTimeMs));
  }
}

/** One millisecond after the end, when the prices of that instant exist. */
function decidedAtMs(eventType: EventType, edgeMs: number): number {
  return edgeMs + 1 + (eventType === 'daily_up_down' ? DAILY_CANDLE_MS : 0);
}

const SILENT_SINK: VenueSink = {
  clob: () => {},
  relay: () => {},
  spot: () => {},
  entered: () => {},
  final: () => {},
  stated: () => {},
};
