import { expect, test } from 'vitest';
import { DelayMeter } from './delayMeter.ts';

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
