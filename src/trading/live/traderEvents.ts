/** The inputs of the trader. It reads no clock: events that depend on the present carry it. */
import type { MarketTape } from '../../core/session/tape.ts';
import type { Gap } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import type { BookRecord, QuoteRecord, TradeRecord, UnderlyingRecord } from '../../schema/records.ts';
import type { TermsVersion } from './marketTerms.ts';
import type { LiveStrategy } from './paperSession.ts';
import type { PriceFeed, PricePoint } from './priceHistory.ts';
import type { KnownSession } from './sessionFactory.ts';

/** A stretch of a market's recording. */
export interface Stretch {
  /** Contains all gaps of the market, also those outside this stretch. */
  readonly tape: MarketTape;
  /** The last arrival number it covers; null: everything recorded before the call, and perhaps more. */
  readonly toSeq: number | null;
}

/** The present, and the markets being recorded. */
interface Present {
  readonly nowMs: number;
  readonly markets: readonly Market[];
}

/** The records of the bus. */
type RecordedEvent =
  | { readonly kind: 'book'; readonly record: BookRecord }
  | { readonly kind: 'quote'; readonly record: QuoteRecord }
  | { readonly kind: 'trade'; readonly record: TradeRecord }
  | { readonly kind: 'underlying'; readonly record: UnderlyingRecord }
  | { readonly kind: 'gap'; readonly gap: Gap }
  | { readonly kind: 'market'; readonly market: Market; readonly nowMs: number };

/** Changes of the stored strategies. The trader keeps a copy of a strategy that is added. */
type StrategyEvent =
  | ({ readonly kind: 'strategy_added'; readonly strategy: LiveStrategy } & Present)
  | { readonly kind: 'strategy_removed'; readonly strategyId: string }
  | {
      readonly kind: 'strategy_activated';
      readonly strategyId: string;
      readonly fromMs: number;
      readonly nowMs: number;
    }
  | {
      readonly kind: 'strategy_deactivated';
      readonly strategyId: string;
      readonly untilMs: number;
      readonly nowMs: number;
    };

/** Answers to what the trader asked of the recording and the tables. */
export type PastEvent =
  | { readonly kind: 'prices_read'; readonly feed: PriceFeed; readonly points: readonly PricePoint[] }
  /** A market that has a past to be replayed. */
  | { readonly kind: 'past_market'; readonly market: Market }
  /** First answer to `read_past`, again after every failure: the market's sessions and terms in the tables. */
  | {
      readonly kind: 'past_begun';
      readonly marketId: string;
      readonly known: readonly KnownSession[];
      readonly terms: readonly TermsVersion[];
    }
  | { readonly kind: 'stretch_read'; readonly marketId: string; readonly stretch: Stretch }
  /** Answer to `past_paused`. */
  | { readonly kind: 'past_resumed'; readonly marketId: string }
  /** The recording of the market does not fit in memory. */
  | { readonly kind: 'past_too_large'; readonly marketId: string };

export type TraderEvent =
  /** The events of the bus follow. */
  | ({
      readonly kind: 'started';
      /** Markets with open positions. */
      readonly held: readonly string[];
    } & Present)
  | { readonly kind: 'tick'; readonly nowMs: number }
  | RecordedEvent
  | StrategyEvent
  | PastEvent;
