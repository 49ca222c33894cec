import { describe, expect, it } from 'vitest';
import { allRoutes } from '../../src/api/routes.ts';
import { openDashboard, PASSWORD, SAME_ORIGIN } from '../support/dashboard.ts';
import { FOLLOWED } from '../support/followed.ts';

const routes = allRoutes(FOLLOWED as never).filter(({ path }) => path.startsWith('/app/'));
const unsafe = routes.filter(({ method }) => method !== 'GET');
const urlOf = (path: string) => path.replace(/\{\w+\}/g, 'x');
const REFUSED = { detail: 'Cross-site request refused' };

describe('a request that changes something is refused from pages of other sites', () => {
  const refused: readonly [string, Record<string, string>][] = [
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling domain', { 'sec-fetch-site': 'same-site' }],
    [
      'another site that names our origin',
      { 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:8080' },
    ],
    ['something unheard of', { 'sec-fetch-site': 'elsewhere' }],
    ['nowhere', { origin: '' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['our host’s other port', { origin: 'http://127.0.0.1:8081' }],
    ['a host whose name starts like ours', { origin: 'http://127.0.0.1:8080.evil.example' }],
    ['an opaque origin', { origin: 'null' }],
  ];
  const taken: readonly [string, Record<string, string>][] = [
    ['our own page', SAME_ORIGIN],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['our own page in an old browser', { origin: 'http://127.0.0.1:8080' }],
    ['our own page behind TLS', { origin: 'https://127.0.0.1:8080' }],
    ['a program that sends neither header', {}],
  ];

  it('the table lists every such route', () => {
    expect(unsafe.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'DELETE /app/backtest/{job_id}',
      'DELETE /app/keys/{key_id}',
      'DELETE /app/paper/strategies/{strategy_id}',
      'DELETE /app/sessions/{session_id}',
      'DELETE /app/webhooks/{webhook_id}',
      'PATCH /app/paper/strategies/{strategy_id}',
      'PATCH /app/users/{user_id}',
      'PATCH /app/webhooks/{webhook_id}',
      'POST /app/backtest',
      'POST /app/backtest/sweep',
      'POST /app/keys',
      'POST /app/paper/strategies',
      'POST /app/paper/strategies/{strategy_id}/divergence',
      'POST /app/password',
      'POST /app/second-factor',
      'POST /app/second-factor/confirm',
      'POST /app/second-factor/disable',
      'POST /app/sign-in',
      'POST /app/sign-in-link',
      'POST /app/sign-out',
      'POST /app/sign-up',
      'POST /app/webhooks',
      'POST /app/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
      'POST /app/webhooks/{webhook_id}/pause',
      'POST /app/webhooks/{webhook_id}/redeliver',
      'POST /app/webhooks/{webhook_id}/resume',
      'POST /app/webhooks/{webhook_id}/rotate',
      'POST /app/webhooks/{webhook_id}/test',
      'PUT /app/maintenance',
    ]);
  });

  it('every such route × every origin', async () => {
    const { signedUp, accounts } = await openDashboard();
    const browser = await signedUp('op@example.com');
    const { cookie } = browser;
    for (const { method, path } of unsafe) {
      for (const [from, headers] of refused) {
        browser.cookie = cookie;
        const answer = await browser.ask(method as 'POST', urlOf(path), {}, headers);
        expect([answer.statusCode, answer.json()], `${method} ${path} from ${from}`).toEqual([403, REFUSED]);
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
      for (const [from, headers] of taken) {
        browser.cookie = cookie;
        const body = path === '/app/sign-out' ? { skip: true } : {};
        if ('skip' in body) continue;
        const answer = await browser.ask(method as 'POST', urlOf(path), body, headers);
        expect(answer.body, `${method} ${path} from ${from}`).not.toContain(REFUSED.detail);
      }
    }
    browser.cookie = cookie;
    expect(await browser.status('GET', '/app/me')).toBe(200);
    expect(await accounts.users.count()).toBe(1);
    const out = await browser.ask('POST', '/app/sign-out', undefined, { origin: 'http://127.0.0.1:8080' });
    expect(out.statusCode).toBe(204);
  });

  it('reading is admitted, because no other site can read the response', async () => {
    const { signedUp } = await openDashboard();
    const browser = await signedUp('a@example.com');
    const answer = await browser.ask('GET', '/app/me', undefined, { 'sec-fetch-site': 'cross-site' });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['cache-control']).toBe('no-store');
  });
});

describe('a body nested too deeply', () => {
  it('is refused by every route with a body', async () => {
    const { signedUp, accounts } = await openDashboard();
    const browser = await signedUp('op@example.com');
    await accounts.users.setTier('op@example.com', 'premium');
    const nested = Array.from({ length: 65 }).reduce((inner) => [inner], 1);
    for (const { method, path } of unsafe) {
      const answer = await browser.ask(method as 'POST', urlOf(path), { email: nested });
      const refusal = { detail: 'JSON is nested too deeply' };
      expect([answer.statusCode, answer.json()], `${method} ${path}`).toEqual([400, refusal]);
    }
  });
});

describe('the cookie', () => {
  const signIn = { email: 'a@example.com', password: PASSWORD };

  it.each([
    ['127.0.0.1:8080', false],
    ['localhost:8080', false],
    ['[::1]:8080', false],
    ['127.8.9.1', false],
    ['192.168.1.5:8080', true],
    ['underround.example', true],
    ['localhost.evil.example', true],
    ['127.0.0.1.evil.example', true],
  ])('asked for as %s: secure %j', async (host, secure) => {
    const hosts = ['underround.example', 'localhost.evil.example', '127.0.0.1.evil.example'];
    const { signedUp } = await openDashboard({ transport: { tls: null, trustProxy: null, hosts } });
    const browser = await signedUp('a@example.com');
    const answer = await browser.ask('POST', '/app/sign-in', signIn, { ...SAME_ORIGIN, host });
    expect(answer.headers['strict-transport-security']).toBeUndefined();
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).toMatch(
      /^underround_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly(; Secure)?; SameSite=Lax$/,
    );
    expect(cookie.includes('; Secure')).toBe(secure);
  });

  it('is removed after sign-out', async () => {
    const { signedUp } = await openDashboard();
    const answer = await (await signedUp('a@example.com')).ask('POST', '/app/sign-out');
    expect(answer.headers['set-cookie']).toEqual([
      'underround_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ]);
  });

  const ENDED = 'underround_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax';
  const TLS_ENDED = '__Host-underround_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax';

  describe('behind a trusted proxy with TLS', () => {
    const https = { ...SAME_ORIGIN, 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' };
    const open = (trusted = true) =>
      openDashboard({ transport: { tls: null, trustProxy: trusted ? () => true : null, hosts: [] } });

    it('has the name that browsers accept over TLS only, and every response has HSTS', async () => {
      const { signedUp } = await open();
      const browser = await signedUp('a@example.com');
      browser.cookie = null;
      const answer = await browser.ask('POST', '/app/sign-in', signIn, https);
      expect(String(answer.headers['set-cookie'])).toMatch(
        /^__Host-underround_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      for (const url of ['/app/me', '/nowhere', '/livez', '/v1/markets']) {
        const { headers } = await browser.ask('GET', url, undefined, https);
        expect(headers['strict-transport-security'], url).toBe('max-age=31536000');
      }
      expect((await browser.ask('GET', '/app/me', undefined, https)).statusCode).toBe(200);
      const out = await browser.ask('POST', '/app/sign-out', undefined, https);
      expect(out.headers['set-cookie']).toEqual([TLS_ENDED]);
    });

    it('a session with the other name continues, and ends under both names', async () => {
      const { signedUp } = await open();
      const browser = await signedUp('a@example.com');
      const before = browser.cookie;
      expect(before).toMatch(/^underround_session=/);
      expect((await browser.ask('GET', '/app/me', undefined, https)).statusCode).toBe(200);
      const out = await browser.ask('POST', '/app/sign-out', undefined, https);
      expect(out.headers['set-cookie']).toEqual([TLS_ENDED, ENDED]);
      browser.cookie = before;
      expect(await browser.status('GET', '/app/me')).toBe(401);
    });

    it('signing in replaces a session with the other name, and a planted one is not used', async () => {
      const { signedUp, browser } = await open();
      const user = await signedUp('a@example.com');
      const planted = (await signedUp('evil@example.com')).cookie;
      const before = user.cookie;
      const answer = await user.ask('POST', '/app/sign-in', signIn, https);
      expect(answer.headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-/), ENDED]);
      user.cookie = `${planted}; ${user.cookie}`;
      const me = await user.ask('GET', '/app/me', undefined, https);
      expect(me.json().user.email).toBe('a@example.com');
      const old = browser();
      old.cookie = before;
      expect(await old.status('GET', '/app/me')).toBe(401);
    });

    it('an untrusted client cannot claim TLS', async () => {
      const { signedUp } = await open(false);
      const browser = await signedUp('a@example.com');
      const answer = await browser.ask('POST', '/app/sign-in', signIn, https);
      expect(String(answer.headers['set-cookie'])).toMatch(/^underround_session=/);
      expect(answer.headers['strict-transport-security']).toBeUndefined();
    });
  });

  it('is found quoted and among others; a header too long to contain it is ignored', async () => {
    const { signedUp } = await openDashboard();
    const browser = await signedUp('a@example.com');
    const own = browser.cookie;
    browser.cookie = `a=1; b="x; ${own}; c=%zz`;
    expect(await browser.status('GET', '/app/me')).toBe(200);
    browser.cookie = `${own}; ${'x'.repeat(9000)}=1`;
    expect(await browser.status('GET', '/app/me')).toBe(401);
  });
});

describe('data routes under the session', () => {
  const mirrored = routes.filter(({ mirrors }) => mirrors !== undefined);

  it('are all of /v1, with the same responses as with a key', async () => {
    const originals = allRoutes(FOLLOWED as never).filter(({ path }) => path.startsWith('/v1/'));
    expect(mirrored.map(({ mirrors }) => mirrors)).toEqual(originals.map(({ path }) => path));
    const { app, signedUp } = await openDashboard();
    const browser = await signedUp('a@example.com');
    const { key } = (await browser.ask('POST', '/app/keys', { label: 'x' })).json();
    for (const { path, mirrors = '' } of mirrored) {
      const query = '?ticker=BTC&limit=1&event_type=nonsense';
      const byKey = await app.inject({
        url: urlOf(mirrors) + query,
        headers: { authorization: `Bearer ${key}` },
      });
      const bySession = await browser.ask('GET', urlOf(path) + query);
      expect([bySession.statusCode, bySession.body], path).toEqual([byKey.statusCode, byKey.body]);
    }
  });

  const sockets = routes.filter(({ socket }) => socket).map(({ path }) => path);

  it.each(sockets)('%s is refused to pages of other sites, which could read the messages', async (path) => {
    const { browser: another, signedUp } = await openDashboard();
    const browser = await signedUp('a@example.com');
    // The first user is an operator with tier free. The origin is checked before the tier.
    const status = ['/app/arb/ws', '/app/replay'].includes(path) ? 403 : 503;
    expect(await another().status('GET', path)).toBe(401);
    const ask = (headers: Record<string, string>) => browser.ask('GET', path, undefined, headers);
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      const { statusCode, body } = await ask(headers as Record<string, string>);
      expect([statusCode, body]).toEqual([403, '{"detail":"Cross-site request refused"}']);
    }
    // After the origin check: this service has no streams.
    for (const headers of [SAME_ORIGIN, {}]) expect((await ask(headers)).statusCode).toBe(status);
  });

  it('require a session: a key does not work, nor a session in place of a key', async () => {
    const { app, browser, signedUp } = await openDashboard();
    const user = await signedUp('a@example.com');
    const { key } = (await user.ask('POST', '/app/keys', { label: 'x' })).json();
    const withKey = { ...SAME_ORIGIN, authorization: `Bearer ${key}` };
    for (const { path, mirrors = '' } of mirrored) {
      expect((await browser().ask('GET', urlOf(path), undefined, withKey)).statusCode, path).toBe(401);
      const headers = { cookie: user.cookie ?? '' };
      expect((await app.inject({ url: urlOf(mirrors), headers })).statusCode, mirrors).toBe(401);
    }
  });

  it("apply the user's tier, with a rate high enough to load a page", async () => {
    const { signedUp, clock } = await openDashboard({ limited: true });
    const user = await signedUp('a@example.com');
    const old = new Date(clock.now() - 40 * 86_400_000).toISOString();
    expect(await user.status('GET', `/app/perp/depth?ticker=BTC&start=${old}`)).toBe(403);
    const statuses = await Promise.all(Array.from({ length: 14 }, () => user.status('GET', '/app/markets')));
    expect(statuses.filter((status) => status === 200)).toHaveLength(9);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  });
});
