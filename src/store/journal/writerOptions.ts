import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { JournalScan } from './journalScan.ts';
import type { InsertClient } from './rowInserter.ts';
import type { MakeRoom } from './segmentFile.ts';

export interface WriterOptions {
  dataDir: string;
  client: InsertClient;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  writerName?: string;
  /** The scan of dead runs' journals where it was already started: it needs no engine. */
  scan?: Promise<JournalScan>;
  /** `background`: the writer opens before dead runs are recovered; `startRecovery` begins the recovery. */
  recovery?: 'before' | 'background';
  /**
   * Called with the number of dead runs' segments and how many of them are in the engine, while `open` waits for them.
   */
  onRecovery?: (progress: { segments: number; done: number }) => void;
  /**
   * Monotonic time: all rows inserted before it are in parts that were read back. Segments inserted later stay in the
   * journal. By default every acknowledged insert counts.
   */
  readableUpTo?: () => number;
  /** While it returns false nothing is sent to the engine; journalling continues. */
  mayInsert?: () => boolean;
  /** Frees space for the journal on a full disk. */
  makeRoom?: MakeRoom | undefined;
}
