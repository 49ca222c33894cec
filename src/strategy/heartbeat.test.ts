import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { SteppedClock } from '../../test/support/steppedClock.ts';
import { HangWatchdog, Heartbeat } from './heartbeat.ts';

const EVENT = { seq: 17, timeMs: Date.UTC(2026, 10, 20, 12), type: 'book' };

function watch() {
  const clock = new FakeClock();
  const memories = [Heartbeat.memory(), Heartbeat.memory()] as const;
  const hangs: string[] = [];
  new HangWatchdog(memories, { clock, limitMs: 10_000, onHang: (what) => void hangs.push(what) });
  return { clock, hangs, beats: memories.map((memory) => new Heartbeat(memory)) as [Heartbeat, Heartbeat] };
}

test('an event that does not return within the limit is named, once', async () => {
  const { clock, hangs, beats } = watch();
  beats[1].onEvent(EVENT);
  await clock.advance(10_000);
  expect(hangs).toEqual([]);
  await clock.advance(1_000);
  const at = '2026-11-20T12:00:00.000Z';
  expect(hangs).toEqual([`onEvent did not return within 10 s from the book event 17 of ${at}`]);
  await clock.advance(60_000);
  expect(hangs).toHaveLength(1);
});

test('a file whose modules do not end loading is named', async () => {
  const { clock, hangs, beats } = watch();
  beats[0].onLoad();
  await clock.advance(11_000);
  expect(hangs).toEqual(['loading the file did not end within 10 s']);
});

test('events that return, and threads that wait, are never reported', async () => {
  const { clock, hangs, beats } = watch();
  for (let seq = 0; seq < 30; seq++) {
    beats[0].onEvent({ ...EVENT, seq });
    await clock.advance(5_000);
  }
  beats[0].onReturn();
  await clock.advance(600_000);
  expect(hangs).toEqual([]);
});

test('of several threads that hang, only the first is reported', async () => {
  const { clock, hangs, beats } = watch();
  for (const beat of beats) beat.onLoad();
  await clock.advance(11_000);
  expect(hangs).toHaveLength(1);
});

test('loading for each of several runs may take the limit each time', async () => {
  const { clock, hangs, beats } = watch();
  for (let run = 0; run < 3; run++) {
    beats[0].onLoad();
    await clock.advance(6_000);
    beats[0].onReturn();
  }
  expect(hangs).toEqual([]);
});

test('a process that was suspended for longer than the limit reports no hang', () => {
  const clock = new SteppedClock(0);
  const [memory, hangs] = [Heartbeat.memory(), [] as string[]];
  new HangWatchdog([memory], { clock, limitMs: 10_000, onHang: (what) => void hangs.push(what) });
  new Heartbeat(memory).onEvent(EVENT);
  clock.stepTo(1_000);
  clock.stepTo(3_600_000);
  expect(hangs).toEqual([]);
  for (let check = 1; check < 10; check++) clock.stepTo(3_600_000 + check * 1_000);
  expect(hangs).toHaveLength(1);
});
