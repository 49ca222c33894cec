import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { backupWarning, noteBackup, watchBackups } from './backupRecord.ts';
import { Readiness } from './readiness.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const NEXT = 'UNDERROUND_BACKUP_MAX_AGE is 7; run `underround backup` with --verify';

const recordOf = (timeMs: number | null) => ({
  written: null,
  proven: timeMs === null ? null : { id: 'b', place: '/p', time_ms: timeMs },
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
    `the last backup that passed verify was checked 8 days ago; ${NEXT}`,
  ],
  ['of a clock that was a moment ahead', NOW_MS + MINUTE_MS, null],
  [
    'of a clock that was far ahead',
    NOW_MS + MINUTE_MS + 1,
    `the last backup that passed verify was checked at 2026-11-20T12:01:00.001+00:00, which is in the future, so its age is unknown; ${NEXT}`,
  ],
])('a proof %s', (_what, timeMs, expected) => {
  expect(warningOf(timeMs)).toBe(expected);
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
