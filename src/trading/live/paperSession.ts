/** The memory of a strategy while it trades, and of each market it trades in. */
import { Ledger } from '../../core/ledger.ts';
import type { Trade } from '../../core/session/position.ts';
import { type Entries, MarketSession, type SessionMarket } from '../../core/session/session.ts';
import type { Resolution } from '../../core/session/tape.ts';
import type { CompiledStrategy } from '../../core/strategies/strategy.ts';
import { DEFAULT_PARAMS } from '../../schema/api/strategies.ts';
import type { Outcome } from '../../schema/market.ts';
import type { Execution } from '../../schema/strategy.ts';

/** A strategy in the trader. */
export interface LiveStrategy {
  readonly strategyId: string;
  readonly series: string;
  readonly compiled: CompiledStrategy;
  /** Undefined: purchases take. */
  readonly execution?: Execution | undefined;
  /** Purchase size in whole micro-USD. */
  readonly size: number;
  /** It may trade from this receive time on. */
  activeFromMs: number;
  /** Entries of the current activation, or of the last one. */
  entries: Entries;
}

/** A session's result as the table should show it. */
export interface SessionState {
  readonly strategyId: string;
  readonly marketId: string;
  readonly fromMs: number;
  readonly outcome: Outcome | null;
  readonly trades: readonly Trade[];
}

/** Called whenever the positions of a session may have changed. */
export type SessionChanged = (session: PaperSession) => void;

function sizedTerms({ compiled, size, execution }: LiveStrategy) {
  return { strategy: compiled, size, execution };
}

/** One strategy on one market. */
export class PaperSession {
  readonly strategy: LiveStrategy;
  readonly marketId: string;
  /** It sees no row received before this. */
  readonly fromMs: number;
  readonly session: MarketSession;
  outcome: Outcome | null = null;
  readonly #changed: SessionChanged;

  constructor(
    strategy: LiveStrategy,
    market: SessionMarket,
    {
      fromMs,
      changed,
      entries = strategy.entries,
    }: { fromMs: number; changed: SessionChanged; entries?: Entries },
  ) {
    this.strategy = strategy;
    this.marketId = market.market.marketId;
    this.fromMs = fromMs;
    this.#changed = changed;
    this.session = new MarketSession(market, {
      terms: { ...sizedTerms(strategy), params: DEFAULT_PARAMS },
      ledger: new Ledger(),
      entries,
      listener: ({ kind }) => {
        if (kind === 'fill' || kind === 'taken_back') changed(this);
      },
    });
  }

  get trades(): Trade[] {
    return this.session.trades();
  }

  get state(): SessionState {
    const { strategy, marketId, fromMs, outcome, trades } = this;
    return { strategyId: strategy.strategyId, marketId, fromMs, outcome, trades };
  }

  get hasFills(): boolean {
    return this.trades.length > 0;
  }

  settle(resolution: Resolution, outcome: Outcome | null): void {
    this.outcome = outcome;
    this.session.settle(resolution);
    if (this.hasFills) this.#changed(this);
  }
}
