import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { memoryCounters, type RateCounters } from './rateCounters.ts';
import { SignInLimits } from './signInLimits.ts';

const WINDOW_MS = 15 * 60_000;
const EMAIL = 'a@example.com';
const OWNER = { address: '198.51.100.1', email: EMAIL };

it.each([
  [
    'one e-mail address from one network address',
    10,
    (limits: SignInLimits) => limits.accountAttempt({ address: '192.0.2.1', email: EMAIL }),
  ],
  [
    'one e-mail address from a /64',
    10,
    (limits: SignInLimits, n: number) => limits.accountAttempt({ address: `2001:db8::${n}`, email: EMAIL }),
  ],
  [
    'one e-mail address from many networks',
    200,
    (limits: SignInLimits, n: number) => limits.accountAttempt({ address: `192.0.2.${n}`, email: EMAIL }),
  ],
  ['one network address', 100, (limits: SignInLimits) => limits.addressAttempt('192.0.2.1')],
])('%s: an attempt is refused until the last millisecond of the window', async (_, allowed, take) => {
  const clock = new FakeClock();
  const limits = new SignInLimits(memoryCounters(clock));
  let asked = 0;
  const attempt = () => take(limits, ++asked);
  for (let n = 0; n < allowed; n++) expect(await attempt()).toBe(0);
  expect(await attempt()).toBe(WINDOW_MS / 1000);
  await clock.advance(WINDOW_MS - 1);
  expect(await attempt()).toBe(1);
  await clock.advance(1);
  expect(await attempt()).toBe(0);
});

it("endless attempts of a stranger use none of the owner's attempts", async () => {
  const limits = new SignInLimits(memoryCounters(new FakeClock()));
  for (let n = 0; n < 1000; n++) await limits.accountAttempt({ address: '192.0.2.1', email: EMAIL });
  for (let n = 0; n < 10; n++) expect(await limits.accountAttempt(OWNER)).toBe(0);
});

it('many strangers together cannot lock out a user at an address that has signed in before', async () => {
  const limits = new SignInLimits(memoryCounters(new FakeClock()));
  await limits.succeeded(OWNER);
  for (let n = 0; n < 300; n++) await limits.accountAttempt({ address: `192.0.2.${n}`, email: EMAIL });
  expect(await limits.accountAttempt({ address: '203.0.113.9', email: EMAIL })).toBe(WINDOW_MS / 1000);
  expect(await limits.accountAttempt(OWNER)).toBe(0);
});

it('a success resets the attempts of its own address and account only', async () => {
  const limits = new SignInLimits(memoryCounters(new FakeClock()));
  const others = [
    { ...OWNER, address: '192.0.2.1' },
    { ...OWNER, email: 'b@example.com' },
  ];
  for (const who of [OWNER, ...others]) for (let n = 0; n < 11; n++) await limits.accountAttempt(who);
  await limits.succeeded(OWNER);
  expect(await limits.accountAttempt(OWNER)).toBe(0);
  for (const who of others) expect(await limits.accountAttempt(who)).toBeGreaterThan(0);
});

it('counters that all processes share are apart by kind: attempts to sign in use up no sign-ups', async () => {
  const memory = memoryCounters(new FakeClock());
  const kinds = new Map<string, RateCounters>();
  const limits = new SignInLimits((kind, clientsMax) => {
    const counters = kinds.get(kind) ?? memory(kind, clientsMax);
    kinds.set(kind, counters);
    return counters;
  });
  for (let n = 0; n < 100; n++) expect(limits.addressAttempt(OWNER.address)).toBe(0);
  for (let n = 0; n < 5; n++) expect(limits.signUp(OWNER.address)).toBe(0);
  expect(limits.signUp(OWNER.address)).toBe(3600);
  for (let n = 0; n < 10; n++) expect(await limits.accountAttempt(OWNER)).toBe(0);
});

it('remembers a bounded number of addresses that signed in', async () => {
  const limits = new SignInLimits(memoryCounters(new FakeClock()));
  await limits.succeeded(OWNER);
  for (let n = 0; n < 20_000; n++)
    await limits.succeeded({ address: '192.0.2.1', email: `u${n}@example.com` });
  for (let n = 0; n < 300; n++) await limits.accountAttempt({ address: `192.0.2.${n}`, email: EMAIL });
  expect(await limits.accountAttempt(OWNER)).toBeGreaterThan(0);
});
