/** The interface of a run, the same for a recording and for the live stream. */
import type { PerpDepthEvent, UnderlyingEvent } from '../../schema/events.ts';
import type { TradeSide } from '../../schema/records.ts';
import type { Ladders, Resolution, TapeMarket } from '../session/tape.ts';
import type { ParamSpecs, StrategyDefinition } from './definition.ts';
import type { RunResult } from './result.ts';
import type { RunTerms } from './terms.ts';

/** One thing received, in order of arrival: `seq` never decreases, `timeMs` is our receipt. */
export type RunItem = { readonly seq: number; readonly timeMs: number } & (
  | { readonly kind: 'market'; readonly market: TapeMarket }
  | {
      readonly kind: 'book';
      readonly marketId: string;
      readonly trusted: boolean;
      /** Number of the book in these ladders; they belong to the market and stay the same object. */
      readonly book: number;
      readonly ladders: Ladders;
    }
  | {
      readonly kind: 'quote';
      readonly marketId: string;
      readonly trusted: boolean;
      readonly yesBid: number;
      readonly yesAsk: number;
      readonly noBid: number;
      readonly noAsk: number;
      readonly underlying: number;
    }
  | {
      readonly kind: 'trade';
      readonly marketId: string;
      readonly side: TradeSide;
      /** Ticks and units. */
      readonly price: number;
      readonly size: number;
      readonly eventTimeMs: number;
    }
  | { readonly kind: 'price'; readonly price: UnderlyingEvent }
  | { readonly kind: 'perp_depth'; readonly depth: PerpDepthEvent }
  /** A gap was detected; it reaches back to `startMs`. Each gap comes once; `id` (see `gapKey`) names it in its market. */
  | { readonly kind: 'gap'; readonly id: number; readonly marketId: string; readonly startMs: number }
  /** The end of a gap became known. The market is trusted again with its first book received from then on. */
  | { readonly kind: 'gap_end'; readonly id: number; readonly marketId: string; readonly endMs: number }
  | { readonly kind: 'resolved'; readonly marketId: string; readonly resolution: Resolution }
);

export interface RunRequest {
  readonly definition: StrategyDefinition<ParamSpecs, unknown>;
  readonly params: Readonly<Record<string, number | boolean | string>>;
  readonly terms: RunTerms;
}

export interface StrategyRunner {
  push(item: RunItem): void;
  /** The result so far; calling it changes nothing. */
  result(): RunResult;
}
