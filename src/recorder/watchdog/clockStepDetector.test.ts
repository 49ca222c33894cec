import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { ClockStepDetector } from './clockStepDetector.ts';

test('reports no step for a wall clock that drifts by 100 ms per check for a minute', async () => {
  for (const drift of [100, -100, 499]) {
    const clock = new FakeClock();
    const watch = new ClockStepDetector(clock);
    for (let look = 0; look < 600; look++) {
      await clock.advance(100);
      clock.stepWall(drift);
      expect(watch.measureStep()).toBe(0);
    }
  }
});

test('reports half a second at once as one step, in either direction', () => {
  const clock = new FakeClock();
  const watch = new ClockStepDetector(clock);
  for (const step of [500, -500, 86_400_000]) {
    clock.stepWall(step);
    expect([watch.measureStep(), watch.measureStep()]).toEqual([step, 0]);
  }
});
