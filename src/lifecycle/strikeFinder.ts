import { PointTape, TradeTape } from '../core/priceTape.ts';
import {
  candleOfEdge,
  decidedTimeMs,
  type Edge,
  type EdgePrice,
  priceAtEdge,
  type Tapes,
  withComputed,
  withEdge,
} from '../core/settlement.ts';
import { settlementOfMarket } from '../core/venueRules.ts';
import type { SettlementRule } from '../core/venueRulesTable.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { UnderlyingEvent } from '../schema/events.ts';
import {
  type Market,
  PRICE_BASES,
  type PriceBasis,
  TICKERS,
  type Ticker,
  UNKNOWN,
} from '../schema/market.ts';
import { candleExchangeOf } from '../venues/binance/candleSource.ts';
import type { CandleCache } from './candleCache.ts';
import type { OpenPrices } from './openPrices.ts';

/** The deciding point itself arrives 1.1-2.4 s late; an estimate waits this long for it. */
const ESTIMATE_AFTER_MS = 3_000;
/** How long after an end the relayed prices are searched; the tapes keep little more. */
const TAPES_SEARCHED_MS = 480_000;
const BASIS_POINTS = 10_000;
const EDGES = ['strike', 'close'] as const;
const DIFFERENCE_BUCKETS_BPS = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 50];

interface TickerTapes extends Tapes {
  readonly chainlink: PointTape;
  readonly twap60: PointTape;
  readonly trades: TradeTape;
}

interface StrikeFinderOptions {
  /** Null when the exchange's REST interface is turned off: hours and days then have estimates at best. */
  candles: CandleCache | null;
  /** Null or absent: a strike that no price stream brought waits for the listing. */
  openPrices?: OpenPrices | null;
  log: Logger;
  metrics: Metrics;
}

/** Determines the price at each end of a window from the feed that decides it, as prices arrive. */
export class StrikeFinder {
  readonly #options: StrikeFinderOptions;
  readonly #tapes = Object.fromEntries(
    TICKERS.map((ticker): [Ticker, TickerTapes] => [
      ticker,
      { chainlink: new PointTape(), twap60: new PointTape(), trades: new TradeTape() },
    ]),
  ) as Record<Ticker, TickerTapes>;
  readonly #known;
  readonly #missing;
  readonly #differences;
  readonly #disagreements;
  /** Markets whose listing names no page that this service can read. */
  readonly #unreadable = new Set<string>();

  constructor(options: StrikeFinderOptions) {
    this.#options = options;
    const { metrics } = options;
    const labels = ['edge', 'basis'] as const;
    this.#known = metrics.counter('underround_strikes_known_total', 'Strikes and closes found, by source', [
      ...labels,
    ]);
    this.#missing = metrics.counter(
      'underround_strikes_missing_total',
      'Ends of windows for which no price was received in time to look for it',
      ['edge'],
    );
    for (const edge of EDGES) this.#missing.inc({ edge }, 0);
    this.#differences = metrics.histogram(
      'underround_strike_difference_bps',
      'Distance between the two best sources of a strike or close, basis points',
      { labelNames: [...labels], buckets: DIFFERENCE_BUCKETS_BPS },
    );
    this.#disagreements = metrics.counter(
      'underround_settlement_disagreements_total',
      'Markets whose venue resolved them otherwise than strike and close say',
      ['market_type'],
    );
  }

  /** Records a price as received, including repeated ones. */
  price({ ticker, source, eventTimeMs, price }: UnderlyingEvent): void {
    const tapes = this.#tapes[ticker];
    if (source === 'chainlink') tapes.chainlink.add(eventTimeMs, price);
    else if (source === 'twap60') tapes.twap60.add(eventTimeMs, price);
    else if (source === 'binance_spot') tapes.trades.add(eventTimeMs, price);
  }

  /** Records a Chainlink point that arrived late: it counts in averages, but is not the price of its second. */
  latePoint({ ticker, eventTimeMs, price }: UnderlyingEvent): void {
    this.#tapes[ticker].chainlink.add(eventTimeMs, price, 'average');
  }

  /** @returns The record with the prices known by `nowMs`; the same object when nothing is new. */
  review(market: Market, nowMs: number): Market {
    if (nowMs < market.startTimeMs) return market;
    const rule = settlementOfMarket(market);
    if (rule === null || market.ticker === UNKNOWN) return market;
    let reviewed = market;
    for (const edge of EDGES) {
      for (const found of this.#pricesAt(reviewed, { rule, edge, ticker: market.ticker, nowMs })) {
        reviewed = withEdge(reviewed, edge, { ...found, knownTimeMs: nowMs });
      }
    }
    return reviewed === market ? market : withComputed(reviewed);
  }

  /** Logs and counts the prices that became known between two versions of a record, from any source. */
  note(before: Market | null, after: Market): void {
    for (const edge of EDGES) this.#noteEdge(edge, before, after);
    if (after.winnerDisagrees !== true || before?.winnerDisagrees === true) return;
    const { slug, eventType, outcome, computedPayoutYes, strikePrice, strikeBasis, closePrice, closeBasis } =
      after;
    this.#disagreements.inc({ market_type: eventType });
    this.#options.log.error(
      { slug, outcome, computedPayoutYes, strikePrice, strikeBasis, closePrice, closeBasis },
      'market.settlement_disagrees',
    );
  }

  /** Reports a forgotten market with an unknown price: none of its ticks arrived, and none was guessed. */
  forgotten(market: Market): void {
    this.#unreadable.delete(market.marketId);
    for (const edge of EDGES) {
      if ((edge === 'strike' ? market.strikePrice : market.closePrice) !== null) continue;
      this.#missing.inc({ edge });
      this.#options.log.warn({ slug: market.slug, edge }, 'market.price_missing');
    }
  }

  #pricesAt(
    market: Market,
    asked: { rule: SettlementRule; edge: Edge; ticker: Ticker; nowMs: number },
  ): EdgePrice[] {
    const { rule, edge, ticker, nowMs } = asked;
    const edgeMs = edge === 'strike' ? market.startTimeMs : market.endTimeMs;
    if (nowMs < edgeMs) return [];
    const found: EdgePrice[] = [];
    const { candles } = this.#options;
    const candle = candles && this.#candleOf(market, asked);
    const basis = edge === 'strike' ? market.strikeBasis : market.closeBasis;
    if (candles !== null && candle !== null && basis !== 'binance_candle') {
      const price = candles.finalPrice(candle, nowMs);
      if (price !== null) found.push({ price, basis: 'binance_candle' });
    }
    const sinceMs = nowMs - decidedTimeMs(rule, edgeMs);
    const taped = sinceMs > TAPES_SEARCHED_MS ? null : priceAtEdge(rule, edgeMs, this.#tapes[ticker]);
    const isEstimate = isEstimated(taped?.basis ?? null);
    if (taped !== null && (!isEstimate || sinceMs >= ESTIMATE_AFTER_MS)) found.push(taped);
    if (edge === 'strike' && isEstimate && isEstimated(basis)) {
      const price = this.#options.openPrices?.openPrice(market, rule, nowMs) ?? null;
      if (price !== null) found.push({ price, basis: 'crypto_price' });
    }
    return found;
  }

  /** The candle of one end on the exchange that the listing names; null if none decides, or the listing names no other. */
  #candleOf(market: Market, { rule, edge, ticker }: { rule: SettlementRule; edge: Edge; ticker: Ticker }) {
    const candle = candleOfEdge(rule, edge, market);
    if (candle === null) return null;
    const { marketId, slug, decidingFeed } = market;
    const exchange = candleExchangeOf({ ticker, decidingFeed });
    if (exchange !== null) return { ...candle, exchange, ticker };
    if (!this.#unreadable.has(marketId)) {
      this.#unreadable.add(marketId);
      this.#options.log.warn({ slug, decidingFeed }, 'market.candle_source_unknown');
    }
    return null;
  }

  #noteEdge(edge: Edge, before: Market | null, after: Market): void {
    const isStrike = edge === 'strike';
    const price = isStrike ? after.strikePrice : after.closePrice;
    const basis = isStrike ? after.strikeBasis : after.closeBasis;
    const difference = isStrike ? after.strikeDifference : after.closeDifference;
    if (price === null || basis === null) return;
    const basisBefore = (isStrike ? before?.strikeBasis : before?.closeBasis) ?? null;
    const differenceBefore = (isStrike ? before?.strikeDifference : before?.closeDifference) ?? null;
    const { slug } = after;
    if (basis !== basisBefore) {
      this.#known.inc({ edge, basis });
      this.#options.log.debug({ slug, edge, price, basis, difference }, 'market.price_known');
    }
    if (difference === null || difference === differenceBefore) return;
    this.#differences.observe({ edge, basis }, (Math.abs(difference) / price) * BASIS_POINTS);
  }
}

/** Also of no price at all: then nothing better than an estimate is known. */
function isEstimated(basis: PriceBasis | null): boolean {
  return basis === null || PRICE_BASES[basis] === 'estimated';
}
