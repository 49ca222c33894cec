import { beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import type { Receiving } from '../bus/topics.ts';
import { silentLogger } from '../runtime/log.ts';
import { ReceptionDelay } from './receptionDelay.ts';

let clock: FakeClock;
let lagMs: number;
let recorder: { isReceiving: boolean; knownToMs: number };
let published: Receiving[];
let logged: string[];
let delay: ReceptionDelay;

beforeEach(() => {
  clock = new FakeClock(1_000_000);
  [lagMs, published, logged] = [0, [], []];
  recorder = { isReceiving: true, knownToMs: Number.POSITIVE_INFINITY };
  const note = (_: object, event: string) => void logged.push(event);
  delay = new ReceptionDelay({
    ...{ recorder, clock, lagMs: () => lagMs },
    bus: { publish: (_, event) => void published.push(event as Receiving) },
    log: { ...silentLogger, warn: note, info: note } as never,
  });
});

test('books are untrusted while frames of more than 5 s ago wait, until less than a second is missing', async () => {
  lagMs = 5_000;
  await clock.advance(500);
  expect([recorder.isReceiving, published]).toEqual([true, []]);
  lagMs = 5_001;
  await clock.advance(500);
  expect(recorder).toEqual({ isReceiving: false, knownToMs: 1_001_000 - 5_001 });
  lagMs = 1_001;
  await clock.advance(500);
  expect(recorder).toEqual({ isReceiving: false, knownToMs: 1_001_500 - 1_001 });
  lagMs = 1_000;
  await clock.advance(500);
  expect(recorder).toEqual({ isReceiving: true, knownToMs: Number.POSITIVE_INFINITY });
  expect(published).toEqual([
    { isReceiving: false, timeMs: 1_001_000 },
    { isReceiving: true, timeMs: 1_002_000 },
  ]);
  expect(logged).toEqual(['recorder.behind', 'recorder.caught_up']);
});

test('the process says that it is behind, and is not ready beyond 10 s', async () => {
  expect([delay.reasons(), delay.degraded()]).toEqual([[], []]);
  lagMs = 10_000;
  await clock.advance(500);
  expect([delay.reasons(), delay.degraded()]).toEqual([[], ['recording 10.0 s behind what was received']]);
  lagMs = 10_001;
  expect(delay.reasons()).toEqual([
    'recording is 10 s behind what was received: this process gets too little CPU, or waits for its disk',
  ]);
});

test('nothing is checked after it was closed', async () => {
  delay.close();
  lagMs = 60_000;
  await clock.advance(5_000);
  expect(recorder.isReceiving).toBe(true);
});
