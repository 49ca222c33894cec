import type { TapeMarket } from '../../core/session/tape.ts';
import { tapeMarketOf } from '../../core/session/tapeMarket.ts';
import { type Market, UNKNOWN } from '../../schema/market.ts';
import type { MarketTerms } from './marketTerms.ts';
import { PaperMarket } from './paperMarket.ts';
import { type LiveStrategy, PaperSession, type SessionChanged } from './paperSession.ts';
import type { OnBroken } from './sessionGroup.ts';

interface SessionFactoryOptions {
  readonly changed: SessionChanged;
  /** Called with a session that failed; its market has dropped it. */
  readonly broken: OnBroken;
}

/** A session from before the start, according to the table. */
export interface KnownSession {
  readonly strategyId: string;
  readonly fromMs: number;
  /** Decision time of the last position it opened. */
  readonly lastDecidedMs: number;
}

/** Creates markets and the sessions of strategies on them. */
export class SessionFactory {
  readonly #options: SessionFactoryOptions;

  constructor(options: SessionFactoryOptions) {
    this.#options = options;
  }

  /** A market without rows or sessions. @param terms The terms in force at its first row. */
  market(record: Market, terms: MarketTerms = record): PaperMarket {
    const market = tradable({ ...record, ...terms });
    if (market === null) throw new TypeError('a market of no series is not traded');
    return new PaperMarket(market, this.#options.broken);
  }

  /** @param known The strategy's session in that market according to the table. */
  session(
    paper: PaperMarket,
    strategy: LiveStrategy,
    { known, changed = this.#options.changed }: { known?: KnownSession; changed?: SessionChanged } = {},
  ): PaperSession {
    const { activeFromMs, entries } = strategy;
    // Traded before it was last activated: it makes no entries here beyond those it already made.
    const isEarlier = known !== undefined && known.fromMs < activeFromMs;
    const own = isEarlier ? { untilMs: known.lastDecidedMs + 1 } : entries;
    const fromMs = known?.fromMs ?? activeFromMs;
    return new PaperSession(strategy, paper.viewOf(strategy), { fromMs, changed, entries: own });
  }
}

/** The market's facts for a tape; null for a market outside every series, which no strategy can trade. */
export function tradable(market: Market): TapeMarket | null {
  return market.ticker === UNKNOWN || market.eventType === UNKNOWN ? null : tapeMarketOf(market);
}
