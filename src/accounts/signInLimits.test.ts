import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { SignInLimits } from './signInLimits.ts';

const WINDOW_MS = 15 * 60_000;
const PER_EMAIL = 10;
const PER_ADDRESS = 100;

it.each([
  ['one e-mail address from many networks', PER_EMAIL, 'a@example.com'],
  ['one network with many e-mail addresses', PER_ADDRESS, null],
])('%s: an attempt is refused until the last millisecond of the window', async (_, allowed, email) => {
  const clock = new FakeClock();
  const limits = new SignInLimits(clock);
  const attempt = () => {
    return email === null
      ? limits.addressAttempt('192.0.2.1')
      : limits.accountAttempt({ address: '192.0.2.1', email });
  };
  expect(Array.from({ length: allowed }, attempt)).toEqual(new Array(allowed).fill(0));
  expect(attempt()).toBe(WINDOW_MS / 1000);
  await clock.advance(WINDOW_MS - 1);
  expect(attempt()).toBe(1);
  await clock.advance(1);
  expect(attempt()).toBe(0);
});
