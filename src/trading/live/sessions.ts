import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Market } from '../../schema/market.ts';
import type { MarketTerms } from '../catchUp/marketTerms.ts';
import { tradable } from '../catchUp/recording.ts';
import type { KnownSession } from '../paper/positions.ts';
import { type LiveStrategy, PaperSession, type SessionChanged } from './livePaper.ts';
import { PaperMarket } from './paperMarket.ts';

export interface SessionParts {
  /** Takes what is to be written. */
  readonly changed: SessionChanged;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
}

/** Makes markets and puts strategies on them. */
export class Sessions {
  readonly #parts: SessionParts;
  readonly #failures;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#failures = parts.metrics.counter(
      'underround_paper_session_failures_total',
      'Sessions of a strategy on a market that failed and were ended',
    );
  }

  /** A market that has seen nothing yet, without sessions. @param terms What stood at its first row. */
  market(record: Market, terms: MarketTerms = record): PaperMarket {
    const market = tradable({ ...record, ...terms });
    if (market === null) throw new TypeError('a market of no series is not traded');
    return new PaperMarket(market, ({ marketId, strategy }, error) => {
      this.#failures.inc();
      const line = { err: error, marketId, strategyId: strategy.strategyId };
      this.#parts.log.error(line, 'paper.session_failed');
    });
  }

  /** @param known What the table tells of the strategy in that market. */
  session(
    paper: PaperMarket,
    strategy: LiveStrategy,
    { known, changed = this.#parts.changed }: { known?: KnownSession; changed?: SessionChanged } = {},
  ): PaperSession {
    const { activeFromMs, entries } = strategy;
    // Dealt in before it was last made active: what it opened then is all it opens here.
    const isEarlier = known !== undefined && known.fromMs < activeFromMs;
    const own = isEarlier ? { untilMs: known.lastDecidedMs + 1 } : entries;
    const fromMs = known?.fromMs ?? activeFromMs;
    return new PaperSession(strategy, paper.viewOf(strategy), { fromMs, changed, entries: own });
  }
}
