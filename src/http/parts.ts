import type { Accounts } from '../accounts/accounts.ts';
import type { AccessControl } from '../accounts/keys/accessControl.ts';
import type { RateLimits } from '../accounts/limits/limits.ts';
import type { SecondFactors } from '../accounts/users/secondFactors.ts';
import type { TierTable } from '../accounts/users/tiers.ts';
import type { Backtests } from '../backtest/backtests.ts';
import type { JobRepository } from '../backtest/jobs.ts';
import type { HistoryState } from '../ops/historyProgress.ts';
import type { ReadinessReport } from '../ops/readiness.ts';
import type { NewestBook } from '../recorder/marketMemory.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { SignalReaders } from '../signals/signals.ts';
import type { StoreReader } from '../store/reader.ts';
import type { StreamHub } from '../stream/streamHub.ts';
import type { PaperStrategyService } from '../trading/paper/paperStrategyService.ts';
import type { WebhookControl } from '../webhooks/delivery/webhooks.ts';
import type { Transport } from './transport.ts';

/** What the recorder knows at this moment; reading it never waits. */
export interface LiveState {
  /** Receipt of the newest book snapshot of a prediction market; null before the first. */
  readonly latestSnapshotTimeMs: number | null;
  snapshotsLast5Min(): number;
  /** Whether the service can do its work, and if not, why. */
  ready(): ReadinessReport;
  /** Age of the oldest received row that is not stored yet, in milliseconds; 0 when all are. */
  storeLagMs(): number;
  /** Gaps that are open now. */
  openGaps?(): readonly Gap[];
  /** How far history is that is still being recorded; left out, there is none. */
  readonly history?: HistoryState;
  readonly followed: FollowedMarkets;
}

/** The markets the recorder follows, newer than the store has them; the store is asked for all others. */
export interface FollowedMarkets {
  markets(): Iterable<Market>;
  /** Null: not followed. */
  market(marketId: string): Market | null;
  /** Null: ask the store. A view: read it before anything else runs. */
  book(marketId: string): NewestBook | null;
  /** Gaps that the store may not have, or not in their newest version; oldest first. */
  gaps(marketId: string): readonly Gap[];
}

/** Where the served data comes from; anything but `live` is said in a header of every answer. */
export type DataSource = 'live' | 'simulated' | 'replay';

/** Everything the API is built on. */
export interface ApiParts {
  readonly store: StoreReader;
  readonly accounts: AccessControl;
  /** What the dashboard works on. */
  readonly control: Pick<
    Accounts,
    | 'users'
    | 'setup'
    | 'links'
    | 'keys'
    | 'events'
    | 'sessions'
    | 'passwords'
    | 'maintenance'
    | 'usage'
    | 'issueOwnKey'
    | 'settled'
  >;
  /** One-time codes beside passwords. */
  readonly secondFactors: SecondFactors;
  /** Whether strangers may make themselves an account; they may where it is left out. */
  readonly signUpOpen?: boolean;
  /** Who is told of opportunities. */
  readonly webhooks: WebhookControl;
  /** Plain HTTP from nobody's proxy where it is left out. */
  readonly transport?: Transport;
  /** What each tier may do. */
  readonly tiers: TierTable;
  /** Null: request rates are not limited. */
  readonly rateLimits: RateLimits | null;
  readonly live: LiveState;
  /** Null: this process has none to serve. */
  readonly streams: StreamHub | null;
  /** What the detectors see now, and what they have written down. */
  readonly signals: SignalReaders;
  /** Backtests and sweeps: submitted, read, cancelled. */
  readonly backtests: Pick<Backtests, 'submit' | 'wait' | 'cancel'> & {
    readonly jobs: Pick<JobRepository, 'find' | 'list' | 'count' | 'result'>;
  };
  /** Paper strategies: made, changed, read. */
  readonly paper: Pick<
    PaperStrategyService,
    'create' | 'change' | 'delete' | 'divergence' | 'replayWindow'
  > & {
    readonly strategies: Pick<PaperStrategyService['strategies'], 'find' | 'list'>;
    readonly positions: Pick<PaperStrategyService['positions'], 'list' | 'count' | 'closed'>;
  };
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** They are served at another address, and not at the API's. */
  readonly metricsElsewhere?: boolean;
  readonly dataSource: DataSource;
}
