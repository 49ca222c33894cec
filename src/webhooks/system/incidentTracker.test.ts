import { expect, test } from 'vitest';
import type { SystemFinding } from '../../ops/systemFindings.ts';
import { CALM_MS, IncidentTracker } from './incidentTracker.ts';

const LAG: SystemFinding = { event: 'system.lag', subject: 'store', level: 'bad', summary: 'Behind.' };
const INCIDENT = { ...LAG, incidentId: 'inc_1', beganMs: 0, endedMs: null };

test('an incident ends after a full minute without its finding, at the first moment without it', () => {
  const tracker = new IncidentTracker([INCIDENT]);
  const endedAt = (nowMs: number, findings: readonly SystemFinding[] = []) =>
    tracker.evaluate(findings, nowMs).ended.map(({ endedMs }) => endedMs);
  expect([endedAt(1_000), endedAt(2_000, [LAG]), endedAt(5_000)]).toEqual([[], [], []]);
  expect(endedAt(5_000 + CALM_MS - 1)).toEqual([]);
  expect(endedAt(5_000 + CALM_MS)).toEqual([5_000]);
});
