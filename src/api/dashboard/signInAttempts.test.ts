import { expect, it } from 'vitest';
import { openDashboard, PASSWORD, SAME_ORIGIN } from '../../../test/support/dashboard.ts';
import { RateLimits } from '../../accounts/limits/limits.ts';
import { MemoryCounters } from '../../accounts/limits/rateCounters.ts';
import { SignInAttempts } from './signInAttempts.ts';

const ATTEMPTS = 100;
const REFUSED = 'Too many attempts to sign in; retry in';

it.each(['/app/password', '/app/second-factor/confirm', '/app/second-factor/disable'])(
  'a signed-in user’s attempt to enter a password or code counts before its body is read: %s',
  async (url) => {
    const { app, clock, signedUp, browser } = await openDashboard({ limited: true });
    const user = await signedUp('op@example.com');
    const headers = { host: '127.0.0.1:8080', ...SAME_ORIGIN, cookie: user.cookie ?? '' };
    const attempt = () => app.inject({ method: 'POST', url, headers, payload: '{' });
    // The sign-up was this address's first attempt.
    for (let attempts = 1; attempts < ATTEMPTS; attempts++) {
      expect((await attempt()).statusCode).toBe(422);
      // Each user may send only a few requests a second.
      await clock.advance(1_000);
    }
    const refused = await attempt();
    expect([refused.statusCode, refused.json()]).toEqual([429, { detail: `${REFUSED} 801 s` }]);
    // The oldest attempt within 15 minutes was 99 s ago.
    expect(refused.headers['retry-after']).toBe('801');
    const signIn = await browser().ask('POST', '/app/sign-in', {
      email: 'op@example.com',
      password: PASSWORD,
    });
    expect(signIn.statusCode).toBe(429);
    expect(await user.status('GET', '/app/me')).toBe(200);
  },
);

it('when strangers have used up the attempts of an account, any process accepts an address where it is signed in', async () => {
  const { accounts, clock, signedUp } = await openDashboard();
  const email = 'op@example.com';
  // From 127.0.0.1, at a process that has ended since.
  await signedUp(email);
  const counters = new Map<string, MemoryCounters>();
  const rateLimits = new RateLimits(clock, (kind, clientsMax) => {
    const known = counters.get(kind) ?? new MemoryCounters(clock, clientsMax);
    counters.set(kind, known);
    return known;
  });
  const [one, other] = [1, 2].map(() => new SignInAttempts({ clock, rateLimits, control: accounts }));
  for (let n = 0; n < 200; n++) await one?.tryAccount({ address: `192.0.2.${n}`, email });
  const attempt = (address: string) => other?.tryAccount({ address, email });
  await expect(attempt('203.0.113.9')).rejects.toThrow(REFUSED);
  await attempt('127.0.0.1');
  await accounts.users.setPassword({ email }, 'hash');
  await expect(attempt('127.0.0.1')).rejects.toThrow(REFUSED);
});
