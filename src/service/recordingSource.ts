import type { LiveState } from '../api/createApi.ts';
import type { Bus } from '../bus/bus.ts';
import type { Readiness } from '../ops/readiness.ts';
import type { DiskState } from '../ops/systemFindings.ts';
import type { LiveRecording } from '../recorder/liveRecording.ts';
import type { FollowedMarkets } from '../recorder/marketMemory.ts';
import type { ResumedStore } from '../store/journal/resumeRows.ts';

/** What the roles that read need of the recording, whether this process records or follows those that do. */
export interface RecordingSource {
  readonly store: ResumedStore;
  /** Every record of the recording, as soon as it exists. */
  readonly bus: Bus;
  /** The newest state of the markets being recorded. */
  readonly live: LiveRecording;
  readonly memory: FollowedMarkets;
  /** Age of the oldest received row that is not stored yet, in milliseconds; 0 when all are. */
  storeLagMs(): number;
  /** Resolves once all rows received so far are stored or were set aside. */
  stored(): Promise<void>;
  /** The connections of this process to the venues. */
  readonly priceSources?: NonNullable<LiveState['priceSources']>;
  /** Those of the collectors, where they are other processes. */
  readonly collectors?: NonNullable<LiveState['collectors']>;
  /** In a cluster, what cursors of live streams need to be valid in every process; null in the only process. */
  readonly shared: { readonly baseSeq: number; newestSeq(): number } | null;
  /** The disks that the recording is stored on. */
  disks(): Promise<readonly DiskState[]>;
  /** Adds the reasons for which the recording is not as it should be. */
  addChecks(readiness: Readiness): void;
  /** Called once requests are accepted: work that must not delay a start. */
  listening(): void;
  /** Ends what brings new records; reads are answered until `close`. */
  stopReceiving(): Promise<void>;
  /** Writes what was received, then disconnects from the store. */
  close(): Promise<void>;
}
