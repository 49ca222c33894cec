/** Reads at start what dead runs left in their journals. It needs no engine, so both are started at once. */
import { readFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { SegmentSize } from './joinedBatch.ts';
import { type JournalChunk, readChunks, type SegmentSummary, type Targets } from './journalFormat.ts';
import { RunClaim } from './runClaim.ts';
import { type DeadRun, deadRuns, segmentNumber, waitToBeAlone } from './runDirectory.ts';
import { WaitingRows } from './waitingRows.ts';

/** Prices that waited are kept in memory for this long before the scan: what strikes and volatility are made of. */
const PRICES_MS = 3_600_000;

export interface PreviousRun {
  /** It ended through `close`, so nothing it recorded is missing. True as well when there was none. */
  clean: boolean;
  /** When it was last known to be alive; null when there was none. */
  lastAliveTimeMs: number | null;
}

/** A segment of a dead run whose rows may not be in the engine. */
export interface WaitingSegment extends SegmentSize {
  readonly path: string;
  readonly number: number;
  /** When its first rows were written to the journal; null where none was written whole. */
  readonly firstTimeMs: number | null;
}

export interface ScannedRun {
  readonly run: DeadRun;
  /** Null: another process recovers it. */
  readonly claim: RunClaim | null;
  readonly segments: readonly WaitingSegment[];
}

export interface JournalScan {
  readonly journalDir: string;
  readonly rejectedDir: string;
  readonly runs: readonly ScannedRun[];
  readonly previousRun: PreviousRun;
  readonly waiting: WaitingRows;
  /** Bytes at the ends of segments that were cut off in the middle of a write. */
  readonly tornBytes: number;
  readonly lastJournalTimeMs: number | null;
}

export interface ScanOptions {
  readonly dataDir: string;
  readonly writerName?: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** @throws {ConfigError} When another process records into the directory: every change would be stored twice. */
export async function scanJournals(options: ScanOptions): Promise<JournalScan> {
  const { dataDir, writerName = 'main', clock } = options;
  const journalDir = join(dataDir, 'journal');
  const rejectedDir = join(journalDir, 'rejected');
  await mkdir(rejectedDir, { recursive: true, mode: 0o700 });
  if (writerName === 'main') await waitToBeAlone(journalDir, writerName, options);
  const waiting = new WaitingRows({ pricesAfterMs: clock.now() - PRICES_MS });
  const previousRun: PreviousRun = { clean: true, lastAliveTimeMs: null };
  const scan = { journalDir, rejectedDir, previousRun, waiting };
  const runs: ScannedRun[] = [];
  let tornBytes = 0;
  let lastJournalTimeMs: number | null = null;
  for (const run of await deadRuns(journalDir)) {
    const scanned = await scanRun(run, { rejectedDir, waiting, log: options.log });
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

/** Leaves the runs to another process: this one cannot recover them. */
export async function releaseRuns(scan: Promise<JournalScan>): Promise<void> {
  const runs = await scan.then(
    (scanned) => scanned.runs,
    () => [],
  );
  for (const { claim } of runs) await claim?.release();
}

/** Reads a run's segments, oldest first, one at a time: together they may be larger than memory. */
async function scanRun(
  run: DeadRun,
  { rejectedDir, waiting, log }: { rejectedDir: string; waiting: WaitingRows; log: Logger },
): Promise<ScannedRun & { lastTimeMs: number | null; tornBytes: number }> {
  const claim = run.segments.length > 0 || run.kept.length > 0 ? await RunClaim.of(run.path) : null;
  const segments: WaitingSegment[] = [];
  let tornBytes = 0;
  let lastTimeMs: number | null = null;
  for (const path of run.segments) {
    let [rows, bytes] = [0, 0];
    const onChunk = (chunk: JournalChunk, targets: Targets) => {
      waiting.add(chunk, targets);
      rows += chunk.rows;
      bytes += chunk.bytes;
    };
    const summary = await readSegment(path, onChunk, {
      rejectedPath: rejectedPath(rejectedDir, run.runId, path),
      log,
    });
    if (summary === null) continue;
    tornBytes += summary.tornBytes;
    lastTimeMs = later(lastTimeMs, summary.lastTimeMs);
    segments.push({ path, number: segmentNumber(path), rows, bytes, firstTimeMs: summary.firstTimeMs });
  }
  return { run, claim, segments, lastTimeMs, tornBytes };
}

/** Null where the file is gone (whoever recovers the run has finished it) or cannot be read; then it is set aside. */
async function readSegment(
  path: string,
  onChunk: (chunk: JournalChunk, targets: Targets) => void,
  { rejectedPath, log }: { rejectedPath: string; log: Logger },
): Promise<SegmentSummary | null> {
  try {
    // Hundreds of small files at a start that should take no time: a wait for each costs several times the reading.
    const summary = readChunks(readFileSync(path), onChunk);
    await nextTurn();
    return summary;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    log.error({ err: error, path: rejectedPath }, 'store.segment.set_aside');
    await rename(path, rejectedPath);
    return null;
  }
}

export function rejectedPath(rejectedDir: string, runId: string, path: string): string {
  return join(rejectedDir, `${runId}-${basename(path)}`);
}

export function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
