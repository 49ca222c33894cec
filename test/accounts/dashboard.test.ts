import { describe, expect, it } from 'vitest';
import { MAX_LIVE_KEYS_PER_USER } from '../../src/accounts/keys/keys.ts';
import { SESSION_IDLE_MS } from '../../src/accounts/users/sessions.ts';
import { Browser, openDashboard, PASSWORD, SAME_ORIGIN } from '../support/dashboard.ts';

const ID = /^[a-z]+_[0-9A-Za-z]{16}$/;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
const WRONG = { detail: 'Wrong e-mail address or password' };

describe('signing up', () => {
  it('signs in, and makes the first user the operator', async () => {
    const { browser, accounts } = await openDashboard();
    const [first, second] = [browser(), browser()];
    const credentials = { email: ' Ann@Example.com', password: PASSWORD };
    const made = await first.ask('POST', '/app/sign-up', { ...credentials, setup: accounts.setup.token });
    const user = {
      user_id: expect.stringMatching(ID),
      email: 'ann@example.com',
      tier: 'free',
      operator: true,
    };
    expect([made.statusCode, made.json()]).toEqual([200, { user }]);
    expect((await first.ask('GET', '/app/me')).json()).toEqual(made.json());
    const other = await second.ask('POST', '/app/sign-up', { email: 'b@example.com', password: PASSWORD });
    expect(other.json().user).toMatchObject({ email: 'b@example.com', operator: false });
  });

  it('refuses an address taken by a sign-up or on the command line', async () => {
    const { browser, signedUp, accounts } = await openDashboard();
    await signedUp('a@example.com');
    await accounts.users.create('made@example.com');
    for (const email of ['A@example.com', 'made@example.com']) {
      const taken = browser();
      const answer = await taken.ask('POST', '/app/sign-up', { email, password: PASSWORD });
      expect([answer.statusCode, answer.json()]).toEqual([
        409,
        { detail: 'A user with this e-mail address exists already' },
      ]);
      expect(taken.cookie).toBeNull();
      if (email.startsWith('made')) {
        expect(await taken.status('POST', '/app/sign-in', { email, password: PASSWORD })).toBe(401);
      }
    }
  });

  it('reports all malformed fields at once, and repeats no password', async () => {
    const { browser } = await openDashboard();
    const body = { email: 'nonsense', password: 'hunter2', more: 'hunter2' };
    const answer = await browser().ask('POST', '/app/sign-up', body);
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail.map((one: { type: string; loc: string[] }) => [one.type, one.loc])).toEqual([
      ['value_error', ['body', 'email']],
      ['string_too_short', ['body', 'password']],
      ['extra_forbidden', ['body', 'more']],
    ]);
    expect(answer.body).not.toContain('hunter2');
    expect(await browser().status('POST', '/app/sign-up')).toBe(422);
  });
});

describe('a commonly guessed password', () => {
  const refusal = (name: string, msg: string) => ({
    detail: [{ type: 'value_error', loc: ['body', name], msg, input: '**********', ctx: { error: {} } }],
  });
  const COMMON = 'Value error, this is one of the commonest passwords; choose another';
  const OWN = 'Value error, a password must not be your e-mail address or a part of it';

  it('is refused at sign-up, and the error names its field', async () => {
    const { browser, accounts } = await openDashboard();
    const { token: setup } = accounts.setup;
    const refused = async (password: string) => {
      const body = { email: 'Ann.Smith@example.com', password, setup };
      const answer = await browser().ask('POST', '/app/sign-up', body);
      return [answer.statusCode, answer.json()];
    };
    expect(await refused('Password1')).toEqual([422, refusal('password', COMMON)]);
    expect(await refused('ann.smith')).toEqual([422, refusal('password', OWN)]);
    expect(await accounts.users.list()).toEqual([]);
  });

  it('is refused as a new password', async () => {
    const { signedUp } = await openDashboard();
    const browser = await signedUp('ann.smith@example.com');
    const body = { current_password: PASSWORD, new_password: 'ann.smith@example.com' };
    const answer = await browser.ask('POST', '/app/password', body);
    expect([answer.statusCode, answer.json()]).toEqual([422, refusal('new_password', OWN)]);
  });
});

describe('signing in', () => {
  it('responds the same to a wrong password, an unknown address and a user without a password', async () => {
    const { browser, signedUp, accounts } = await openDashboard();
    await signedUp('a@example.com');
    await accounts.users.create('made@example.com');
    for (const email of ['a@example.com', 'nobody@example.com', 'made@example.com']) {
      const answer = await browser().ask('POST', '/app/sign-in', { email, password: 'not the password' });
      expect([answer.statusCode, answer.json()]).toEqual([401, WRONG]);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  it('accepts the password in any Unicode composition', async () => {
    const { browser, signedUp } = await openDashboard();
    await signedUp('op@example.com');
    const email = 'a@example.com';
    await browser().ask('POST', '/app/sign-up', { email, password: 'caf\u00e9 caf\u00e9' });
    const password = 'cafe\u0301 cafe\u0301';
    expect(await browser().status('POST', '/app/sign-in', { email, password })).toBe(200);
  });

  it("ends the browser's previous session, so a planted one is useless", async () => {
    const { app, signedUp } = await openDashboard();
    const browser = await signedUp('a@example.com');
    const before = new Browser(app);
    before.cookie = browser.cookie;
    await browser.ask('POST', '/app/sign-in', { email: 'a@example.com', password: PASSWORD });
    expect(browser.cookie).not.toBe(before.cookie);
    expect([await browser.status('GET', '/app/me'), await before.status('GET', '/app/me')]).toEqual([
      200, 401,
    ]);
  });

  it('is refused to a suspended user, who learns the reason only with the right password', async () => {
    const { browser, signedUp, accounts } = await openDashboard();
    const signedIn = await signedUp('a@example.com');
    await accounts.users.update({ email: 'a@example.com' }, { suspended: true });
    expect(await signedIn.status('GET', '/app/me')).toBe(401);
    const signIn = (password: string) =>
      browser().ask('POST', '/app/sign-in', { email: 'a@example.com', password });
    expect((await signIn(PASSWORD)).json()).toEqual({ detail: 'This user is suspended' });
    expect((await signIn('not the password')).json()).toEqual(WRONG);
  });

  it('is limited per e-mail address: of many concurrent attempts exactly ten are checked', async () => {
    const { browser, clock, signedUp } = await openDashboard({ limited: true });
    await signedUp('a@example.com');
    const attempt = (password: string) =>
      browser().ask('POST', '/app/sign-in', { email: 'a@example.com', password });
    const answers = await Promise.all(Array.from({ length: 25 }, () => attempt('not the password')));
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(10);
    const limited = answers.filter(({ statusCode }) => statusCode === 429);
    expect(limited).toHaveLength(15);
    expect(limited[0]?.headers['retry-after']).toBe('900');
    expect((await attempt(PASSWORD)).statusCode).toBe(429);
    await clock.advance(15 * 60_000);
    expect((await attempt(PASSWORD)).statusCode).toBe(200);
  });

  it('a stranger who guesses passwords locks nobody out at other addresses', async () => {
    const { browser, signedUp } = await openDashboard({
      limited: true,
      transport: { tls: null, hosts: [], trustProxy: () => true },
    });
    await signedUp('a@example.com');
    const attempt = async (address: string, password: string) => {
      const headers = { ...SAME_ORIGIN, 'x-forwarded-for': address };
      const body = { email: 'a@example.com', password };
      return (await browser().ask('POST', '/app/sign-in', body, headers)).statusCode;
    };
    const guesses = await Promise.all(Array.from({ length: 12 }, () => attempt('192.0.2.1', 'wrong')));
    expect(guesses.filter((status) => status === 429)).toHaveLength(2);
    expect(await attempt('192.0.2.1', PASSWORD)).toBe(429);
    expect(await attempt('198.51.100.1', PASSWORD)).toBe(200);
  });

  it('is limited per network address, for any e-mail addresses', async () => {
    const { browser } = await openDashboard({ limited: true });
    const attempt = (index: number) =>
      browser().status('POST', '/app/sign-in', { email: `u${index}@example.com`, password: 'x' });
    const statuses = [];
    for (let index = 0; index < 103; index++) statuses.push(await attempt(index));
    expect(statuses.filter((status) => status === 401)).toHaveLength(100);
    expect(statuses.slice(100)).toEqual([429, 429, 429]);
  });

  it('sign-up is limited to five an hour per network address, successful or not', async () => {
    const { browser, clock, signedUp } = await openDashboard({ limited: true });
    const signUp = (email: string, password: string) =>
      browser().ask('POST', '/app/sign-up', { email, password });
    for (const name of ['a', 'b', 'c']) await signedUp(`${name}@example.com`);
    expect((await signUp('a@example.com', PASSWORD)).statusCode).toBe(409);
    expect((await signUp('d@example.com', PASSWORD)).statusCode).toBe(200);
    const refused = await signUp('e@example.com', PASSWORD);
    expect([refused.statusCode, refused.headers['retry-after'], refused.json()]).toEqual([
      429,
      '3600',
      { detail: 'Too many sign-ups from this address; retry in 3600 s' },
    ]);
    expect(
      await browser().status('POST', '/app/sign-in', { email: 'a@example.com', password: PASSWORD }),
    ).toBe(200);
    await clock.advance(3_600_000);
    expect((await signUp('e@example.com', PASSWORD)).statusCode).toBe(200);
  });

  it('gets 503 if more passwords wait than may be hashed', async () => {
    const { browser } = await openDashboard();
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        browser().ask('POST', '/app/sign-in', { email: 'a@example.com', password: 'x' }),
      ),
    );
    const busy = answers.filter(({ statusCode }) => statusCode === 503);
    expect(busy.length).toBeGreaterThan(0);
    expect(busy[0]?.headers['retry-after']).toBe('1');
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(60 - busy.length);
  });
});

describe('a session', () => {
  it('is required: without one, with a malformed or an expired one, the response is 401', async () => {
    const { browser, clock, signedUp } = await openDashboard();
    const nobody = browser();
    for (const cookie of [
      null,
      'underround_session=',
      `underround_session=${'x'.repeat(43)}`,
      '__proto__=1',
    ]) {
      nobody.cookie = cookie;
      expect(await nobody.status('GET', '/app/me'), String(cookie)).toBe(401);
    }
    const user = await signedUp('a@example.com');
    await clock.advance(SESSION_IDLE_MS);
    expect(await user.status('GET', '/app/me')).toBe(401);
  });

  it('ends at sign-out, and the cookie is removed', async () => {
    const { app, signedUp } = await openDashboard();
    const browser = await signedUp('a@example.com');
    const kept = new Browser(app);
    kept.cookie = browser.cookie;
    expect(await browser.status('POST', '/app/sign-out')).toBe(204);
    expect(browser.cookie).toBeNull();
    expect(await kept.status('GET', '/app/me')).toBe(401);
  });

  it('is listed for its user, and only its user can end it', async () => {
    const { browser, signedUp } = await openDashboard();
    const one = await signedUp('a@example.com');
    const two = browser();
    await two.ask('POST', '/app/sign-in', { email: 'a@example.com', password: PASSWORD });
    const other = await signedUp('b@example.com');
    const { sessions } = (await one.ask('GET', '/app/sessions')).json();
    expect(sessions).toHaveLength(2);
    const shape = {
      session_id: expect.stringMatching(ID),
      created_at: TIME,
      last_seen_at: TIME,
      expires_at: TIME,
    };
    expect(sessions[0]).toEqual({
      ...shape,
      user_agent: 'lightMyRequest',
      address: '127.0.0.1',
      current: expect.any(Boolean),
    });
    const theirs = sessions.find(({ current }: { current: boolean }) => !current);
    const path = `/app/sessions/${theirs.session_id}`;
    expect(await other.status('DELETE', path)).toBe(404);
    expect(await one.status('DELETE', path)).toBe(204);
    expect(await one.status('DELETE', path)).toBe(404);
    expect([await one.status('GET', '/app/me'), await two.status('GET', '/app/me')]).toEqual([200, 401]);
  });

  it('a password change ends all others and renews this one', async () => {
    const { app, browser, signedUp } = await openDashboard();
    const one = await signedUp('a@example.com');
    const two = browser();
    await two.ask('POST', '/app/sign-in', { email: 'a@example.com', password: PASSWORD });
    const before = new Browser(app);
    before.cookie = one.cookie;
    const change = (current_password: string) =>
      one.ask('POST', '/app/password', { current_password, new_password: 'another password' });
    const wrong = await change('not the password');
    expect([wrong.statusCode, wrong.json()]).toEqual([403, { detail: 'The current password is wrong' }]);
    expect(await two.status('GET', '/app/me')).toBe(200);
    expect((await change(PASSWORD)).statusCode).toBe(200);
    const after = [one, two, before].map((one) => one.status('GET', '/app/me'));
    expect(await Promise.all(after)).toEqual([200, 401, 401]);
    const signIn = (password: string) =>
      browser().status('POST', '/app/sign-in', { email: 'a@example.com', password });
    expect([await signIn(PASSWORD), await signIn('another password')]).toEqual([401, 200]);
  });
});

describe('keys', () => {
  it('are created, used, counted and revoked by their user only', async () => {
    const { app, accounts, signedUp } = await openDashboard();
    const user = await signedUp('a@example.com');
    const other = await signedUp('b@example.com');
    const made = await user.ask('POST', '/app/keys', { label: ' my bot ' });
    const { key, ...shown } = made.json();
    expect(made.statusCode).toBe(201);
    expect(key).toMatch(/^svc_live_\w{39}$/);
    expect(shown).toEqual({
      ...{ key_id: expect.stringMatching(ID), label: 'my bot', prefix: key.slice(0, 13) },
      created_at: TIME,
    });
    const use = () => app.inject({ url: '/v1/markets', headers: { authorization: `Bearer ${key}` } });
    expect((await use()).statusCode).toBe(200);
    await accounts.usage.close();
    const listed = (await user.ask('GET', '/app/keys')).json();
    expect(listed).toEqual({ keys: [{ ...shown, last_used_at: null, revoked_at: null, requests_30d: 1 }] });
    expect((await other.ask('GET', '/app/keys')).json()).toEqual({ keys: [] });
    const path = `/app/keys/${shown.key_id}`;
    expect(await other.status('DELETE', path)).toBe(404);
    expect((await use()).statusCode).toBe(200);
    expect(await user.status('DELETE', path)).toBe(204);
    expect((await use()).statusCode).toBe(401);
    expect((await user.ask('GET', '/app/keys')).json().keys[0].revoked_at).toEqual(TIME);
  });

  it('are limited in number', async () => {
    const { signedUp } = await openDashboard();
    const user = await signedUp('a@example.com');
    for (let count = 0; count < MAX_LIVE_KEYS_PER_USER; count++) {
      expect(await user.status('POST', '/app/keys', { label: 'x' })).toBe(201);
    }
    const more = await user.ask('POST', '/app/keys', { label: 'x' });
    expect([more.statusCode, more.json().detail]).toEqual([403, 'At most 20 keys at once; revoke one first']);
  });

  it.each([[''], ['   '], ['a\nb'], ['x'.repeat(129)]])('the label %j is refused', async (label) => {
    const { signedUp } = await openDashboard();
    const answer = await (await signedUp('a@example.com')).ask('POST', '/app/keys', { label });
    const msg = 'Value error, a label has 1 to 128 characters and no control characters';
    expect([answer.statusCode, answer.json().detail]).toEqual([
      422,
      [{ type: 'value_error', loc: ['body', 'label'], msg, input: label, ctx: { error: {} } }],
    ]);
  });
});

describe('an operator', () => {
  it('lists users, sets tiers and suspends; keys follow at once', async () => {
    const { app, signedUp } = await openDashboard();
    const operator = await signedUp('op@example.com');
    const user = await signedUp('a@example.com');
    const { key } = (await user.ask('POST', '/app/keys', { label: 'x' })).json();
    const use = async () =>
      (await app.inject({ url: '/v1/markets', headers: { authorization: `Bearer ${key}` } })).statusCode;
    const listed = (await operator.ask('GET', '/app/users?limit=1&offset=1')).json();
    const record = {
      ...{ user_id: expect.stringMatching(ID), email: expect.any(String), tier: 'free' },
      ...{ operator: expect.any(Boolean), suspended: false, created_at: TIME },
    };
    const around = { count: 1, total: 2, limit: 1, offset: 1, next_cursor: null };
    expect(listed).toEqual({ users: [record], ...around });
    const { user_id } = (await user.ask('GET', '/app/me')).json().user;
    const path = `/app/users/${user_id}`;
    const promoted = await operator.ask('PATCH', path, { tier: 'premium' });
    expect(promoted.json()).toMatchObject({ user_id, tier: 'premium', suspended: false });
    expect((await user.ask('GET', '/app/me')).json().user.tier).toBe('premium');
    expect((await operator.ask('PATCH', path, { suspended: true })).json()).toMatchObject({
      tier: 'premium',
      suspended: true,
    });
    expect([await use(), await user.status('GET', '/app/me')]).toEqual([401, 401]);
    expect(await operator.status('PATCH', path, { suspended: false })).toBe(200);
    expect(await use()).toBe(200);
    expect(await operator.status('PATCH', '/app/users/usr_none', { tier: 'pro' })).toBe(404);
    expect(await operator.status('PATCH', path, { tier: 'gold' })).toBe(422);
  });

  it('pages through users by cursor, of the same search only', async () => {
    const { signedUp } = await openDashboard();
    const operator = await signedUp('op@example.com');
    for (const name of ['a', 'b', 'c']) await signedUp(`${name}@example.com`);
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 3; pages++) {
      const answer = await operator.ask('GET', `/app/users?search=example&limit=2${after}`);
      const { users, total, next_cursor } = answer.json();
      expect(total).toBe(4);
      seen.push(...users.map(({ email }: { email: string }) => email));
      if (next_cursor === null) break;
      after = `&cursor=${next_cursor}`;
    }
    // Users of one millisecond are ordered by their random ids.
    expect(seen.sort()).toEqual(['a@example.com', 'b@example.com', 'c@example.com', 'op@example.com']);
    expect(await operator.status('GET', `/app/users?limit=2${after}`)).toBe(400);
  });

  it('cannot suspend their own account', async () => {
    const { signedUp } = await openDashboard();
    const operator = await signedUp('op@example.com');
    const { user_id } = (await operator.ask('GET', '/app/me')).json().user;
    const answer = await operator.ask('PATCH', `/app/users/${user_id}`, { suspended: true });
    expect([answer.statusCode, answer.json().detail]).toEqual([409, 'An operator cannot suspend themselves']);
  });

  it('switches maintenance mode on, and off again while it is on', async () => {
    const { browser, signedUp } = await openDashboard();
    const operator = await signedUp('op@example.com');
    const user = await signedUp('a@example.com');
    const open = { on: false, retry_after_seconds: null, message: null, since: null };
    expect((await operator.ask('GET', '/app/maintenance')).json()).toEqual(open);
    const closed = await operator.ask('PUT', '/app/maintenance', {
      on: true,
      retry_after_seconds: 7,
      message: 'moving',
    });
    expect(closed.json()).toEqual({ on: true, retry_after_seconds: 7, message: 'moving', since: TIME });
    const refused = await user.ask('GET', '/app/markets');
    expect([refused.statusCode, refused.json(), refused.headers['retry-after']]).toEqual([
      503,
      { detail: 'moving' },
      '7',
    ]);
    expect(
      await browser().status('POST', '/app/sign-up', { email: 'c@example.com', password: PASSWORD }),
    ).toBe(503);
    const again = browser();
    const credentials = { email: 'op@example.com', password: PASSWORD };
    expect(await again.status('POST', '/app/sign-in', credentials)).toBe(200);
    expect((await again.ask('PUT', '/app/maintenance', { on: false })).json()).toEqual(open);
    expect(await user.status('GET', '/app/markets')).toBe(200);
  });

  it('nobody else may do so', async () => {
    const { signedUp, browser } = await openDashboard();
    await signedUp('op@example.com');
    const user = await signedUp('a@example.com');
    for (const [method, path] of [
      ['GET', '/app/users'],
      ['PATCH', '/app/users/usr_x'],
      ['GET', '/app/maintenance'],
      ['PUT', '/app/maintenance'],
      ['GET', '/app/feeds'],
      ['GET', '/app/drift'],
    ] as const) {
      const body = method === 'GET' ? undefined : {};
      const answer = await user.ask(method, path, body);
      expect([answer.statusCode, answer.json().detail]).toEqual([403, 'Only an operator may do this']);
      expect(await browser().status(method, path, body)).toBe(401);
    }
  });
});
