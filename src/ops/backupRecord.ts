/** When a data directory was last backed up, and when a backup of it was last proven: `backup.json`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Clock, every } from '../runtime/clock.ts';
import { counted } from '../runtime/counted.ts';
import { replaceFile } from '../runtime/durableFile.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { formatTime } from '../schema/time.ts';
import type { Readiness } from './readiness.ts';

const FILE_NAME = 'backup.json';
const DAY_MS = 86_400_000;
const READ_PERIOD_MS = 60_000;
/** How far a clock may step back after a backup without a warning, as time servers correct it. */
const AHEAD_MS_MAX = 60_000;

const entry = z.object({ id: z.string(), place: z.string(), time_ms: z.number() });
/** `time_ms`: of the check. `made_ms`: when the backup began; earlier releases did not note it. */
const proof = entry.extend({ made_ms: z.number().optional() });
const recordSchema = z.object({ written: entry.nullable(), proven: proof.nullable() });

type Proof = z.output<typeof proof>;
/** `proven`: the newest backup of which a check found every byte, or that was restored. */
type BackupRecord = z.output<typeof recordSchema>;

const NONE: BackupRecord = { written: null, proven: null };

/** Empty where no backup was recorded, or the file is damaged. */
export async function readBackupRecord(dataDir: string): Promise<BackupRecord> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(join(dataDir, FILE_NAME), 'utf8')));
  } catch {
    return NONE;
  }
}

export async function noteBackup(dataDir: string, change: Partial<BackupRecord>): Promise<void> {
  const record = { ...(await readBackupRecord(dataDir)), ...change };
  await replaceFile(join(dataDir, FILE_NAME), `${JSON.stringify(record)}\n`);
}

/** Notes that a backup was proven, unless a newer one was: checks of old backups must not hide that new ones fail. */
export async function noteProof(
  dataDir: string,
  proven: Proof & { made_ms: number },
  nowMs: number,
): Promise<void> {
  const { proven: known } = await readBackupRecord(dataDir);
  const isKnownNewer = (known?.made_ms ?? Number.NEGATIVE_INFINITY) > proven.made_ms;
  if (known !== null && isKnownNewer && !isFuture(known, nowMs)) return;
  await noteBackup(dataDir, { proven });
}

/** When the rows of the backup end: the age of the check would hide that no backup was made since. */
function madeMs({ made_ms: made, time_ms: checked }: Proof): number {
  return made ?? checked;
}

/** Whether the clock was ahead when the backup was made: how long ago that was is unknown. */
function isFuture(proven: Proof, nowMs: number): boolean {
  return madeMs(proven) > nowMs + AHEAD_MS_MAX;
}

/** What to warn the operator of; null without a limit or within it. */
export function backupWarning(
  { proven }: BackupRecord,
  { maxAgeDays, nowMs }: { maxAgeDays: number | null; nowMs: number },
): string | null {
  if (maxAgeDays === null) return null;
  const next = `UNDERROUND_BACKUP_MAX_AGE is ${maxAgeDays}; run \`underround backup\` with --verify`;
  if (proven === null) return `no backup has passed verify; ${next}`;
  if (isFuture(proven, nowMs))
    return `the newest backup that passed verify was made at ${formatTime(madeMs(proven))}, which is in the future, so its age is unknown; ${next}`;
  const days = (nowMs - madeMs(proven)) / DAY_MS;
  if (days <= maxAgeDays) return null;
  return `the newest backup that passed verify was made ${counted(Math.floor(days), 'day')} ago; ${next}`;
}

/** Reports the age of the newest proven backup in `/readyz`, on the operator's page and in a metric. */
export async function watchBackups(
  { dataDir, maxAgeDays }: { dataDir: string; maxAgeDays: number | null },
  { readiness, clock, log, metrics }: { readiness: Readiness; clock: Clock; log: Logger; metrics: Metrics },
): Promise<{ stop(): void }> {
  let record = await readBackupRecord(dataDir);
  let warned: string | null = null;
  const warn = () => {
    const line = backupWarning(record, { maxAgeDays, nowMs: clock.now() });
    if (line !== null && warned === null) log.warn({ reason: line }, 'backup.too_old');
    warned = line;
  };
  warn();
  const timer = every(clock, READ_PERIOD_MS, () => {
    void readBackupRecord(dataDir).then((read) => {
      record = read;
      warn();
    });
  });
  readiness.addDegraded(() => {
    const line = backupWarning(record, { maxAgeDays, nowMs: clock.now() });
    return line === null ? [] : [line];
  });
  metrics.gauge(
    'underround_backup_proven_timestamp_seconds',
    'When the newest backup that passed verify or restore --check was made; 0 if none did, or if that time is in the future',
    [],
    (gauge) => {
      const { proven } = record;
      const isKnown = proven !== null && !isFuture(proven, clock.now());
      gauge.set(isKnown ? madeMs(proven) / 1_000 : 0);
    },
  );
  return { stop: () => timer.cancel() };
}
