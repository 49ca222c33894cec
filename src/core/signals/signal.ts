/** Inputs and output of the detectors. */
import type { MarketEventType } from '../../schema/market.ts';
import type { BookView, SideView } from '../../schema/records.ts';
import type { TakerFee } from '../fees.ts';
import type { FilledLevel } from '../fills/walk.ts';
import { midOf, sharesOf, TICKS_PER_USDC } from '../money.ts';
import { type BestPriceAge, STABLE_AFTER_MS } from './bestPriceAge.ts';
import type { FairValueModel } from './fairValueModel.ts';

/**
 * `logical`: both outcomes together cost less than they always pay. `endgame`: nearly decided, shortly before the end.
 * `stable` and `stale`: mispriced by the model, at a price that has or has not been unchanged long enough.
 */
export type SignalTier = 'logical' | 'endgame' | 'stable' | 'stale';
export type Confidence = 'stable' | 'stale';
export type Direction = 'BUY_YES' | 'BUY_NO' | 'BUY_BOTH';
export type Token = 'yes' | 'no';

/** One market at one time. A caller may keep one object and change it in place. */
export interface MarketState {
  readonly eventType: MarketEventType;
  /** False for a half-applied, unproven or gapped book: then nothing is ever signalled. */
  readonly trusted: boolean;
  readonly yes: BookView;
  readonly no: BookView;
  readonly fee: TakerFee;
  /** Updated to `nowMs`. */
  readonly model: FairValueModel;
  readonly priceAge: BestPriceAge;
  /** Fresh prices of the underlying, one per source. */
  readonly sourcePrices: readonly number[];
  readonly nowMs: number;
}

/** The asks of one token that the signal counts, best first; prices in ticks, sizes in units of 1/1,000,000 share. */
export interface Leg {
  readonly token: Token;
  readonly levels: readonly FilledLevel[];
}

/** Best prices in USDC; null if a side is empty. */
interface BestPrices {
  readonly yesBid: number | null;
  readonly yesAsk: number | null;
  readonly noBid: number | null;
  readonly noAsk: number | null;
}

/** The model's values at the detection; null where an input was missing. */
interface ModelReading {
  readonly spot: number | null;
  readonly strike: number | null;
  readonly secondsLeft: number;
  readonly sigmaAnnual: number | null;
  readonly sigmaTau: number | null;
  readonly logDiff: number | null;
  readonly yesProb: number | null;
}

/** A detected opportunity with all its inputs. Prices and fees are USDC per share; for BUY_BOTH per pair. */
export interface Signal {
  readonly tier: SignalTier;
  readonly confidence: Confidence;
  readonly direction: Direction;
  /** The best ask; for BUY_BOTH the sum of the two legs' average prices over the whole size. */
  readonly fillPrice: number;
  /** Best ask minus best bid (0 for an empty side); for BUY_BOTH the sum of both tokens. */
  readonly fillSpread: number;
  /** Shares at `fillPrice`; for BUY_BOTH the profitable pairs. */
  readonly availableSize: number;
  /** Taker fee, already in `edgePerShare`; before the venue's rounding to its last decimal. */
  readonly estFeePerShare: number;
  /** Model probability (a pair: 1) minus price minus fee: the expected P&L of a share. */
  readonly edgePerShare: number;
  /** P(Up) by the model; without a model value, the probability that the book implies. */
  readonly modelYesProb: number;
  readonly marketYesMid: number | null;
  /** How long the price has been unchanged; for BUY_BOTH the shorter of the two. */
  readonly heldMs: number;
  readonly legs: readonly Leg[];
  readonly best: BestPrices;
  readonly model: ModelReading;
}

/** Expected payout of a share of the given token. */
export function probabilityOf(token: Token, yesProb: number): number {
  return token === 'yes' ? yesProb : 1 - yesProb;
}

/** The token a signal buys; null for a pair. */
export function boughtToken({ direction }: Pick<Signal, 'direction'>): Token | null {
  if (direction === 'BUY_BOTH') return null;
  return direction === 'BUY_YES' ? 'yes' : 'no';
}

/**
 * `edgePerShare` as if the model said `yesProb`: for reading a board with another volatility. A pair's does not change.
 */
export function repricedEdge(signal: Signal, yesProb: number): number {
  const token = boughtToken(signal);
  if (token === null) return signal.edgePerShare;
  return probabilityOf(token, yesProb) - signal.fillPrice - signal.estFeePerShare;
}

/** A signal for one token at its best ask; the caller has checked that there is one. */
export function singleSignal(
  state: MarketState,
  { token, yesProb, tier }: { token: Token; yesProb: number; tier: 'endgame' | 'model' },
): Signal {
  const { bids, asks } = state[token];
  const [price, size] = [asks.prices[0] as number, asks.sizes[0] as number];
  const heldMs = state.priceAge.askHeldMs(token, state.nowMs);
  const confidence = confidenceOf(heldMs);
  return {
    tier: tier === 'model' ? confidence : tier,
    confidence,
    direction: token === 'yes' ? 'BUY_YES' : 'BUY_NO',
    fillPrice: price / TICKS_PER_USDC,
    fillSpread: spreadTicks(bids, asks) / TICKS_PER_USDC,
    availableSize: sharesOf(size),
    estFeePerShare: state.fee.perShare(price),
    edgePerShare: state.fee.edge(price, probabilityOf(token, yesProb)),
    modelYesProb: yesProb,
    marketYesMid: yesMidOf(state),
    heldMs,
    legs: [{ token, levels: [{ price, size }] }],
    best: bestPricesOf(state),
    model: readingOf(state.model),
  };
}

/** The middle of YES in USDC; null unless both sides exist. */
export function yesMidOf({ yes }: MarketState): number | null {
  return midOf(bestTicks(yes.bids), bestTicks(yes.asks));
}

export function bestPricesOf({ yes, no }: MarketState): BestPrices {
  return {
    yesBid: bestUsdc(yes.bids),
    yesAsk: bestUsdc(yes.asks),
    noBid: bestUsdc(no.bids),
    noAsk: bestUsdc(no.asks),
  };
}

/** A copy, because the model is updated in place. */
export function readingOf(model: FairValueModel): ModelReading {
  const { spot, strike, secondsLeft, sigmaAnnual, sigmaTau, logDiff, yesProb } = model;
  return { spot, strike, secondsLeft, sigmaAnnual, sigmaTau, logDiff, yesProb };
}

export function confidenceOf(heldMs: number): Confidence {
  return heldMs >= STABLE_AFTER_MS ? 'stable' : 'stale';
}

/** In ticks. Without a bid, a share sells for 0. */
export function spreadTicks(bids: SideView, asks: SideView): number {
  return (asks.prices[0] as number) - (bestTicks(bids) ?? 0);
}

/** Whether the book is impossible: such a state is an error even if it is marked trusted. */
export function isCrossed({ bids, asks }: BookView): boolean {
  return bids.count > 0 && asks.count > 0 && (bids.prices[0] as number) > (asks.prices[0] as number);
}

function bestTicks({ count, prices }: SideView): number | null {
  return count === 0 ? null : (prices[0] as number);
}

function bestUsdc(side: SideView): number | null {
  const ticks = bestTicks(side);
  return ticks === null ? null : ticks / TICKS_PER_USDC;
}
