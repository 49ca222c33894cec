import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { InsertClient } from './inserter.ts';
import type { JournalScan } from './journalScan.ts';
import type { MakeRoom } from './segmentFile.ts';

export interface WriterOptions {
  dataDir: string;
  client: InsertClient;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  writerName?: string;
  /** What the journals of dead runs hold, where it was read already: it needs no engine. */
  scan?: Promise<JournalScan>;
  /** `background`: the writer is open before dead runs are recovered, which begins with `startRecovery`. */
  recovery?: 'before' | 'background';
  /** Called with the segments of dead runs and how many of them are in the engine, while `open` waits for them. */
  onRecovery?: (progress: { segments: number; done: number }) => void;
  /**
   * Monotonic time: all rows inserted before it are in parts that were read back. Segments inserted later stay in the
   * journal. By default the engine's word is enough.
   */
  readableUpTo?: () => number;
  /** While it answers false nothing is sent to the engine; the journal goes on. */
  mayInsert?: () => boolean;
  /** Frees space for the journal on a full disk. */
  makeRoom?: MakeRoom | undefined;
}
