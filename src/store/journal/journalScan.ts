/** Reads the journals of dead runs at a start. It needs no engine, so both start at the same time. */
import { readFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LATE_AFTER_MS } from '../../core/lateness.ts';
import { isAtLimit, whenBelowLimit } from '../../runtime/atLimit.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { SegmentSize } from './joinedBatch.ts';
import { type JournalChunk, readChunks, type SegmentSummary, type Targets } from './journalFormat.ts';
import { rejectedDirectory } from './rejectedRows.ts';
import { RunClaim } from './runClaim.ts';
import { type DeadRun, deadRuns, segmentNumber, waitToBeAlone } from './runDirectory.ts';
import { WaitingRowIndex } from './waitingRowIndex.ts';

/** Waiting prices of this long before the scan are kept in memory: strikes and volatility are computed from them. */
const PRICES_MS = 3_600_000;
const LIMIT_WAIT_MS = 10_000;

export interface PreviousRun {
  /** Whether it ended through `close`, so that none of its records is missing. Also true without a previous run. */
  clean: boolean;
  /** When it was last known to be alive; null without a previous run. */
  lastAliveTimeMs: number | null;
}

/** A segment of a dead run whose rows may not be in the engine. */
export interface WaitingSegment extends SegmentSize {
  readonly path: string;
  readonly number: number;
  /**
   * When its first rows were written to the journal, or the venue time of its oldest book, at most `LATE_AFTER_MS` before
   * the write: no older book in time waits in it. Null without a complete write.
   */
  readonly firstTimeMs: number | null;
}

export interface ScannedRun {
  readonly run: DeadRun;
  /** Null when another process recovers it. */
  readonly claim: RunClaim | null;
  readonly segments: readonly WaitingSegment[];
}

export interface JournalScan {
  readonly journalDir: string;
  readonly rejectedDir: string;
  readonly runs: readonly ScannedRun[];
  readonly previousRun: PreviousRun;
  readonly waiting: WaitingRowIndex;
  /** Bytes at the ends of segments that were cut off during a write. */
  readonly tornBytes: number;
  readonly lastJournalTimeMs: number | null;
}

/** How a start waits at a limit of descriptors or memory. */
interface Patience {
  readonly clock: Clock;
  readonly log: Logger;
  readonly forMs: number;
}

interface ScanOptions {
  readonly dataDir: string;
  readonly writerName?: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * @throws {ConfigError} When another process records into the directory: every change would be stored twice.
 * @throws The system's error at a lasting limit of descriptors or memory. No file was set aside then.
 */
export async function scanJournals(options: ScanOptions): Promise<JournalScan> {
  const { dataDir, writerName = 'main', clock } = options;
  const journalDir = join(dataDir, 'journal');
  const rejectedDir = rejectedDirectory(dataDir);
  await mkdir(rejectedDir, { recursive: true, mode: 0o700 });
  if (writerName === 'main') await waitToBeAlone(journalDir, writerName, options);
  const waiting = new WaitingRowIndex({ pricesAfterMs: clock.now() - PRICES_MS });
  const previousRun: PreviousRun = { clean: true, lastAliveTimeMs: null };
  const scan = { journalDir, rejectedDir, previousRun, waiting };
  const runs: ScannedRun[] = [];
  let tornBytes = 0;
  let lastJournalTimeMs: number | null = null;
  const patience = { clock, log: options.log, forMs: LIMIT_WAIT_MS };
  for (const run of await whenBelowLimit(() => deadRuns(journalDir), patience)) {
    const scanned = await scanRun(run, { rejectedDir, waiting, patience });
    const lastAliveTimeMs = later(run.lastAliveTimeMs, scanned.lastTimeMs);
    lastJournalTimeMs = later(lastJournalTimeMs, scanned.lastTimeMs);
    tornBytes += scanned.tornBytes;
    if (run.segments.length > 0 || run.kept.length > 0) runs.push(scanned);
    if (run.writerName !== writerName || lastAliveTimeMs === null) continue;
    if ((previousRun.lastAliveTimeMs ?? Number.NEGATIVE_INFINITY) >= lastAliveTimeMs) continue;
    previousRun.clean = run.clean;
    previousRun.lastAliveTimeMs = lastAliveTimeMs;
  }
  return { ...scan, runs, tornBytes, lastJournalTimeMs };
}

/** Releases the runs to other processes: this one cannot recover them. */
export async function releaseRuns(scan: Promise<JournalScan>): Promise<void> {
  const runs = await scan.then(
    (scanned) => scanned.runs,
    () => [],
  );
  for (const { claim } of runs) await claim?.release();
}

/** Reads a run's segments one at a time, oldest first: together they may be larger than memory. */
async function scanRun(
  run: DeadRun,
  { rejectedDir, waiting, patience }: { rejectedDir: string; waiting: WaitingRowIndex; patience: Patience },
): Promise<ScannedRun & { lastTimeMs: number | null; tornBytes: number }> {
  const isLeft = run.segments.length > 0 || run.kept.length > 0;
  const claim = isLeft ? await whenBelowLimit(() => RunClaim.of(run.path), patience) : null;
  const segments: WaitingSegment[] = [];
  let tornBytes = 0;
  let lastTimeMs: number | null = null;
  for (const path of run.segments) {
    let [rows, bytes, oldestBookMs] = [0, 0, Number.POSITIVE_INFINITY];
    const onChunk = (chunk: JournalChunk, targets: Targets) => {
      waiting.add(chunk, targets);
      // A book that waits arrived after its own time. A first book may be hours old, and stands for no missing state.
      if (chunk.table === 'books')
        oldestBookMs = Math.min(oldestBookMs, Math.max(chunk.timeMsMin, chunk.writtenTimeMs - LATE_AFTER_MS));
      rows += chunk.rows;
      bytes += chunk.bytes;
    };
    const summary = await readSegment(path, onChunk, {
      rejectedPath: rejectedPath(rejectedDir, run.runId, path),
      patience,
    });
    if (summary === null) continue;
    tornBytes += summary.tornBytes;
    lastTimeMs = later(lastTimeMs, summary.lastTimeMs);
    const firstTimeMs = summary.firstTimeMs === null ? null : Math.min(summary.firstTimeMs, oldestBookMs);
    segments.push({ path, number: segmentNumber(path), rows, bytes, firstTimeMs });
  }
  return { run, claim, segments, lastTimeMs, tornBytes };
}

/** Null where the file no longer exists (another process finished the recovery) or is unreadable and was set aside. */
async function readSegment(
  path: string,
  onChunk: (chunk: JournalChunk, targets: Targets) => void,
  { rejectedPath, patience }: { rejectedPath: string; patience: Patience },
): Promise<SegmentSummary | null> {
  try {
    // A start has hundreds of small files and should be fast: an asynchronous read of each costs several times more.
    const bytes = await whenBelowLimit(() => readFileSync(path), patience);
    const summary = readChunks(bytes, onChunk);
    await nextTurn();
    return summary;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    // The file may be whole.
    if (isAtLimit(error)) throw error;
    patience.log.error({ err: error, path: rejectedPath }, 'store.segment.set_aside');
    await rename(path, rejectedPath);
    return null;
  }
}

export function rejectedPath(rejectedDir: string, runId: string, path: string): string {
  return join(rejectedDir, `${runId}-${basename(path)}`);
}

function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
