import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { CollectorStatuses, DelayMeter } from './collectorStatuses.ts';

test('clocks that differ make no delay', () => {
  const meter = new DelayMeter();
  expect([meter.delayOf(10_000, 0), meter.delayOf(10_050, 1_000), meter.delayOf(9_990, 2_000)]).toEqual([
    0, 50, 0,
  ]);
  expect(meter.delayOf(16_000, 3_000)).toBe(6_010);
});

test('a clock that was set is known again after at most ten minutes', () => {
  const meter = new DelayMeter();
  meter.delayOf(0, 0);
  expect([meter.delayOf(8_000, 200_000), meter.delayOf(8_000, 400_000)]).toEqual([8_000, 8_000]);
  expect(meter.delayOf(8_000, 600_000)).toBe(8_000);
  expect(meter.delayOf(8_000, 1_000_000)).toBe(0);
});

test('what arrives after an outage is late, also as the first message', () => {
  expect(new DelayMeter().delayOf(3_600_000, 0)).toBe(3_600_000);
});

test('a collector is forgotten after an hour without a message, but never the last one', async () => {
  const clock = new FakeClock();
  const statuses = new CollectorStatuses({ clock, log: silentLogger });
  const hear = (sender: string) => {
    const body = { reasons: [], degraded: [], priceSources: null, sentTimeMs: clock.now() };
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
