/** A market's terms as the venue publishes and corrects them during trading, above all the strike. */
import { BEFORE_FIRST_SEQ, type TapeMarket } from '../../core/session/tape.ts';

export type MarketTerms = Pick<
  TapeMarket,
  | 'strikePrice'
  | 'strikeKnownTimeMs'
  | 'takerFeeRate'
  | 'takerFeeExponent'
  | 'takerDelayMs'
  | 'twapLookbackSeconds'
  | 'decidingFeed'
>;

/** Terms of a market, in force for records after an arrival number. */
export interface TermsVersion {
  readonly marketId: string;
  readonly afterSeq: number;
  readonly terms: MarketTerms;
}

export function termsOf(market: MarketTerms): MarketTerms {
  const { strikePrice, strikeKnownTimeMs, takerFeeRate, takerFeeExponent } = market;
  const { takerDelayMs, twapLookbackSeconds, decidingFeed } = market;
  const strike = { strikePrice, strikeKnownTimeMs, twapLookbackSeconds, decidingFeed };
  return { ...strike, takerFeeRate, takerFeeExponent, takerDelayMs };
}

/** The terms in force from the market's first row on. */
export function firstTerms(marketId: string, market: MarketTerms): TermsVersion {
  return { marketId, afterSeq: BEFORE_FIRST_SEQ, terms: termsOf(market) };
}

export function sameTerms(one: MarketTerms, other: MarketTerms): boolean {
  return JSON.stringify(termsOf(one)) === JSON.stringify(termsOf(other));
}
