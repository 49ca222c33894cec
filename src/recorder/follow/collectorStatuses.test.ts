import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { aliveAt } from '../../../test/support/streamBodies.ts';
import { silentLogger } from '../../runtime/log.ts';
import { CollectorStatuses } from './collectorStatuses.ts';

test('a collector is forgotten after an hour without a message, but never the last one', async () => {
  const clock = new FakeClock();
  const statuses = new CollectorStatuses({ clock, log: silentLogger });
  const hear = (sender: string) => {
    const body = aliveAt(clock.now());
    return statuses.heard({ kind: 'alive', sender, run: `${sender}1`, seq: 1, body } as never, clock.now());
  };
  statuses.caughtUp();
  await clock.advance(1_000);
  expect([hear('c1'), hear('c2')]).toEqual([true, true]);
  await clock.advance(3_600_000);
  hear('c2');
  statuses.forgetOld();
  expect(statuses.degraded()).toEqual(['c1: not heard for 3600 s']);
  await clock.advance(1);
  hear('c2');
  statuses.forgetOld();
  expect(statuses.degraded()).toEqual([]);
  await clock.advance(7_200_000);
  statuses.forgetOld();
  expect(statuses.silentMs).toBe(7_200_000);
});
