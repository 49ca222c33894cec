import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  issueKey,
  issueOwnKey,
  KeyRepository,
  MAX_LIVE_KEYS_PER_USER,
} from '../../src/accounts/keys/keys.ts';
import { UserRepository } from '../../src/accounts/users/users.ts';
import type { Database } from '../../src/control/schema.ts';
import { InvalidInputError } from '../../src/runtime/errors.ts';
import { FakeClock } from '../support/fakeClock.ts';

/** Behaviour of users and keys on every database; run it for each driver with a fresh, empty database. */
export function repositorySuite(driver: string, open: () => Promise<Database>): void {
  describe(`users and keys on ${driver}`, () => {
    let db: Database;
    let clock: FakeClock;
    let users: UserRepository;
    let keys: KeyRepository;

    beforeEach(async () => {
      db = await open();
      clock = new FakeClock();
      users = new UserRepository(db, { clock, randomBytes });
      keys = new KeyRepository(db, { clock, randomBytes });
    });
    afterEach(async () => {
      await db.destroy();
    });
    const issue = (email: string, options: { tier?: 'pro' | 'premium'; label?: string } = {}) =>
      issueKey(
        db,
        { clock, randomBytes },
        { email, tier: options.tier ?? null, label: options.label ?? 'bot', environment: 'live' },
      );

    describe('users', () => {
      it('a new user is on the free tier unless another is given', async () => {
        const user = await users.create('a@example.com');
        expect(user).toEqual({
          userId: expect.stringMatching(/^usr_[0-9A-Za-z]{16}$/),
          email: 'a@example.com',
          tier: 'free',
          createdMs: clock.now(),
          operator: false,
          suspended: false,
        });
        expect((await users.create('b@example.com', 'plus')).tier).toBe('plus');
      });

      it('one mailbox is one user, however it is typed', async () => {
        const user = await users.create('  Ann.Lee@Example.COM ');
        expect(user.email).toBe('ann.lee@example.com');
        expect(await users.find('ANN.LEE@example.com')).toEqual(user);
        expect(await users.findOrCreate('ann.lee@EXAMPLE.com')).toEqual(user);
        await expect(users.create('ann.LEE@example.com')).rejects.toThrow(
          new InvalidInputError('a user with this e-mail address exists already'),
        );
        expect(await users.list()).toEqual([user]);
      });

      it.each(['me@localhost', 'a@b.c', 'a..b@example.com'])(
        '%s is accepted, as in browsers',
        async (email) => {
          expect((await users.create(email)).email).toBe(email);
        },
      );

      it.each([
        ['empty', ''],
        ['no at sign', 'example.com'],
        ['a space inside', 'a b@example.com'],
        ['a new line inside', 'a@exam\nple.com'],
        ['no host', 'a@'],
        ['two addresses', 'a@example.com,b@example.com'],
        ['too long', `${'a'.repeat(250)}@example.com`],
      ])('an invalid address is refused: %s', async (_, email) => {
        const refusal = new InvalidInputError('not a valid e-mail address');
        await expect(users.create(email)).rejects.toThrow(refusal);
        await expect(users.findOrCreate(email)).rejects.toThrow(refusal);
        await expect(users.setTier(email, 'pro')).rejects.toThrow(refusal);
        expect(await users.list()).toEqual([]);
      });

      it('concurrent requests for one address create one user', async () => {
        const made = await Promise.all(Array.from({ length: 20 }, () => users.findOrCreate('a@example.com')));
        expect(new Set(made.map((user) => user.userId)).size).toBe(1);
        expect(await users.list()).toHaveLength(1);
      });

      it('the tier can be set for existing users only', async () => {
        const user = await users.create('a@example.com');
        expect(await users.setTier('A@example.com', 'premium')).toEqual({ ...user, tier: 'premium' });
        expect((await users.find('a@example.com'))?.tier).toBe('premium');
        await expect(users.setTier('b@example.com', 'pro')).rejects.toThrow(
          new InvalidInputError('no user with this e-mail address'),
        );
      });

      it('an unknown address finds nobody', async () => {
        expect(await users.find('nobody@example.com')).toBeNull();
      });

      it('are listed oldest first', async () => {
        for (const email of ['c@example.com', 'a@example.com', 'b@example.com']) {
          await users.create(email);
          await clock.advance(1);
        }
        const emails = (await users.list()).map((user) => user.email);
        expect(emails).toEqual(['c@example.com', 'a@example.com', 'b@example.com']);
      });
    });

    describe('signing up', () => {
      it('creates a user, or the operator if requested', async () => {
        await users.create('made@example.com');
        const first = await users.signUpOperator(' A@example.com', 'hash');
        expect(first).toMatchObject({
          email: 'a@example.com',
          tier: 'free',
          operator: true,
          suspended: false,
        });
        expect(await users.signUp('b@example.com', 'hash')).toMatchObject({ operator: false });
        expect((await users.list()).map(({ email, operator }) => [email, operator])).toEqual(
          expect.arrayContaining([
            ['made@example.com', false],
            ['a@example.com', true],
            ['b@example.com', false],
          ]),
        );
      });

      it('of many concurrent operators exactly one is created, and the others store nothing', async () => {
        const emails = Array.from({ length: 12 }, (_, index) => `u${index}@example.com`);
        const made = await Promise.all(emails.map((email) => users.signUpOperator(email, 'hash')));
        expect(made.filter((user) => user === 'operator_exists')).toHaveLength(11);
        const [operator, ...others] = await users.list();
        expect([operator?.operator, others]).toEqual([true, []]);
        expect(made).toContainEqual(operator);
      });

      it('of concurrent sign-ups with one address, one succeeds', async () => {
        const made = await Promise.all(
          Array.from({ length: 8 }, (_, index) => users.signUp('a@example.com', `hash ${index}`)),
        );
        expect(made.filter((user) => user !== null)).toHaveLength(1);
        const winner = made.findIndex((user) => user !== null);
        const kept = await users.findWithPassword({ email: 'a@example.com' });
        expect(kept).toMatchObject({ operator: false, passwordHash: `hash ${winner}` });
      });

      it('takes over nobody: a user created on the command line stays without a password', async () => {
        const made = await users.create('a@example.com', 'plus');
        expect(await users.signUp('A@EXAMPLE.com', 'hash')).toBeNull();
        expect(await users.signUpOperator('A@EXAMPLE.com', 'hash')).toBe('email_taken');
        expect(await users.findWithPassword({ email: 'a@example.com' })).toEqual({
          ...made,
          passwordHash: null,
        });
        expect(await users.signUpOperator('b@example.com', 'hash')).toMatchObject({ operator: true });
      });
    });

    describe('the operator', () => {
      it('is the user set on the command line, and then no sign-up becomes operator', async () => {
        await users.create('a@example.com');
        await users.create('b@example.com');
        expect(await users.hasOperator()).toBe(false);
        for (const email of ['a@example.com', 'B@example.com', 'b@example.com']) {
          expect(await users.setOperator(email)).toMatchObject({
            email: email.toLowerCase(),
            operator: true,
          });
          const operators = (await users.list()).filter(({ operator }) => operator);
          expect(operators.map((user) => user.email)).toEqual([email.toLowerCase()]);
        }
        expect(await users.signUpOperator('c@example.com', 'hash')).toBe('operator_exists');
        expect(await users.find('c@example.com')).toBeNull();
      });

      it('cannot be an unknown or suspended user', async () => {
        await users.signUpOperator('op@example.com', 'hash');
        await users.create('a@example.com');
        await users.update({ email: 'a@example.com' }, { suspended: true });
        await expect(users.setOperator('nobody@example.com')).rejects.toThrow(
          new InvalidInputError('no user with this e-mail address'),
        );
        await expect(users.setOperator('a@example.com')).rejects.toThrow(
          new InvalidInputError('the user is suspended; `users unsuspend` first'),
        );
        expect(await users.find('op@example.com')).toMatchObject({ operator: true });
      });
    });

    describe('changes to users', () => {
      it('set the given fields and keep the others', async () => {
        const user = await users.create('a@example.com', 'plus');
        expect(await users.update(user, {})).toEqual(user);
        expect(await users.update(user, { suspended: true })).toEqual({ ...user, suspended: true });
        expect(await users.update({ userId: user.userId }, { tier: 'pro' })).toEqual({
          ...{ ...user, suspended: true },
          tier: 'pro',
        });
        expect(await users.update(user, { suspended: false })).toEqual({ ...user, tier: 'pro' });
        await expect(users.update({ userId: 'usr_none' }, { tier: 'pro' })).rejects.toThrow(
          new InvalidInputError('no user with this e-mail address'),
        );
      });

      it('concurrent changes both apply', async () => {
        const user = await users.create('a@example.com');
        await Promise.all([users.update(user, { suspended: true }), users.update(user, { tier: 'premium' })]);
        expect(await users.find('a@example.com')).toEqual({ ...user, suspended: true, tier: 'premium' });
      });

      it('a password can be set for existing users only', async () => {
        const user = await users.create('a@example.com');
        await users.setPassword({ email: 'A@example.com' }, 'hash');
        expect(await users.findWithPassword(user)).toEqual({ ...user, passwordHash: 'hash' });
        await expect(users.setPassword({ email: 'b@example.com' }, 'hash')).rejects.toThrow(
          new InvalidInputError('no user with this e-mail address'),
        );
      });

      it('of several changes of one password, one succeeds', async () => {
        const { userId } = await users.create('a@example.com');
        await users.setPassword({ userId }, 'old');
        expect(await users.replacePassword(userId, { from: 'older', to: 'new' })).toBe(false);
        const changes = ['one', 'two', 'three'].map((to) =>
          users.replacePassword(userId, { from: 'old', to }),
        );
        expect((await Promise.all(changes)).filter(Boolean)).toEqual([true]);
        expect((await users.findWithPassword({ userId }))?.passwordHash).toMatch(/^(?:one|two|three)$/);
      });

      it('are listed in pages', async () => {
        for (const email of ['c@example.com', 'a@example.com', 'b@example.com']) {
          await users.create(email);
          await clock.advance(1);
        }
        const page = await users.page({ limit: 2, offset: 1 });
        expect(page.map(({ email }) => email)).toEqual(['a@example.com', 'b@example.com']);
        expect(await users.count()).toBe(3);
        const found = await users.page({ limit: 2, offset: 0, search: 'A@Ex' });
        expect(found.map(({ email }) => email)).toEqual(['a@example.com']);
        expect([await users.count('%'), await users.count('example')]).toEqual([0, 3]);
      });
    });

    describe('keys', () => {
      it('a user has a limited number of live ones, however many are requested at once', async () => {
        const { user, record } = await issue('a@example.com');
        const own = () =>
          issueOwnKey(db, { clock, randomBytes }, { userId: user.userId, label: 'x', environment: 'live' });
        // Only the last two places are contended: of many at once, the last ones would wait longer on a busy machine
        // than the pool may.
        for (let live = 1; live < MAX_LIVE_KEYS_PER_USER - 2; live++) expect(await own()).not.toBeNull();
        const made = await Promise.all(Array.from({ length: 5 }, own));
        expect(made.filter((issued) => issued !== null)).toHaveLength(2);
        await keys.revoke(record.keyId);
        expect(await own()).not.toBeNull();
        expect(await own()).toBeNull();
      });

      it('another user’s key cannot be revoked', async () => {
        const { record } = await issue('a@example.com');
        const other = await users.create('b@example.com');
        await expect(keys.revoke(record.keyId, other)).rejects.toThrow(InvalidInputError);
        expect((await keys.list())[0]?.revokedMs).toBeNull();
      });

      it('a key is returned in full once and listed without it', async () => {
        const { key, record, user } = await issue('a@example.com', { tier: 'pro', label: ' my bot ' });
        expect(key).toMatch(/^svc_live_[0-9A-Za-z]{39}$/);
        expect(record).toEqual({
          keyId: expect.stringMatching(/^key_[0-9A-Za-z]{16}$/),
          userId: user.userId,
          hint: key.slice(0, 13),
          label: 'my bot',
          createdMs: clock.now(),
          lastUsedMs: null,
          revokedMs: null,
        });
        const listed = await keys.list();
        expect(listed).toEqual([{ ...record, email: 'a@example.com', tier: 'pro' }]);
        expect(JSON.stringify(listed)).not.toContain(key.slice(13));
      });

      it('issuing creates the user once, and changes the tier if one is given', async () => {
        const first = await issue('a@example.com', { tier: 'pro' });
        const second = await issue('a@example.com');
        const third = await issue('a@example.com', { tier: 'premium' });
        expect([first.user.tier, second.user.tier, third.user.tier]).toEqual(['pro', 'pro', 'premium']);
        expect(new Set([first, second, third].map((issued) => issued.user.userId)).size).toBe(1);
        expect(new Set([first, second, third].map((issued) => issued.key)).size).toBe(3);
        expect((await keys.list()).map((key) => key.tier)).toEqual(['premium', 'premium', 'premium']);
      });

      it.each([
        ['empty', ''],
        ['blank', '   '],
        ['too long', 'x'.repeat(129)],
        ['a control character', 'a\u0000b'],
        ['two lines', 'a\nb'],
      ])('a refused label creates no user: %s', async (_, label) => {
        await expect(issue('a@example.com', { tier: 'pro', label })).rejects.toThrow(
          new InvalidInputError('a label has 1 to 128 characters and no control characters'),
        );
        expect(await users.list()).toEqual([]);
      });

      it('are listed by user, oldest first', async () => {
        const a = await issue('a@example.com', { label: 'one' });
        await clock.advance(1);
        await issue('b@example.com', { label: 'two' });
        await clock.advance(1);
        await issue('a@example.com', { label: 'three' });
        expect((await keys.list()).map((key) => key.label)).toEqual(['one', 'two', 'three']);
        const ofA = await keys.list({ userId: a.user.userId });
        expect(ofA.map((key) => key.label)).toEqual(['one', 'three']);
        expect(await keys.list({ userId: 'usr_none' })).toEqual([]);
      });

      it('revoking again keeps the first time; an unknown id is refused and not repeated', async () => {
        const { key, record } = await issue('a@example.com');
        await clock.advance(1000);
        const revoked = await keys.revoke(record.keyId);
        expect(revoked).toEqual({ ...record, revokedMs: clock.now() });
        await clock.advance(1000);
        expect(await keys.revoke(record.keyId)).toEqual(revoked);
        expect((await keys.list())[0]?.revokedMs).toBe(revoked.revokedMs);
        await expect(keys.revoke(key)).rejects.toThrow(
          new InvalidInputError('no key with this id; `keys list` shows the ids'),
        );
      });

      it('a key without a user cannot be stored', async () => {
        const orphan = keys.create({ userId: 'usr_none', label: 'bot', environment: 'live' });
        await expect(orphan).rejects.toThrow(/foreign key/i);
      });

      it('deleting a user deletes their keys', async () => {
        const { user } = await issue('a@example.com');
        await db.deleteFrom('users').where('user_id', '=', user.userId).execute();
        expect(await keys.list()).toEqual([]);
      });
    });
  });
}
