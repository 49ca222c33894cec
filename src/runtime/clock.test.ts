import { expect, test, vi } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { type Clock, every, systemClock } from './clock.ts';

/** A clock with early timers: the machine's timers may fire up to a millisecond early by its own monotonic clock. */
class HastyClock extends FakeClock {
  override after(delayMs: number, run: () => void) {
    return super.after(delayMs > 1 ? delayMs - 0.4 : delayMs, run);
  }
}

async function callsOf(clock: FakeClock, { periodMs, forMs }: { periodMs: number; forMs: number }) {
  const calls: number[] = [];
  const timer = every(clock as Clock, periodMs, () => calls.push(Math.round(clock.monotonic())));
  await clock.advance(forMs);
  timer.cancel();
  await clock.advance(10 * periodMs);
  return calls;
}

test.each([
  ['on time', new FakeClock()],
  ['a fraction of a millisecond early', new HastyClock()],
])('calls once per period, until it is cancelled, if timers fire %s', async (_when, clock) => {
  expect(await callsOf(clock, { periodMs: 100, forMs: 350 })).toEqual([100, 200, 300]);
});

test('a late call does not move the next one, and missed calls are skipped', async () => {
  const clock = new FakeClock();
  const calls: number[] = [];
  let heldUpMs = 0;
  const late: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + heldUpMs,
    after: (delayMs, run) => clock.after(delayMs, run),
  };
  const timer = every(late, 100, () => calls.push(late.monotonic()));
  await clock.advance(100);
  heldUpMs = 250;
  await clock.advance(150);
  expect(calls).toEqual([100, 450, 500]);
  timer.cancel();
});

test('a delay longer than the timers of Node allow is not over at once', () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  systemClock.after(1e12, () => {}).cancel();
  expect(timers.mock.calls.map(([, delayMs]) => delayMs)).toEqual([2 ** 31 - 1]);
  timers.mockRestore();
});
