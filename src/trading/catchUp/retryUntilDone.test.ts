import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { type Logger, silentLogger } from '../../runtime/log.ts';
import { retryUntilDone } from './retryUntilDone.ts';

test('the pauses between tries double from half a second to a minute, and stay there', async () => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const triedMs: number[] = [];
  const done = retryUntilDone(
    'a test',
    async () => {
      triedMs.push(clock.now());
      if (triedMs.length === 2) throw new Error('away');
      return triedMs.length < 10 ? undefined : 'done';
    },
    { clock, log: silentLogger, signal },
  );
  for (let second = 0; second < 400 && triedMs.length < 10; second++) await clock.advance(500);
  const pauses = triedMs.slice(1).map((timeMs, at) => (timeMs - (triedMs[at] as number)) / 1_000);
  expect(pauses).toEqual([0.5, 1, 2, 4, 8, 16, 32, 60, 60]);
  expect(await done).toBe('done');
});

test('ends with trading, whatever the last try came to', async () => {
  const clock = new FakeClock();
  const ending = new AbortController();
  const fails = () => Promise.reject(new Error('away'));
  const done = retryUntilDone('a test', fails, { clock, log: silentLogger, signal: ending.signal });
  await clock.advance(600);
  ending.abort();
  expect(await done).toBeNull();
});

test('a try that fails because trading ends is no failure', async () => {
  const ending = new AbortController();
  const lines: unknown[] = [];
  const log = { ...silentLogger, error: (...line: unknown[]) => void lines.push(line) } as unknown as Logger;
  const run = () => {
    ending.abort();
    return Promise.reject(new Error('closed'));
  };
  const clock = new FakeClock();
  expect(await retryUntilDone('a test', run, { clock, log, signal: ending.signal })).toBeNull();
  expect([lines, clock.waiting]).toEqual([[], 0]);
});

test.each([null, 0, false])('the result %j is a success', async (result) => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const done = retryUntilDone('a test', async () => result, { clock, log: silentLogger, signal });
  await clock.advance(0);
  expect(clock.waiting).toBe(0);
  expect(await done).toBe(result);
});
