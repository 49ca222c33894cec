/** What the runner needs from other parts, and its state per market. */
import type { Clock } from '../../runtime/clock.ts';
import type { Market } from '../../schema/market.ts';
import type { TermsVersion } from '../catchUp/marketTerms.ts';
import type { Recording } from '../catchUp/recording.ts';
import type { ResolutionMove } from '../catchUp/resolutionCache.ts';
import type { KnownSession } from '../paper/positions.ts';
import type { PaperMarket } from './paperMarket.ts';
import type { RecordBuffer } from './recordBuffer.ts';
import type { SessionFactory, SessionFactoryOptions } from './sessionFactory.ts';
import type { StrategyIndex } from './strategyIndex.ts';

export interface PaperRunnerOptions extends SessionFactoryOptions {
  readonly recording: Recording;
  /** Markets being recorded. */
  readonly markets: () => Iterable<Market>;
  /** The sessions of a market in the table. */
  readonly sessionsOf: (marketId: string) => Promise<KnownSession[]>;
  /** The stored terms of a market, in arrival order. */
  readonly termsOf: (marketId: string) => Promise<TermsVersion[]>;
  readonly termsChanged: (version: TermsVersion) => void;
  readonly resolutionMoved: (move: ResolutionMove) => void;
  readonly clock: Clock;
}

export interface TrackedMarket {
  record: Market;
  paper: PaperMarket;
  /** Set while the market's past is being read. */
  buffer: RecordBuffer | null;
}

/** The state that catching-up markets share with the runner. */
export interface CatchUpContext {
  readonly tracked: Map<string, TrackedMarket>;
  readonly strategies: StrategyIndex;
  readonly sessions: SessionFactory;
  /** Arrival number of the newest record published on the bus. */
  readonly lastSeq: () => number;
  /** Applies the record's terms to a market that has caught up, and settles it if it is resolved. */
  readonly update: (tracked: TrackedMarket, seq: number) => void;
}
