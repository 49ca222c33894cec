import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookRecord, marketRecord } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { Metrics } from '../runtime/metrics.ts';
import { SIGNAL_TIERS } from '../schema/api/signals.ts';
import { DetectionClock, DetectorHost } from './detectorHost.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const MARKETS = 70;
const SHARE = 1_000_000;
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Markets with a cheap pair whose books were proven only afterwards: the next evaluation finds the opportunity. */
function hostOfChances() {
  const detected: { marketId: string; receivedMs: number }[] = [];
  const host = new DetectorHost({
    ...{ clock: new FakeClock(NOW_MS), metrics: new Metrics() },
    sink: {
      detected: async (detection) => {
        const { marketId, receivedMs } = detection;
        detected.push({ marketId, receivedMs });
        return detection;
      },
      executable: async () => undefined,
    },
  });
  const ids = Array.from({ length: MARKETS }, (_, at) => `0x${at.toString(16).padStart(64, '0')}`);
  for (const marketId of ids) {
    host.onMarket(marketRecord({ marketId, startTimeMs: NOW_MS, endTimeMs: NOW_MS + 300_000 }));
    host.onBook(
      bookRecord({
        ...{ seq: 1, marketId, timeMs: NOW_MS, trusted: false },
        ...{ yesBids: [[100, SHARE]], yesAsks: [[4600, 80 * SHARE]] },
        no: { bids: [[100, SHARE]], asks: [[4700, 80 * SHARE]] },
      }),
    );
    const bests = { yesBid: 100, yesAsk: 4600, noBid: 100, noAsk: 4700, yesChanged: false };
    const times = { eventTimeMs: NOW_MS, receivedTimeMs: NOW_MS };
    host.onQuote({ seq: 2, marketId, ...times, ...bests, trusted: true, underlyingPrice: null });
  }
  const tick = (receivedTimeMs: number) =>
    host.onPrice({
      ...{ ticker: 'BTC', source: 'binance_spot', price: 97_000 },
      ...{ eventTimeMs: receivedTimeMs, receivedTimeMs },
    });
  return { host, detected, ids, tick };
}

test('a price evaluates the first markets within its call, the others between other events', async () => {
  const { host, detected, ids, tick } = hostOfChances();
  tick(NOW_MS + 5);
  expect(detected).toHaveLength(32);
  await nextTurn();
  expect(detected).toHaveLength(64);
  await nextTurn();
  expect(detected).toEqual(ids.map((marketId) => ({ marketId, receivedMs: NOW_MS + 5 })));
  host.close();
});

test('prices that arrive faster than all markets can be evaluated skip none of them', async () => {
  const { host, detected, ids, tick } = hostOfChances();
  for (let i = 0; i < 4; i++) {
    tick(NOW_MS + i);
    await nextTurn();
  }
  expect(detected.map(({ marketId }) => marketId).sort()).toEqual(ids);
  host.close();
});

test('once a second every market is evaluated in the same way', async () => {
  const { host, detected } = hostOfChances();
  host.evaluateAll(NOW_MS + 1_000);
  expect(detected).toHaveLength(32);
  await nextTurn();
  await nextTurn();
  expect(detected).toHaveLength(MARKETS);
  host.close();
});

test('a closed host detects nothing more', async () => {
  const { host, detected, tick } = hostOfChances();
  tick(NOW_MS);
  host.close();
  await nextTurn();
  expect(detected).toHaveLength(32);
});

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
