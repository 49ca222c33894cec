import { type JournalScan, scanJournals } from './journalScan.ts';
import { KeptSegmentRegistry } from './keptSegmentRegistry.ts';
import { JournalRecovery } from './recovery.ts';
import { rejectedRowCounter } from './rejectedRows.ts';
import { RowInserter } from './rowInserter.ts';
import { AliveFile, createRun, type RunDirectory } from './runDirectory.ts';
import { SegmentQueue } from './segmentQueue.ts';
import type { WriterOptions } from './writerOptions.ts';

/** The components of a writer. */
export interface WriterParts {
  run: RunDirectory;
  alive: AliveFile;
  inserter: RowInserter;
  queue: SegmentQueue;
  kept: KeptSegmentRegistry;
  recovery: JournalRecovery;
  scan: JournalScan;
}

/**
 * Reads the journals of dead runs, recovers them unless that is deferred, and opens a journal for this run.
 * @throws {ConfigError} When another process records into the directory.
 */
export async function openParts(options: WriterOptions): Promise<WriterParts> {
  const { clock, log, metrics, writerName = 'main', readableUpTo = () => clock.monotonic() } = options;
  const scan = await (options.scan ?? scanJournals(options));
  const inserter = new RowInserter(options);
  const kept = new KeptSegmentRegistry({ readableUpTo, clock, log });
  const onProgress = options.onRecovery;
  const recovery = new JournalRecovery({ scan, inserter, kept, clock, log, onProgress });
  try {
    // A full disk prevents all inserts: the rows stay in the journal, and recovery runs once there is space.
    const mayInsert = options.mayInsert?.() ?? true;
    if (options.recovery !== 'background' && mayInsert) await recovery.run();
    const run = await createRun(scan.journalDir, writerName, `${clock.now().toString(36)}-${process.pid}`);
    const alive = await AliveFile.create(run, clock.now());
    const rejected = rejectedRowCounter(metrics);
    const onRejected = (rows: number) => rejected.inc(rows);
    const { rejectedDir } = scan;
    const queue = new SegmentQueue({ inserter, run, kept, rejectedDir, clock, log, onRejected });
    return { run, alive, inserter, queue, kept, recovery, scan };
  } catch (error) {
    await recovery.stop();
    throw error;
  }
}
