import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { ClockWatch } from './watchdogClock.ts';

test('a wall clock that drifts by 100 ms between two looks, for a minute, never steps', async () => {
  for (const drift of [100, -100, 499]) {
    const clock = new FakeClock();
    const watch = new ClockWatch(clock);
    for (let look = 0; look < 600; look++) {
      await clock.advance(100);
      clock.stepWall(drift);
      expect(watch.look()).toBe(0);
    }
  }
});

test('half a second at once is a step in either direction, reported once', () => {
  const clock = new FakeClock();
  const watch = new ClockWatch(clock);
  for (const step of [500, -500, 86_400_000]) {
    clock.stepWall(step);
    expect([watch.look(), watch.look()]).toEqual([step, 0]);
  }
});
