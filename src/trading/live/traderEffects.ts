/** The outputs of the trader. */
import type { Market, Outcome } from '../../schema/market.ts';
import type { TermsVersion } from './marketTerms.ts';
import type { PaperSession, SessionState } from './paperSession.ts';
import type { PriceFeed } from './priceHistory.ts';
import type { ResolutionMove } from './resolutionCache.ts';

/** Rows to write. An effect states the result, not a change, so a later one replaces an earlier one. */
type WriteEffect =
  | { readonly kind: 'terms_changed'; readonly version: TermsVersion }
  | { readonly kind: 'resolution_moved'; readonly move: ResolutionMove }
  /** Positions were opened, changed, closed or reversed. */
  | { readonly kind: 'positions_changed'; readonly state: SessionState };

/** Lines of the log. */
export type LogEffect =
  | {
      readonly kind: 'session_failed';
      readonly marketId: string;
      readonly strategyId: string;
      readonly error: unknown;
    }
  | {
      readonly kind: 'resolution_corrected';
      readonly marketId: string;
      readonly correction: 'time' | 'payout';
      readonly outcome: Outcome | null;
    }
  /** Not traded on paper until the next start. */
  | { readonly kind: 'market_given_up'; readonly marketId: string };

/** Requests for data of the past. */
export type ReadEffect =
  /** The recorded prices of the last hour, answered by `prices_read`. */
  | { readonly kind: 'read_prices'; readonly feeds: readonly PriceFeed[] }
  /** A market's record and past, answered by `past_market`. */
  | { readonly kind: 'read_market'; readonly marketId: string }
  /** The markets of a series that ended recently, each answered by `past_market`. */
  | { readonly kind: 'read_ended'; readonly series: string }
  /** A market's record, answered by `market` if it is resolved. */
  | { readonly kind: 'read_resolution'; readonly marketId: string }
  /** A market's past, answered by `past_begun`; a `PastStep` follows each further answer. */
  | { readonly kind: 'read_past'; readonly market: Market };

/** What the replay of one market's past needs next. */
export type PastStep =
  /** Answered by `stretch_read`. */
  | { readonly kind: 'read_stretch'; readonly marketId: string; readonly afterSeq: number }
  /** Some rows were replayed. Answered by `past_resumed`, at once or after other work. */
  | { readonly kind: 'past_paused'; readonly marketId: string }
  /** The market has caught up with the live stream. */
  | { readonly kind: 'past_replayed'; readonly marketId: string };

export type TraderEffect = WriteEffect | LogEffect | ReadEffect | PastStep;

/** Shared, so that an event without effects costs no memory. */
export const NO_EFFECTS: readonly TraderEffect[] = Object.freeze([]);

/**
 * Collects the effects of one event in order. Changed positions come last, each session once: its state after the
 * event, behind the terms that it was traded on.
 */
export class EffectCollector {
  #effects: TraderEffect[] = [];
  readonly #changed = new Set<PaperSession>();

  add(effect: TraderEffect): void {
    this.#effects.push(effect);
  }

  changed(session: PaperSession): void {
    this.#changed.add(session);
  }

  /** Removes and returns all effects. */
  drain(): readonly TraderEffect[] {
    for (const { state } of this.#changed) this.#effects.push({ kind: 'positions_changed', state });
    this.#changed.clear();
    if (this.#effects.length === 0) return NO_EFFECTS;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
