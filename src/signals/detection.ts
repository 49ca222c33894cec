/** The content of one audit row: an opportunity as first detected, with all its inputs. */
import { createHash } from 'node:crypto';
import type { Confidence, Direction, Leg, Signal, SignalTier } from '../core/signals/signal.ts';
import { VENUE_RULES_VERSION } from '../core/venueRules.ts';
import type { FeeRule } from '../core/venueRulesTable.ts';
import type { EventType, StrikeSource, Ticker } from '../schema/market.ts';
import type { SpotSource } from './tickerPrices.ts';
import type { WatchedMarket } from './watchedMarket.ts';

/**
 * One detection, plain data: it is stored as canonical JSON and hashed. Prices and fees are USDC per share (pair for
 * BUY_BOTH), sizes shares, levels [USDC, shares] best first, times Unix milliseconds.
 */
export interface Detection {
  readonly auditId: string;
  /** Unique among the detections of a market. */
  readonly detectedMs: number;
  /** Receive time of the book change or price that caused it. */
  readonly receivedMs: number;
  readonly marketId: string;
  readonly slug: string;
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly endMs: number;
  readonly tier: SignalTier;
  readonly confidence: Confidence;
  readonly direction: Direction;
  readonly fillPrice: number;
  readonly fillSpread: number;
  readonly feePerShare: number;
  readonly evPerShare: number;
  readonly modelYesProb: number;
  readonly marketYesMid: number | null;
  readonly availableSize: number;
  readonly heldMs: number;
  readonly spot: number | null;
  readonly spotSource: SpotSource | null;
  readonly spotBasis: number | null;
  readonly sourcePrices: readonly { readonly source: SpotSource; readonly price: number }[];
  readonly strike: number | null;
  readonly strikeSource: StrikeSource | null;
  readonly strikeBasis: string | null;
  readonly sigmaAnnual: number | null;
  readonly sigmaSource: SpotSource | null;
  readonly sigmaWindowSeconds: number | null;
  readonly sigmaTau: number | null;
  readonly logDiff: number | null;
  readonly tauSeconds: number;
  readonly best: Signal['best'];
  readonly legs: readonly Leg[];
  readonly feeRule: FeeRule;
  readonly takerHoldMs: number;
  readonly rulesVersion: string;
}

/** The same in every process and after every start: one row per market and kind. */
export function auditIdOf(marketId: string, tier: SignalTier): string {
  return `au_${createHash('sha256').update(`${marketId}:${tier}`).digest('hex').slice(0, 24)}`;
}

/** Copies all inputs of a signal. The kind is the episode's, whatever the price's age is later. */
export function detectionOf(
  watched: WatchedMarket,
  signal: Signal,
  { tier, detectedMs, receivedMs }: { tier: SignalTier; detectedMs: number; receivedMs: number },
): Detection {
  const { market, spot, sigma, sources, terms } = watched;
  const { model } = signal;
  return {
    auditId: auditIdOf(market.marketId, tier),
    detectedMs,
    receivedMs,
    marketId: market.marketId,
    slug: market.slug,
    ticker: watched.ticker,
    eventType: watched.eventType,
    endMs: market.endTimeMs,
    tier,
    confidence: signal.confidence,
    direction: signal.direction,
    fillPrice: signal.fillPrice,
    fillSpread: signal.fillSpread,
    feePerShare: signal.estFeePerShare,
    evPerShare: signal.edgePerShare,
    modelYesProb: signal.modelYesProb,
    marketYesMid: signal.marketYesMid,
    availableSize: signal.availableSize,
    heldMs: signal.heldMs,
    spot: model.spot,
    spotSource: spot?.source ?? null,
    spotBasis: spot?.basis ?? null,
    sourcePrices: sources.bySource,
    strike: model.strike,
    strikeSource: model.strike === null ? null : market.strikeSource,
    strikeBasis: model.strike === null ? null : market.strikeBasis,
    sigmaAnnual: model.sigmaAnnual,
    sigmaSource: sigma?.source ?? null,
    sigmaWindowSeconds: sigma?.windowSeconds ?? null,
    sigmaTau: model.sigmaTau,
    logDiff: model.logDiff,
    tauSeconds: model.secondsLeft,
    best: signal.best,
    legs: signal.legs,
    feeRule: terms.feeRule,
    takerHoldMs: terms.takerHoldMs,
    rulesVersion: VENUE_RULES_VERSION,
  };
}
