import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { StoreRefusedError, StoreUnavailableError } from '../runtime/errors.ts';
import { untilStored } from './untilStored.ts';

const never = () => new Promise<void>(() => undefined);
const { signal } = new AbortController();

test('ends when the rows are stored, and leaves no timer', async () => {
  const clock = new FakeClock();
  await untilStored(async () => undefined, { signal, clock });
  expect(clock.waiting).toBe(0);
});

test('does not wait for rows that the engine refused', async () => {
  const refused = () => Promise.reject(new StoreRefusedError('set aside', { storeCode: null }));
  await untilStored(refused, { signal, clock: new FakeClock() });
});

test('passes on every other error', async () => {
  const error = new StoreUnavailableError('the stream does not answer');
  await expect(untilStored(() => Promise.reject(error), { signal })).rejects.toBe(error);
});

test('fails after 10 s of the clock', async () => {
  const clock = new FakeClock();
  let failure: unknown = null;
  const done = untilStored(never, { signal, clock }).catch((error: unknown) => {
    failure = error;
  });
  await clock.advance(9_999);
  expect(failure).toBeNull();
  await clock.advance(1);
  await done;
  expect(failure).toBeInstanceOf(StoreUnavailableError);
});

test.each([
  ['with a limit', new FakeClock()],
  ['without a limit', undefined],
])('ends with its signal: %s', async (_what, clock) => {
  const ending = new AbortController();
  const options = { signal: ending.signal, ...(clock ? { clock } : {}) };
  const done = untilStored(never, options);
  ending.abort();
  await expect(done).rejects.toBe(ending.signal.reason);
  await expect(untilStored(never, options)).rejects.toBe(ending.signal.reason);
});
