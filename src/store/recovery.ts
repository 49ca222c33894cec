/** Brings into the engine what runs that died left in their journals. */
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { StoreRefusedError } from '../errors.ts';
import type { Logger } from '../ops/log.ts';
import type { Inserter } from './inserter.ts';
import { type DeadRun, deadRuns } from './runDirectory.ts';
import { TABLES } from './schema.ts';
import { SegmentFile } from './segmentFile.ts';

export interface RecoveryReport {
  /** Rows the journal held and the engine did not. */
  recoveredRows: number;
  /** Rows of the journal that were in the engine already. */
  skippedRows: number;
  /** Bytes at the ends of segments that were cut off in the middle of a write. */
  tornBytes: number;
  /** When the newest whole piece of the journal was written; null when there was none. */
  lastJournalTimeMs: number | null;
}

export interface PreviousRun {
  /** It ended through `close`, so nothing it recorded is missing. True as well when there was none. */
  clean: boolean;
  /** When it was last known to be alive; null when there was none. */
  lastAliveTimeMs: number | null;
}

export async function recover(options: {
  journalDir: string;
  rejectedDir: string;
  writerName: string;
  inserter: Inserter;
  log: Logger;
}): Promise<{ report: RecoveryReport; previousRun: PreviousRun }> {
  const report: RecoveryReport = { recoveredRows: 0, skippedRows: 0, tornBytes: 0, lastJournalTimeMs: null };
  const previousRun: PreviousRun = { clean: true, lastAliveTimeMs: null };
  for (const run of await deadRuns(options.journalDir)) {
    const lastJournalTimeMs = await recoverRun(run, report, options);
    const lastAliveTimeMs = later(run.lastAliveTimeMs, lastJournalTimeMs);
    report.lastJournalTimeMs = later(report.lastJournalTimeMs, lastJournalTimeMs);
    if (run.writerName === options.writerName && lastAliveTimeMs !== null) {
      if ((previousRun.lastAliveTimeMs ?? Number.NEGATIVE_INFINITY) < lastAliveTimeMs) {
        previousRun.clean = run.clean;
        previousRun.lastAliveTimeMs = lastAliveTimeMs;
      }
    }
  }
  return { report, previousRun };
}

/** Removes the directories of dead runs; only once the new run has a directory of its own to be asked about. */
export async function forgetDeadRuns(journalDir: string, writerName: string): Promise<void> {
  for (const run of await deadRuns(journalDir)) {
    if (run.segments.length === 0 && run.writerName === writerName) await rm(run.path, { recursive: true });
  }
}

async function recoverRun(
  run: DeadRun,
  report: RecoveryReport,
  { inserter, rejectedDir, log }: { inserter: Inserter; rejectedDir: string; log: Logger },
): Promise<number | null> {
  let lastTimeMs: number | null = null;
  for (const path of run.segments) {
    const { tables, targets, tornBytes, lastTimeMs: timeMs } = await new SegmentFile(path).load();
    report.tornBytes += tornBytes;
    lastTimeMs = later(lastTimeMs, timeMs);
    const before = { ...report };
    try {
      for (const [table, rows] of tables) {
        const isReplacing = TABLES[table].replacingBy !== null;
        const present = isReplacing ? new Set<number>() : await inserter.present(table, rows);
        const missing = rows.filter((row) => !present.has(rows.seqs[row] as number));
        report.skippedRows += rows.rows - missing.rows;
        if (missing.rows === 0) continue;
        // Nothing there: the token of the dead run, so that its own insert, should it still be in work in a host that
        // lives, is not stored beside ours. Some there: that insert is done, and its token would shut ours out.
        const suffix = missing.rows === rows.rows && !isReplacing ? '' : '/rest';
        const token = `${run.runId}/${Number(basename(path, '.seg'))}/${table}${suffix}`;
        const target = targets[table] as string;
        const batch = { table, target, rows: missing, token, uncertain: true };
        await inserter.insert(batch, new AbortController().signal);
        report.recoveredRows += missing.rows;
      }
      await rm(path);
    } catch (error) {
      if (!(error instanceof StoreRefusedError)) throw error;
      const kept = join(rejectedDir, `${run.runId}-${basename(path)}`);
      log.error({ err: error, path: kept }, 'store.segment.set_aside');
      await rename(path, kept);
    }
    const recoveredRows = report.recoveredRows - before.recoveredRows;
    const skippedRows = report.skippedRows - before.skippedRows;
    log.info({ path, recoveredRows, skippedRows, tornBytes }, 'store.segment.recovered');
  }
  return lastTimeMs;
}

function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
