import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Market } from '../../schema/market.ts';
import type { MarketTerms } from '../catchUp/marketTerms.ts';
import { tradable } from '../catchUp/recording.ts';
import type { KnownSession } from '../paper/positions.ts';
import { PaperMarket } from './paperMarket.ts';
import { type LiveStrategy, PaperSession, type SessionChanged } from './paperSession.ts';

export interface SessionFactoryOptions {
  /** Persists changed sessions. */
  readonly changed: SessionChanged;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
}

/** Creates markets and the sessions of strategies on them. */
export class SessionFactory {
  readonly #parts: SessionFactoryOptions;
  readonly #failures;

  constructor(parts: SessionFactoryOptions) {
    this.#parts = parts;
    this.#failures = parts.metrics.counter(
      'underround_paper_session_failures_total',
      'Sessions of a strategy on a market that failed and were ended',
    );
  }

  /** A market without rows or sessions. @param terms The terms in force at its first row. */
  market(record: Market, terms: MarketTerms = record): PaperMarket {
    const market = tradable({ ...record, ...terms });
    if (market === null) throw new TypeError('a market of no series is not traded');
    return new PaperMarket(market, ({ marketId, strategy }, error) => {
      this.#failures.inc();
      const line = { err: error, marketId, strategyId: strategy.strategyId };
      this.#parts.log.error(line, 'paper.session_failed');
    });
  }

  /** @param known The strategy's session in that market according to the table. */
  session(
    paper: PaperMarket,
    strategy: LiveStrategy,
    { known, changed = this.#parts.changed }: { known?: KnownSession; changed?: SessionChanged } = {},
  ): PaperSession {
    const { activeFromMs, entries } = strategy;
    // Traded before it was last activated: it makes no entries here beyond those it already made.
    const isEarlier = known !== undefined && known.fromMs < activeFromMs;
    const own = isEarlier ? { untilMs: known.lastDecidedMs + 1 } : entries;
    const fromMs = known?.fromMs ?? activeFromMs;
    return new PaperSession(strategy, paper.viewOf(strategy), { fromMs, changed, entries: own });
  }
}
