import { expect, test } from 'vitest';
import { unaskedStore } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { AuditFinisher } from './auditFinisher.ts';
import type { AuditLog } from './auditLog.ts';
import type { AuditReader } from './auditReader.ts';

test('a row is not finished from the store before the store has the books for its fills', async () => {
  const clock = new FakeClock();
  const asked: number[] = [];
  const reader = {
    unexecuted: async (beforeMs: number) => {
      asked.push(clock.now() - beforeMs);
      return [];
    },
    unsettled: async () => [],
  } as unknown as AuditReader;
  let lagMs = 0;
  const finisher = new AuditFinisher({
    reader,
    audit: {} as AuditLog,
    store: unaskedStore,
    storeLagMs: () => lagMs,
    clock,
    log: silentLogger,
    metrics: new Metrics(),
  });
  await finisher.round();
  lagMs = 540_000;
  await finisher.round();
  expect(asked).toEqual([30_000, 570_000]);
  await finisher.close();
});
