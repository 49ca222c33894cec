import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { Passwords } from '../accounts/users/passwords.ts';
import { openSecondFactors } from '../accounts/users/secondFactors.ts';
import { SessionRepository } from '../accounts/users/sessions.ts';
import { UserRepository } from '../accounts/users/users.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { registerKeys } from './keys.ts';
import { registerMaintenance } from './maintenance.ts';
import { registerUsers } from './users.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
const { run, json, dataDir } = commandLine(registerKeys, registerUsers, registerMaintenance);

describe('keys', () => {
  it('create prints the key and the account it belongs to', async () => {
    const made = await json('keys', 'create', '--email', 'A@example.com', '--tier', 'plus', '--label', 'bot');
    expect(made).toEqual({
      key_id: expect.stringMatching(/^key_[0-9A-Za-z]{16}$/),
      key: expect.stringMatching(/^svc_live_[0-9A-Za-z]{39}$/),
      label: 'bot',
      email: 'a@example.com',
      tier: 'plus',
    });
    expect(Object.keys(made)).toEqual(['key_id', 'key', 'label', 'email', 'tier']);
  });

  it('create works without tier and label, and uses the configured key environment', async () => {
    process.env.UNDERROUND_KEY_ENV = 'test';
    const made = await json('keys', 'create', '--email', 'a@example.com');
    expect(made).toMatchObject({ label: 'default', tier: 'free' });
    expect(made.key).toMatch(/^svc_test_/);
  });

  it('create keeps the tier of an existing user unless one is given', async () => {
    await json('keys', 'create', '--email', 'a@example.com', '--tier', 'pro');
    expect((await json('keys', 'create', '--email', 'a@example.com')).tier).toBe('pro');
  });

  it('create records the tier that it sets', async () => {
    await json('keys', 'create', '--email', 'a@example.com');
    await json('keys', 'create', '--email', 'a@example.com', '--tier', 'pro');
    const db = await openControlDatabase({ dataDir: dataDir(), databaseUrl: null });
    const events = await db.selectFrom('account_events').select(['action', 'email', 'detail']).execute();
    await db.destroy();
    expect(events).toEqual([{ action: 'set_tier', email: 'a@example.com', detail: 'pro' }]);
  });

  it('list prints ids but never keys, and filters by user', async () => {
    const a = await json('keys', 'create', '--email', 'a@example.com', '--label', 'one');
    await json('keys', 'create', '--email', 'b@example.com', '--label', 'two');
    const { keys } = await json('keys', 'list', '--email', 'A@example.com');
    expect(keys).toEqual([
      {
        key_id: a.key_id,
        label: 'one',
        email: 'a@example.com',
        tier: 'free',
        prefix: a.key.slice(0, 13),
        created_at: TIME,
        last_used_at: null,
        revoked_at: null,
      },
    ]);
    expect((await json('keys', 'list')).keys).toHaveLength(2);
    expect(await json('keys', 'list', '--email', 'nobody@example.com')).toEqual({ keys: [] });
  });

  it('revoke can be repeated and is visible in the list', async () => {
    const made = await json('keys', 'create', '--email', 'a@example.com');
    const revoked = await json('keys', 'revoke', made.key_id);
    expect(revoked).toEqual({ key_id: made.key_id, revoked_at: TIME });
    expect(await json('keys', 'revoke', made.key_id)).toEqual(revoked);
    expect((await json('keys', 'list')).keys[0].revoked_at).toBe(revoked.revoked_at);
  });

  it('prints tables by default', async () => {
    const created = await run(
      'keys',
      'create',
      '--email',
      'a@example.com',
      '--tier',
      'pro',
      '--label',
      'my bot',
    );
    const key = /^(svc_live_\w{39})\n$/.exec(created.out[0] ?? '')?.[1] ?? '';
    const id = /Id (key_\w+), a@example\.com, tier pro\.$/.exec(created.out[1] ?? '')?.[1] ?? '';
    const [headings = '', row = '', ...more] = (await run('keys', 'list')).out.join('').split('\n');
    expect(headings.split(/ {2,}/)).toEqual([
      'KEY_ID',
      'KEY',
      'LABEL',
      'EMAIL',
      'TIER',
      'CREATED',
      'LAST USED',
      'REVOKED',
    ]);
    const cells = [id, `${key.slice(0, 13)}...`, 'my bot', 'a@example.com', 'pro', TIME, '-', '-'];
    expect(row.split(/ {2,}/)).toEqual(cells);
    expect(row.indexOf('my bot')).toBe(headings.indexOf('LABEL'));
    expect(more).toEqual([]);
    expect((await run('keys', 'revoke', id)).out[0]).toMatch(new RegExp(`^${id} is revoked since 20`));
  });

  it('--data-dir overrides the environment variable', async () => {
    const elsewhere = temporaryDirectory();
    await json('keys', 'create', '--email', 'a@example.com', '--data-dir', elsewhere);
    expect(readdirSync(dataDir())).toEqual([]);
    expect((await json('keys', 'list', '--data-dir', elsewhere)).keys).toHaveLength(1);
  });
});

describe('users', () => {
  it('can be created, moved to another tier and listed', async () => {
    const made = await json('users', 'create', '--email', ' A@example.com');
    expect(made).toEqual({
      user_id: expect.stringMatching(/^usr_[0-9A-Za-z]{16}$/),
      email: 'a@example.com',
      tier: 'free',
      operator: false,
      suspended: false,
      created_at: TIME,
    });
    const moved = await json('users', 'set-tier', '--email', 'a@example.com', '--tier', 'premium');
    expect(moved).toEqual({ ...made, tier: 'premium' });
    expect(await json('users', 'list')).toEqual({ users: [moved] });
    const table = (await run('users', 'list')).out.join('').split('\n');
    expect(table.map((line) => line.split(/ {2,}/))).toEqual([
      ['USER_ID', 'EMAIL', 'TIER', 'STATE', 'CREATED'],
      [made.user_id, 'a@example.com', 'premium', 'active', made.created_at],
    ]);
  });

  it('set-operator replaces the current operator', async () => {
    const [a, b] = [
      await json('users', 'create', '--email', 'a@example.com'),
      await json('users', 'create', '--email', 'b@example.com'),
    ];
    expect(await json('users', 'set-operator', 'A@example.com')).toEqual({ ...a, operator: true });
    expect(await json('users', 'set-operator', 'b@example.com')).toEqual({ ...b, operator: true });
    const { users } = await json('users', 'list');
    expect(users).toEqual(expect.arrayContaining([a, { ...b, operator: true }]));
    const line = 'underround: no user with this e-mail address';
    expect(await run('users', 'set-operator', 'c@example.com')).toEqual({ out: [], err: [line], exit: 1 });
  });

  it('reset-totp lets a user sign in with the password alone', async () => {
    const user = await json('users', 'create', '--email', 'a@example.com');
    const line = 'underround: this user has no one-time codes';
    expect(await run('users', 'reset-totp', 'a@example.com')).toEqual({ out: [], err: [line], exit: 1 });
    const db = await openControlDatabase({ dataDir: dataDir(), databaseUrl: null });
    const config = { dataDir: dataDir(), secretKey: null };
    const factors = openSecondFactors(db, { config, clock: new FakeClock(), randomBytes });
    const enabled = { user_id: user.user_id, secret: 'sealed', enabled_ms: 1, last_step: 0 };
    await db.insertInto('second_factors').values(enabled).execute();
    expect((await factors.state(user.user_id)).isEnabled).toBe(true);
    expect(await json('users', 'reset-totp', 'A@example.com')).toEqual(user);
    expect((await factors.state(user.user_id)).isEnabled).toBe(false);
    await db.destroy();
  });

  it('can be suspended and unsuspended', async () => {
    const made = await json('users', 'create', '--email', 'a@example.com');
    const suspended = await json('users', 'suspend', '--email', 'A@example.com');
    expect(suspended).toEqual({ ...made, suspended: true });
    expect((await run('users', 'list')).out.join('')).toContain(' suspended ');
    expect(await json('users', 'unsuspend', '--email', 'a@example.com')).toEqual(made);
    expect((await json('users', 'list')).users).toEqual([made]);
  });
});

describe('users set-password', () => {
  const set = async (email: string, password: string) => {
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([`${password}\n`]) as never);
    return await run('users', 'set-password', '--email', email);
  };
  /** The number of sessions of each user, and whose password this is. */
  async function stateOf(password: string) {
    const db = await openControlDatabase({ dataDir: dataDir(), databaseUrl: null });
    const sources = { clock: new FakeClock(), randomBytes };
    const [users, sessions] = [new UserRepository(db, sources), new SessionRepository(db, sources)];
    const counts: Record<string, number> = {};
    const having: string[] = [];
    for (const { userId, email } of await users.list()) {
      counts[email] = (await sessions.list(userId)).length;
      const known = await users.findWithPassword({ userId });
      if (await new Passwords().verify(known?.passwordHash ?? null, password)) having.push(email);
    }
    await db.destroy();
    return { counts, having };
  }

  it('ends the sessions of that user only; a common password changes nothing', async () => {
    const [one, other] = ['a@example.com', 'b@example.com'];
    for (const email of [one, other]) {
      const { user_id: userId } = await json('users', 'create', '--email', email);
      const db = await openControlDatabase({ dataDir: dataDir(), databaseUrl: null });
      const sessions = new SessionRepository(db, { clock: new FakeClock(), randomBytes });
      await sessions.create({ userId, userAgent: '', address: '::1' });
      await db.destroy();
    }
    expect((await set(one, 'password1')).err).toEqual([
      'underround: this is one of the commonest passwords; choose another',
    ]);
    expect(await stateOf('password1')).toEqual({ counts: { [one]: 1, [other]: 1 }, having: [] });
    expect(await set(one, 'correct horse battery')).toMatchObject({ err: [], exit: undefined });
    expect(await stateOf('correct horse battery')).toEqual({
      counts: { [one]: 0, [other]: 1 },
      having: [one],
    });
  });
});

describe('maintenance', () => {
  const OPEN = { on: false, retry_after_seconds: null, message: null, since: null };

  it('can be switched on, changed and switched off', async () => {
    expect(await json('maintenance', 'status')).toEqual(OPEN);
    const first = await json('maintenance', 'on');
    expect(first).toEqual({ on: true, retry_after_seconds: 60, message: null, since: TIME });
    const words = ['--retry-after', '120', '--message', 'back at noon'];
    const second = { ...first, retry_after_seconds: 120, message: 'back at noon' };
    expect(await json('maintenance', 'on', ...words)).toEqual(second);
    expect(await json('maintenance', 'status')).toEqual(second);
    expect((await run('maintenance', 'status')).out).toEqual([
      `closed since ${first.since}, clients retry after 120 s: back at noon`,
    ]);
    expect(await json('maintenance', 'off')).toEqual(OPEN);
    expect((await run('maintenance', 'off')).out).toEqual(['open']);
  });

  it.each([['0'], ['1.5'], ['x'], [''], ['86401']])('refuses to tell clients to wait %j', async (seconds) => {
    const line = 'retry-after is a whole number of seconds, 1 to 86400';
    const refused = await run('maintenance', 'on', '--retry-after', seconds);
    expect(refused).toEqual({ out: [], err: [`underround: ${line}`], exit: 1 });
    expect(await json('maintenance', 'status')).toEqual(OPEN);
  });

  it('refuses a message of more than one line', async () => {
    const line = 'a message has at most 200 characters and no control characters';
    const refused = await run('maintenance', 'on', '--message', 'a\nb');
    expect(refused).toEqual({ out: [], err: [`underround: ${line}`], exit: 1 });
  });
});

describe('a refusal is one line on standard error and exit status 1', () => {
  it.each([
    'keys create --email nonsense',
    'keys create --email a@example.com --tier gold',
    'keys create --email a@example.com --label=',
    'users create --email nonsense',
    'users create --email a@example.com --tier gold',
  ])('%s makes no data directory', async (line) => {
    const directory = join(temporaryDirectory(), 'new');
    expect((await run(...line.split(' '), '--data-dir', directory)).exit).toBe(1);
    expect(existsSync(directory)).toBe(false);
  });

  it.each([
    [
      'unknown tier',
      ['keys', 'create', '--email', 'a@example.com', '--tier', 'gold'],
      'unknown tier; it is one of free, pro, plus, premium',
    ],
    ['bad address', ['keys', 'create', '--email', 'nonsense'], 'not a valid e-mail address'],
    [
      'empty label',
      ['keys', 'create', '--email', 'a@example.com', '--label', ''],
      'a label has 1 to 128 characters and no control characters',
    ],
    ['bad address to list', ['keys', 'list', '--email', 'x'], 'not a valid e-mail address'],
    ['unknown key', ['keys', 'revoke', 'key_none'], 'no key with this id; `keys list` shows the ids'],
    [
      'unknown user',
      ['users', 'set-tier', '--email', 'a@example.com', '--tier', 'pro'],
      'no user with this e-mail address',
    ],
    [
      'unknown user to suspend',
      ['users', 'suspend', '--email', 'a@example.com'],
      'no user with this e-mail address',
    ],
    [
      'an unknown tier to move to',
      ['users', 'create', '--email', 'a@example.com', '--tier', ''],
      'unknown tier; it is one of free, pro, plus, premium',
    ],
  ])('%s', async (_, words, line) => {
    expect(await run(...words)).toEqual({ out: [], err: [`underround: ${line}`], exit: 1 });
    expect(await json('users', 'list')).toEqual({ users: [] });
  });

  it('creating a user that exists already', async () => {
    await json('users', 'create', '--email', 'a@example.com');
    const again = await run('users', 'create', '--email', 'A@example.com');
    const err = ['underround: a user with this e-mail address exists already'];
    expect(again).toEqual({ out: [], err, exit: 1 });
  });

  it('an invalid configuration', async () => {
    process.env.UNDERROUND_KEY_ENV = 'prod';
    const { err, exit } = await run('keys', 'list');
    expect(err).toEqual([
      'underround: UNDERROUND_KEY_ENV="prod" must be live or test; correct it, or unset it for live',
    ]);
    expect(exit).toBe(1);
  });
});
