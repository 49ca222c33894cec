/** What the runner needs of others, and what it keeps of a market. */
import type { Clock } from '../../runtime/clock.ts';
import type { Market } from '../../schema/market.ts';
import type { TermsVersion } from '../catchUp/marketTerms.ts';
import type { Recording } from '../catchUp/recording.ts';
import type { ResolutionMove } from '../catchUp/resolutions.ts';
import type { KnownSession } from '../paper/positions.ts';
import type { PaperMarket } from './paperMarket.ts';
import type { RecordBuffer } from './recordBuffer.ts';
import type { SessionParts, Sessions } from './sessions.ts';
import type { StrategyIndex } from './strategyIndex.ts';

export interface PaperRunnerParts extends SessionParts {
  readonly recording: Recording;
  /** Markets being recorded. */
  readonly markets: () => Iterable<Market>;
  /** What the table tells of sessions in a market. */
  readonly sessionsOf: (marketId: string) => Promise<KnownSession[]>;
  /** What was kept of a market's terms, in the order they came. */
  readonly termsOf: (marketId: string) => Promise<TermsVersion[]>;
  readonly termsChanged: (version: TermsVersion) => void;
  readonly resolutionMoved: (move: ResolutionMove) => void;
  readonly clock: Clock;
}

export interface Tracked {
  record: Market;
  paper: PaperMarket;
  /** While its past is being read. */
  buffer: RecordBuffer | null;
}

/** What take-ups share with the runner. */
export interface TakenUpMarkets {
  readonly tracked: Map<string, Tracked>;
  readonly strategies: StrategyIndex;
  readonly sessions: Sessions;
  /** Of the newest record the bus has told. */
  readonly lastSeq: () => number;
  /** Brings a market that is up to date to its record's terms, and to its end where it has come. */
  readonly update: (tracked: Tracked, seq: number) => void;
}
