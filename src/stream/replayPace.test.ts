import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { ReplayPace } from './replayPace.ts';

/** A replay at a speed, a client that can be pressed, and when each requested time was due. */
function rig(speed: number) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const client = { isPressed: false, onDrained: null as (() => void) | null };
  const pace = new ReplayPace(client, { clock, speed, originMs: 1_000, signal: stop.signal });
  const due: number[] = [];
  const play = async (times: readonly number[]) => {
    for (const atMs of times) {
      await pace.until(atMs);
      due.push(clock.monotonic());
    }
  };
  return { clock, stop, client, due, play };
}

test('each time is due after its distance from the origin, divided by the speed', async () => {
  const { clock, due, play } = rig(10);
  const played = play([1_000, 2_000, 2_500, 2_500]);
  await clock.advance(1_000);
  await played;
  expect(due).toEqual([0, 100, 150, 150]);
});

test('every time is due at once without a speed', async () => {
  const { due, play } = rig(0);
  await play([1_000, 9_000_000]);
  expect(due).toEqual([0, 0]);
});

test('time lost to a slow client delays everything later and is not caught up', async () => {
  const { clock, client, due, play } = rig(1);
  client.isPressed = true;
  const played = play([1_100, 1_200, 1_300]);
  await clock.advance(600);
  client.isPressed = false;
  client.onDrained?.();
  await clock.advance(1_000);
  await played;
  expect(due).toEqual([600, 700, 800]);
});

test('a replay whose client left waits no longer', async () => {
  const { clock, stop, client, due, play } = rig(1);
  client.isPressed = true;
  const played = play([1_000, 60_000]);
  await clock.advance(10);
  stop.abort();
  await played;
  expect(due).toEqual([10, 10]);
});
