import type { AuthFailure, Identity } from '../accounts/authenticate.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Market } from '../schema/market.ts';
import type { StoreReader } from '../store/reader.ts';

/** What the recorder knows at this moment; reading it never waits. */
export interface LiveState {
  /** Receipt of the newest book snapshot of a prediction market; null before the first. */
  readonly latestSnapshotTimeMs: number | null;
  snapshotsLast5Min(): number;
  /** Whether the service can do its work, and if not, why. */
  ready(): { ok: boolean; reasons: string[] };
  /** A market the recorder follows; the store is asked for others. */
  market?(marketId: string): Pick<Market, 'marketId' | 'eventType' | 'ticker'> | null;
}

export interface Authentication {
  authenticate(authorization: string | undefined): Promise<Identity | AuthFailure>;
}

/** Where the served data comes from; anything but `live` is said in a header of every answer. */
export type DataSource = 'live' | 'simulated' | 'replay';

/** Everything the API is built on. */
export interface ApiParts {
  readonly store: StoreReader;
  readonly accounts: Authentication;
  readonly live: LiveState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly dataSource: DataSource;
}
