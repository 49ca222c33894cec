import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { backupWarning, noteBackup, noteProof, readBackupRecord, watchBackups } from './backupRecord.ts';
import { Readiness } from './readiness.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const NEXT = 'UNDERROUND_BACKUP_MAX_AGE is 7; run `underround backup` with --verify';

/** A backup that was proven now. @param madeMs When it was made; null: there is none. */
const recordOf = (madeMs: number | null) => ({
  written: null,
  proven: madeMs === null ? null : { id: 'b', place: '/p', time_ms: NOW_MS, made_ms: madeMs },
});
const warningOf = (timeMs: number | null) =>
  backupWarning(recordOf(timeMs), { maxAgeDays: 7, nowMs: NOW_MS });

test.each([
  ['none', null, `no backup has passed verify; ${NEXT}`],
  ['of now', NOW_MS, null],
  ['at the limit', NOW_MS - 7 * DAY_MS, null],
  [
    'beyond the limit',
    NOW_MS - 8 * DAY_MS,
    `the newest backup that passed verify was made 8 days ago; ${NEXT}`,
  ],
  ['of a clock that was a moment ahead', NOW_MS + MINUTE_MS, null],
  [
    'of a clock that was far ahead',
    NOW_MS + MINUTE_MS + 1,
    `the newest backup that passed verify was made at 2026-11-20T12:01:00.001+00:00, which is in the future, so its age is unknown; ${NEXT}`,
  ],
])('a proven backup %s', (_what, timeMs, expected) => {
  expect(warningOf(timeMs)).toBe(expected);
});

test('a proof of an earlier release has the time of the check alone', () => {
  const proven = { id: 'b', place: '/p', time_ms: NOW_MS - 1.5 * DAY_MS };
  expect(backupWarning({ written: null, proven }, { maxAgeDays: 1, nowMs: NOW_MS })).toBe(
    'the newest backup that passed verify was made 1 day ago; UNDERROUND_BACKUP_MAX_AGE is 1; run `underround backup` with --verify',
  );
});

const proofOf = (id: string, { madeMs, checkedMs }: { madeMs: number; checkedMs: number }) => ({
  ...{ id, place: '/p', time_ms: checkedMs, made_ms: madeMs },
});

test('a check of an old backup does not make a proven one older, and an old one no younger', async () => {
  const dataDir = temporaryDirectory();
  const old = proofOf('old', { madeMs: NOW_MS - 9 * DAY_MS, checkedMs: NOW_MS });
  await noteProof(dataDir, old, NOW_MS);
  const warning = backupWarning(await readBackupRecord(dataDir), { maxAgeDays: 7, nowMs: NOW_MS });
  expect(warning).toBe(`the newest backup that passed verify was made 9 days ago; ${NEXT}`);
  const newer = proofOf('newer', { madeMs: NOW_MS - DAY_MS, checkedMs: NOW_MS });
  await noteProof(dataDir, newer, NOW_MS);
  await noteProof(dataDir, { ...old, time_ms: NOW_MS + 1 }, NOW_MS + 1);
  expect((await readBackupRecord(dataDir)).proven).toEqual(newer);
});

test.each([
  ['of an earlier release', { id: 'known', place: '/p', time_ms: NOW_MS }],
  ['that was made by a clock ahead', proofOf('known', { madeMs: NOW_MS + DAY_MS, checkedMs: NOW_MS })],
])('a check replaces a proof %s', async (_which, known) => {
  const dataDir = temporaryDirectory();
  await noteBackup(dataDir, { proven: known });
  const proof = proofOf('new', { madeMs: NOW_MS - DAY_MS, checkedMs: NOW_MS });
  await noteProof(dataDir, proof, NOW_MS);
  expect((await readBackupRecord(dataDir)).proven).toEqual(proof);
});

test('without a limit there is no warning', () => {
  const options = { maxAgeDays: null, nowMs: NOW_MS };
  expect(backupWarning(recordOf(NOW_MS + DAY_MS), options)).toBeNull();
});

test('a proof from the future is reported like none until its time has come', async () => {
  const dataDir = temporaryDirectory();
  const [clock, metrics, readiness] = [new FakeClock(), new Metrics(), new Readiness()];
  await noteBackup(dataDir, recordOf(clock.now() + DAY_MS));
  const parts = { readiness, clock, log: silentLogger, metrics };
  const watch = await watchBackups({ dataDir, maxAgeDays: 7 }, parts);
  onTestFinished(() => watch.stop());
  const shown = async () =>
    /^underround_backup_proven_timestamp_seconds (\S+)$/m.exec(await metrics.registry.metrics())?.[1];
  expect(await shown()).toBe('0');
  expect(readiness.report().degraded).toHaveLength(1);
  clock.stepWall(DAY_MS);
  expect(await shown()).toBe(String(clock.now() / 1_000));
  expect(readiness.report().degraded).toEqual([]);
});
