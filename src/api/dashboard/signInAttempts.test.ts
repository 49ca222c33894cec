import { expect, it } from 'vitest';
import { openDashboard, PASSWORD, SAME_ORIGIN } from '../../../test/support/dashboard.ts';

const ATTEMPTS = 100;

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
    expect([refused.statusCode, refused.json()]).toEqual([
      429,
      { detail: 'Too many attempts to sign in, retry later' },
    ]);
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
