/**
 * The prices that decide a window: the price at each end, the ranking of its sources, and the outcome that follows from
 * the two.
 */
import { type Market, PRICE_BASES, type PriceBasis, type StrikeSource } from '../schema/market.ts';
import type { Tape } from './priceTape.ts';
import { settlementOfMarket } from './venueRules.ts';
import type { SettlementRule } from './venueRulesTable.ts';

/** A price at one end of a window, and its source. */
export interface EdgePrice {
  readonly price: number;
  readonly basis: PriceBasis;
}

/** The received prices of one ticker. */
export interface Tapes {
  readonly chainlink: Tape;
  readonly twap60: Tape;
  readonly trades: Tape;
}

export type Edge = 'strike' | 'close';

const MINUTE_MS = 60_000;
const RELAYED_TWAP_SECONDS = 60;
/** Better sources first: a price of an earlier source in the list replaces one of a later source. */
const RANKS = Object.keys(PRICE_BASES) as readonly PriceBasis[];

/** 0 is best. */
export function rankOf(basis: PriceBasis): number {
  return RANKS.indexOf(basis);
}

/** When the price of one end is final: a minute candle that begins there still has a minute to go. */
export function decidedTimeMs(rule: SettlementRule, edgeMs: number): number {
  return rule.kind === 'binance_minute' ? edgeMs + MINUTE_MS : edgeMs;
}

/**
 * The best price on the tapes for one end of a window; the deciding feed's own point before estimates from other feeds.
 * @param edgeMs The end, Unix milliseconds, a whole second.
 * @returns Null if seconds are missing: then nothing is estimated.
 */
export function priceAtEdge(rule: SettlementRule, edgeMs: number, tapes: Tapes): EdgePrice | null {
  switch (rule.kind) {
    case 'chainlink_spot':
      return (
        found('chainlink_relay', tapes.chainlink.at(edgeMs)) ??
        found('binance_trades', tapes.trades.at(edgeMs))
      );
    case 'chainlink_twap': {
      const { lookbackSeconds } = rule;
      const relayed = lookbackSeconds === RELAYED_TWAP_SECONDS ? tapes.twap60.at(edgeMs) : null;
      return (
        found('twap_relay', relayed) ??
        found('chainlink_ticks', tapes.chainlink.meanUntil(edgeMs, lookbackSeconds)) ??
        found('binance_trades', tapes.trades.meanUntil(edgeMs, lookbackSeconds))
      );
    }
    case 'binance_hour':
      return found('binance_trades', tapes.trades.at(edgeMs));
    case 'binance_minute':
      return found('binance_trades', tapes.trades.at(decidedTimeMs(rule, edgeMs)));
  }
}

function found(basis: PriceBasis, price: number | null): EdgePrice | null {
  return price === null ? null : { price, basis };
}

/** The candle with the price of one end, and which of its two prices it is; null if no candle decides. */
export function candleOfEdge(
  rule: SettlementRule,
  edge: Edge,
  window: Pick<Market, 'startTimeMs' | 'endTimeMs'>,
): { interval: '1h' | '1m'; startTimeMs: number; price: 'open' | 'close' } | null {
  if (rule.kind === 'binance_hour') {
    return { interval: '1h', startTimeMs: window.startTimeMs, price: edge === 'strike' ? 'open' : 'close' };
  }
  if (rule.kind !== 'binance_minute') return null;
  const startTimeMs = edge === 'strike' ? window.startTimeMs : window.endTimeMs;
  return { interval: '1m', startTimeMs, price: 'close' };
}

/** Payout of one YES share by the venue's rule: 1, 0, or 0.5 if a tie is split. Never rounds: ties are exact. */
export function payoutOf(rule: SettlementRule, strike: number, close: number): number {
  if (close === strike) return rule.tie === 'up' ? 1 : 0.5;
  return close > strike ? 1 : 0;
}

/**
 * The payout computed from our two prices, or null if they are not comparable. An estimate from another market is off
 * by a few hundredths of a per cent, as much as a window moves; only the same error at both ends cancels out.
 */
function computedPayout(rule: SettlementRule, market: Market): number | null {
  const { strikePrice, strikeBasis, closePrice, closeBasis } = market;
  if (strikePrice === null || closePrice === null || strikeBasis === null || closeBasis === null) return null;
  if (isForeign(strikeBasis) !== isForeign(closeBasis)) return null;
  return payoutOf(rule, strikePrice, closePrice);
}

/** The record with the payout computed from its strike and close, and whether it differs from the venue's payout. */
export function withComputed<M extends Market>(market: M): M {
  const rule = settlementOfMarket(market);
  const computedPayoutYes = rule === null ? null : computedPayout(rule, market);
  const comparable = computedPayoutYes !== null && market.payoutYes !== null;
  const winnerDisagrees = comparable ? computedPayoutYes !== market.payoutYes : null;
  return { ...market, computedPayoutYes, winnerDisagrees };
}

function isForeign(basis: PriceBasis): boolean {
  return basis === 'binance_trades';
}

type EdgeFields = Pick<
  Market,
  | 'strikePrice'
  | 'strikeSource'
  | 'strikeBasis'
  | 'strikeKnownTimeMs'
  | 'strikeDifference'
  | 'closePrice'
  | 'closeBasis'
  | 'closeKnownTimeMs'
  | 'closeDifference'
>;

/**
 * The record after a price for one end was received. A better source replaces a worse one, a worse one only leaves its
 * difference, and the venue's correction of its own price applies from when it was made. Prices received before that
 * end are ignored: there is no strike before the window opens, whatever the source.
 */
export function withEdge<M extends EdgeFields & Pick<Market, 'startTimeMs' | 'endTimeMs'>>(
  market: M,
  edge: Edge,
  heard: EdgePrice & { readonly knownTimeMs: number },
): M {
  const isStrike = edge === 'strike';
  if (heard.knownTimeMs < (isStrike ? market.startTimeMs : market.endTimeMs)) return market;
  const price = isStrike ? market.strikePrice : market.closePrice;
  const basis = isStrike ? market.strikeBasis : market.closeBasis;
  const difference = isStrike ? market.strikeDifference : market.closeDifference;
  if (price === null || basis === null) return withPrice(market, isStrike, heard, null);
  const heardRank = rankOf(heard.basis);
  if (heardRank < rankOf(basis)) {
    const knownTimeMs = isStrike ? market.strikeKnownTimeMs : market.closeKnownTimeMs;
    // The same price was already known; the better source confirms it.
    const since = heard.price === price ? (knownTimeMs ?? heard.knownTimeMs) : heard.knownTimeMs;
    return withPrice(market, isStrike, { ...heard, knownTimeMs: since }, heard.price - price);
  }
  if (heardRank > rankOf(basis)) {
    if (difference !== null) return market;
    const left = price - heard.price;
    return isStrike ? { ...market, strikeDifference: left } : { ...market, closeDifference: left };
  }
  const corrected = PRICE_BASES[basis] === 'official' && heard.price !== price;
  return corrected ? withPrice(market, isStrike, heard, difference) : market;
}

function withPrice<M extends EdgeFields>(
  market: M,
  isStrike: boolean,
  { price, basis, knownTimeMs }: EdgePrice & { readonly knownTimeMs: number },
  difference: number | null,
): M {
  if (!isStrike) {
    const close = { closePrice: price, closeBasis: basis, closeKnownTimeMs: knownTimeMs };
    return { ...market, ...close, closeDifference: difference };
  }
  const strikeSource: StrikeSource = PRICE_BASES[basis];
  const strike = { strikePrice: price, strikeSource, strikeBasis: basis, strikeKnownTimeMs: knownTimeMs };
  return { ...market, ...strike, strikeDifference: difference };
}
