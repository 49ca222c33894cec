import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SIGNAL_TIERS } from '../schema/api/signals.ts';
import { DetectionClock } from './detectionClock.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);

test('times are distinct within one market, and never decrease over all markets', () => {
  const made = fc.record({
    market: fc.integer({ min: 0, max: 3 }),
    tier: fc.constantFrom(...SIGNAL_TIERS),
    laterMs: fc.integer({ min: -20, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(made, { maxLength: 60 }), (list) => {
      const detectionClock = new DetectionClock();
      const markets = Array.from({ length: 4 }, () => new Map<string, number>());
      let [nowMs, lastMs] = [NOW_MS, 0];
      for (const { market, tier, laterMs } of list) {
        const first = markets[market] as Map<(typeof SIGNAL_TIERS)[number], number>;
        if (first.has(tier)) continue;
        nowMs = Math.max(nowMs + laterMs, lastMs - 90);
        const momentMs = detectionClock.next(first.values(), nowMs);
        expect([...first.values()]).not.toContain(momentMs);
        expect(momentMs).toBeGreaterThanOrEqual(Math.max(nowMs, lastMs));
        first.set(tier, momentMs);
        lastMs = momentMs;
      }
    }),
  );
});

test('a second detection in a millisecond is moved by one, and so is the next one of another market', () => {
  const detectionClock = new DetectionClock();
  const taken = [detectionClock.next([], NOW_MS)];
  expect(detectionClock.next(taken, NOW_MS)).toBe(NOW_MS + 1);
  expect(detectionClock.next([], NOW_MS)).toBe(NOW_MS + 1);
});

test('a clock that is set back further is followed', () => {
  const detectionClock = new DetectionClock();
  detectionClock.next([], NOW_MS);
  expect(detectionClock.next([], NOW_MS - 100)).toBe(NOW_MS);
  expect(detectionClock.next([], NOW_MS - 101)).toBe(NOW_MS - 101);
});
