import { TakerFee } from '../core/fees.ts';
import { BestPriceAge } from '../core/signals/bestPriceAge.ts';
import { FairValueModel } from '../core/signals/fairValueModel.ts';
import type { MarketState } from '../core/signals/signal.ts';
import {
  feeOfMarket,
  isDecidingPriceRecorded,
  settlementOfMarket,
  venueRulesAt,
} from '../core/venueRules.ts';
import type { SettlementRule } from '../core/venueRulesTable.ts';
import { BookCopy } from '../recorder/bookCopy.ts';
import { type EventType, type Market, type Ticker, UNKNOWN } from '../schema/market.ts';
import type { BookView } from '../schema/records.ts';
import { type Decider, NO_SOURCES, type Sigma, type Spot, type TickerPrices } from './tickerPrices.ts';

/** Volatility window of the engine; readers may request another. */
export const ENGINE_SIGMA_SECONDS = 600;

/** Trading terms from a market's record and the venue's rules. */
interface TradingTerms {
  readonly settlement: SettlementRule;
  readonly feeRule: ReturnType<typeof feeOfMarket>;
  readonly takerHoldMs: number;
}

/** One market as seen by the detectors: its last whole book, whether to trust it, and the model's value. */
export class WatchedMarket implements MarketState {
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly yes = new BookCopy();
  readonly no = new BookCopy();
  readonly priceAge = new BestPriceAge();
  market: Market;
  terms: TradingTerms;
  fee: TakerFee;
  model: FairValueModel;
  /** A whole book has been received. */
  hasBook = false;
  /** The last published state was proven. */
  isProven = false;
  readonly openGaps = new Set<string>();
  nowMs = 0;
  spot: Spot | null = null;
  sigma: Sigma | null = null;
  sources = NO_SOURCES;

  /** Whether the strike can be compared with the recorded prices; it changes only with the record. */
  #hasModel: boolean;

  private constructor(market: Market, known: { ticker: Ticker; eventType: EventType; terms: TradingTerms }) {
    this.market = market;
    this.#hasModel = hasModel(market);
    this.ticker = known.ticker;
    this.eventType = known.eventType;
    this.terms = known.terms;
    this.fee = new TakerFee(known.terms.feeRule);
    this.model = modelOf(market, known.terms);
  }

  /** Null for a market with too little data to price it. */
  static of(market: Market, nowMs: number): WatchedMarket | null {
    const { ticker, eventType } = market;
    const terms = termsOf(market, nowMs);
    if (ticker === UNKNOWN || eventType === UNKNOWN || terms === null) return null;
    return new WatchedMarket(market, { ticker, eventType, terms });
  }

  get trusted(): boolean {
    return this.hasBook && this.isProven && this.openGaps.size === 0;
  }

  get sourcePrices(): readonly number[] {
    return this.sources.prices;
  }

  /** Applies a newer version of the record. */
  applyRecord(market: Market, nowMs: number): void {
    this.market = market;
    this.#hasModel = hasModel(market);
    const terms = termsOf(market, nowMs);
    if (terms === null) return;
    if (JSON.stringify(terms.feeRule) !== JSON.stringify(this.terms.feeRule)) {
      this.fee = new TakerFee(terms.feeRule);
    }
    this.terms = terms;
    this.model = modelOf(market, terms);
  }

  copyBook({ yes, no }: { yes: BookView; no: BookView }): void {
    this.yes.copyFrom(yes);
    this.no.copyFrom(no);
    this.hasBook = true;
  }

  /** Prices the market at `nowMs`, which never goes back. */
  price(prices: TickerPrices, nowMs: number): void {
    this.nowMs = Math.max(this.nowMs, nowMs);
    this.spot = this.#hasModel ? prices.spot(deciderOf(this.market, this.terms), this.nowMs) : null;
    this.sigma = prices.sigma(ENGINE_SIGMA_SECONDS, this.nowMs);
    this.sources = prices.sources(this.nowMs);
    this.updateModel(this.model, { prices, sigma: this.sigma });
  }

  /** Updates a model of this market to its current readings with a given volatility. */
  updateModel(model: FairValueModel, { prices, sigma }: { prices: TickerPrices; sigma: Sigma | null }): void {
    const { nowMs, market, spot, terms } = this;
    const isInside =
      spot !== null && nowMs > model.averageFromMs && terms.settlement.kind === 'chainlink_twap';
    const inside = { decider: deciderOf(market, terms), fromMs: model.averageFromMs, nowMs };
    model.update({
      nowMs,
      strike: nowMs < market.startTimeMs ? null : market.strikePrice,
      spot: spot?.price ?? null,
      sigmaAnnual: sigma?.annual ?? null,
      insideMean: isInside ? prices.insideMean({ ...inside, spot }) : null,
    });
  }
}

export function modelOf(market: Pick<Market, 'endTimeMs'>, { settlement }: TradingTerms): FairValueModel {
  return new FairValueModel({ endTimeMs: market.endTimeMs, settlement });
}

function termsOf(market: Market, nowMs: number): TradingTerms | null {
  const { ticker, eventType } = market;
  if (ticker === UNKNOWN || eventType === UNKNOWN) return null;
  // A listing that names unknown prices leaves the market without a model, not without a fee and its signals.
  const table = venueRulesAt(eventType, ticker, market.startTimeMs);
  const settlement = settlementOfMarket(market) ?? table.settlement;
  const feeRule = feeOfMarket({ ...market, ticker, eventType }, nowMs);
  const takerHoldMs = market.takerDelayMs ?? venueRulesAt(eventType, ticker, nowMs).takerHoldMs;
  return { settlement, feeRule, takerHoldMs };
}

function hasModel(market: Market): boolean {
  return isDecidingPriceRecorded(market) || market.strikeBasis === 'binance_trades';
}

/**
 * A strike estimated from an exchange's trades is off by the difference of the feeds, and so is the exchange's price.
 */
function deciderOf(market: Market, { settlement }: TradingTerms): Decider {
  const isRelayed = settlement.kind === 'chainlink_spot' || settlement.kind === 'chainlink_twap';
  return isRelayed && market.strikeBasis !== 'binance_trades' ? 'chainlink' : 'exchange';
}
