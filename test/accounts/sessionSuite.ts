import { hash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueKey } from '../../src/accounts/keys/keys.ts';
import { Usage } from '../../src/accounts/limits/usage.ts';
import { MaintenanceSwitch } from '../../src/accounts/maintenanceSwitch.ts';
import { AccountEvents } from '../../src/accounts/users/accountEvents.ts';
import { openSecondFactors } from '../../src/accounts/users/secondFactors.ts';
import {
  MAX_SESSIONS_PER_USER,
  SESSION_IDLE_MS,
  SESSION_LIFE_MS,
  SessionRepository,
} from '../../src/accounts/users/sessions.ts';
import { totpCode, totpStep } from '../../src/accounts/users/totp.ts';
import { UserRepository } from '../../src/accounts/users/users.ts';
import type { Database } from '../../src/control/schema.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { fromBase32 } from '../support/base32.ts';
import { FakeClock } from '../support/fakeClock.ts';

const DAY_MS = 86_400_000;

/** Behaviour of sessions, usage and maintenance on every database; used like `repositorySuite`. */
export function sessionSuite(driver: string, open: () => Promise<Database>): void {
  describe(`sessions, usage and maintenance on ${driver}`, () => {
    let db: Database;
    let clock: FakeClock;
    let users: UserRepository;

    beforeEach(async () => {
      db = await open();
      clock = new FakeClock();
      users = new UserRepository(db, { clock, randomBytes });
    });
    afterEach(async () => {
      await db.destroy();
    });
    const issue = (email: string) =>
      issueKey(db, { clock, randomBytes }, { email, tier: null, label: 'bot', environment: 'live' });

    describe('sessions', () => {
      let sessions: SessionRepository;
      let userId: string;
      beforeEach(async () => {
        sessions = new SessionRepository(db, { clock, randomBytes });
        ({ userId } = await users.create('a@example.com'));
      });
      const begin = (from = '127.0.0.1', userAgent = 'Browser/1') =>
        sessions.create({ userId, userAgent, address: from });

      it('a token finds its session and user, and is not stored', async () => {
        const { token, session } = await begin();
        expect(token).toMatch(/^[\w-]{43}$/);
        expect(await sessions.find(token)).toEqual({
          sessionId: session.sessionId,
          user: await users.find('a@example.com'),
        });
        expect(await sessions.find('x'.repeat(43))).toBeNull();
        const [row] = await db.selectFrom('sessions').selectAll().execute();
        expect(row?.token_hash).toMatch(/^[0-9a-f]{64}$/);
        expect(JSON.stringify(row)).not.toContain(token);
      });

      it('expires after seven days without use, to the millisecond', async () => {
        const { token } = await begin();
        await clock.advance(SESSION_IDLE_MS - 1);
        expect(await sessions.find(token)).not.toBeNull();
        await clock.advance(SESSION_IDLE_MS - 1);
        expect(await sessions.find(token)).not.toBeNull();
        await clock.advance(SESSION_IDLE_MS);
        expect(await sessions.list(userId)).toEqual([]);
        expect(await sessions.find(token)).toBeNull();
        expect(await db.selectFrom('sessions').selectAll().execute()).toEqual([]);
      });

      it('expires after thirty days, however much it is used', async () => {
        const { token, session } = await begin();
        for (let day = 1; day < 30; day++) {
          await clock.advance(86_400_000);
          expect(await sessions.find(token), `day ${day}`).not.toBeNull();
        }
        const [late] = await sessions.list(userId);
        expect(late?.expiresMs).toBe(session.createdMs + SESSION_LIFE_MS);
        await clock.advance(86_400_000 - 1);
        expect(await sessions.find(token)).not.toBeNull();
        await clock.advance(1);
        expect(await sessions.find(token)).toBeNull();
      });

      it('its use is recorded once a minute', async () => {
        const { token, session } = await begin();
        const seen = async () => (await sessions.list(userId))[0]?.lastSeenMs;
        await clock.advance(59_999);
        await sessions.find(token);
        expect(await seen()).toBe(session.createdMs);
        await clock.advance(1);
        await sessions.find(token);
        expect(await seen()).toBe(session.createdMs + 60_000);
      });

      it('of a suspended user ends, and does not return when the suspension ends', async () => {
        const { token } = await begin();
        await users.update({ userId }, { suspended: true });
        expect(await sessions.find(token)).toBeNull();
        await users.update({ userId }, { suspended: false });
        expect(await sessions.find(token)).toBeNull();
      });

      it('ends alone or, with the password, with all others, and only by its own user', async () => {
        const [one, two, three] = [await begin(), await begin(), await begin()];
        const other = await users.create('b@example.com');
        expect(await sessions.end(other.userId, one.session.sessionId)).toBe(false);
        expect(await sessions.end(userId, one.session.sessionId)).toBe(true);
        expect(await sessions.end(userId, one.session.sessionId)).toBe(false);
        expect(await sessions.find(one.token)).toBeNull();
        expect(await sessions.find(two.token)).not.toBeNull();
        await users.setPassword({ userId }, 'hash');
        expect([await sessions.find(two.token), await sessions.find(three.token)]).toEqual([null, null]);
      });

      it('a further one beyond the limit ends the least recently used', async () => {
        const first = await begin();
        for (let count = 1; count < MAX_SESSIONS_PER_USER; count++) {
          await clock.advance(60_000);
          await begin();
        }
        expect(await sessions.list(userId)).toHaveLength(MAX_SESSIONS_PER_USER);
        await sessions.find(first.token);
        await clock.advance(60_000);
        await begin();
        expect(await sessions.list(userId)).toHaveLength(MAX_SESSIONS_PER_USER);
        expect(await sessions.find(first.token)).not.toBeNull();
      });

      it('begins after a sign-in only while the verified password and the user are the same', async () => {
        const client = { userId, userAgent: '', address: '::1' };
        const signIn = () => sessions.signIn({ ...client, passwordHash: 'old' });
        expect(await signIn()).toBeNull();
        await users.setPassword({ userId }, 'old');
        const issued = await signIn();
        expect((await sessions.find(issued?.token ?? ''))?.user.userId).toBe(userId);
        await users.update({ userId }, { suspended: true });
        expect(await signIn()).toBeNull();
        await users.update({ userId }, { suspended: false });
        // In whatever order the two reach the database, no session with the old password remains.
        const change = users.setPassword({ userId }, 'new');
        await Promise.all([change, ...Array.from({ length: 10 }, signIn)]);
        expect(await sessions.list(userId)).toEqual([]);
      });

      it('keeps the printable start of the user agent', async () => {
        await begin('::1', `Evil\u0000\u0007é${'x'.repeat(500)}`);
        const [session] = await sessions.list(userId);
        expect(session).toMatchObject({ address: '::1', userAgent: `Evil${'x'.repeat(196)}` });
      });
    });

    describe('usage', () => {
      const logged: unknown[] = [];
      const usageOn = (database: Database) => {
        const logger = { ...silentLogger, warn: (fields: unknown) => void logged.push(fields) };
        return new Usage(database, { clock, logger: logger as never, metrics: new Metrics() });
      };

      it('is summed by key and day, over writes and processes', async () => {
        const { record, user } = await issue('a@example.com');
        const other = await issue('b@example.com');
        const [one, two] = [usageOn(db), usageOn(db)];
        const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
        for (let count = 0; count < 5; count++) one.note(record.keyId);
        two.note(record.keyId);
        two.note(other.record.keyId);
        await Promise.all([one.close(), two.close()]);
        expect(await one.since(user.userId, today)).toEqual(new Map([[record.keyId, 6]]));
        await clock.advance(DAY_MS);
        one.note(record.keyId);
        await one.close();
        expect(await one.since(user.userId, today)).toEqual(new Map([[record.keyId, 7]]));
        expect(await one.since(user.userId, today + DAY_MS)).toEqual(new Map([[record.keyId, 1]]));
        expect(await one.since(user.userId, today + 2 * DAY_MS)).toEqual(new Map());
      });

      it('is written some time after the first request; a new day is written separately', async () => {
        const { record, user } = await issue('a@example.com');
        const usage = usageOn(db);
        usage.note(record.keyId);
        expect(clock.waiting).toBe(1);
        clock.stepWall(DAY_MS);
        usage.note(record.keyId);
        await clock.advance(10_000);
        await usage.close();
        expect(clock.waiting).toBe(0);
        expect(await db.selectFrom('usage').select('requests').execute()).toEqual([
          { requests: 1 },
          { requests: 1 },
        ]);
        expect(await usage.since(user.userId, 0)).toEqual(new Map([[record.keyId, 2]]));
        expect(logged).toEqual([]);
      });

      it('a failed write is logged and stops nothing', async () => {
        const { record } = await issue('a@example.com');
        const usage = usageOn(db);
        await db.schema.dropTable('usage').execute();
        usage.note(record.keyId);
        await usage.close();
        expect(logged.splice(0)).toEqual([{ err: expect.any(Error), keys: 1 }]);
      });
    });

    describe('one-time codes', () => {
      const CONFIG = { dataDir: '.', secretKey: '0'.repeat(64) };
      const factorsOn = () => openSecondFactors(db, { config: CONFIG, clock, randomBytes });

      it('work once across all processes, and are not stored in plain text', async () => {
        const user = await users.create('a@example.com');
        const begun = await factorsOn().begin(user);
        const codeAt = (steps: number) =>
          totpCode(fromBase32(begun?.secret ?? ''), totpStep(clock.now()) + steps);
        expect(await factorsOn().use(user.userId, codeAt(0))).toBe(false);
        expect(await factorsOn().confirm(user.userId, codeAt(3))).toBeNull();
        const recovery = (await factorsOn().confirm(user.userId, codeAt(0))) ?? [];
        expect(recovery).toHaveLength(10);
        expect(await factorsOn().confirm(user.userId, codeAt(1))).toBeNull();
        expect(await factorsOn().begin(user)).toBeNull();
        const uses = (code: string) =>
          Promise.all(Array.from({ length: 4 }, () => factorsOn().use(user.userId, code)));
        expect((await uses(codeAt(0))).filter(Boolean)).toEqual([]);
        expect((await uses(codeAt(1))).filter(Boolean)).toEqual([true]);
        expect((await uses(recovery[0] ?? '')).filter(Boolean)).toEqual([true]);
        expect(await factorsOn().state(user.userId)).toEqual({ isEnabled: true, recoveryCodesLeft: 9 });
        const stored = JSON.stringify([
          await db.selectFrom('second_factors').selectAll().execute(),
          await db.selectFrom('recovery_codes').selectAll().execute(),
        ]);
        for (const code of recovery) expect(stored).not.toContain(code.replaceAll('-', ''));
        expect(stored).not.toContain(begun?.secret);
      });

      it('belong to one user only, and are removed completely', async () => {
        const [one, two] = [await users.create('a@example.com'), await users.create('b@example.com')];
        const begun = await factorsOn().begin(one);
        const code = totpCode(fromBase32(begun?.secret ?? ''), totpStep(clock.now()));
        await factorsOn().begin(two);
        expect(await factorsOn().confirm(two.userId, code)).toBeNull();
        const recovery = (await factorsOn().confirm(one.userId, code)) ?? [];
        expect(await factorsOn().use(two.userId, recovery[0] ?? '')).toBe(false);
        await factorsOn().remove(one.userId);
        expect(await factorsOn().use(one.userId, recovery[0] ?? '')).toBe(false);
        expect(await factorsOn().state(one.userId)).toEqual({ isEnabled: false, recoveryCodesLeft: 0 });
      });

      it('recovery codes of an earlier secret are deleted when another is enabled', async () => {
        const { userId, email } = await users.create('a@example.com');
        // Two removals at once may leave some behind.
        const left = { user_id: userId, code_hash: hash('sha256', 'left', 'hex') };
        await db.insertInto('recovery_codes').values(left).execute();
        const begun = await factorsOn().begin({ userId, email });
        const code = totpCode(fromBase32(begun?.secret ?? ''), totpStep(clock.now()));
        expect(await factorsOn().confirm(userId, code)).toHaveLength(10);
        expect(await factorsOn().state(userId)).toEqual({ isEnabled: true, recoveryCodesLeft: 10 });
        expect(await factorsOn().use(userId, 'left')).toBe(false);
      });

      it('are useless with another service key, except the recovery codes', async () => {
        const user = await users.create('a@example.com');
        const begun = await factorsOn().begin(user);
        const codeAt = (steps: number) =>
          totpCode(fromBase32(begun?.secret ?? ''), totpStep(clock.now()) + steps);
        const recovery = (await factorsOn().confirm(user.userId, codeAt(0))) ?? [];
        const config = { ...CONFIG, secretKey: '1'.repeat(64) };
        const other = openSecondFactors(db, { config, clock, randomBytes });
        expect(await other.use(user.userId, codeAt(1))).toBe(false);
        expect(await other.use(user.userId, recovery[0] ?? '')).toBe(true);
      });
    });

    describe('account events', () => {
      const eventsOn = (options: { keptRows?: number } = {}) =>
        new AccountEvents(db, { clock, randomBytes, ...options });
      const emails = async (events: AccountEvents) =>
        (await events.page({ limit: 1000, after: null })).map(({ email }) => email);

      it('are stored unchanged, and listed newest first in pages', async () => {
        const events = eventsOn();
        await events.record({
          action: 'sign_in',
          email: 'a',
          address: '192.0.2.1',
          reason: 'wrong password',
        });
        const atMs = clock.now();
        for (const email of ['b', 'c', 'd']) await events.record({ action: 'sign_in', email });
        await clock.advance(1);
        await events.record({ action: 'set_tier', email: 'e', actor: 'op@example.com', detail: 'plus' });
        const all = await events.page({ limit: 10, after: null });
        expect(all[0]).toEqual({
          eventId: expect.stringMatching(/^evt_[0-9A-Za-z]{16}$/),
          atMs: atMs + 1,
          action: 'set_tier',
          reason: null,
          email: 'e',
          actor: 'op@example.com',
          address: null,
          detail: 'plus',
        });
        expect(all.find(({ email }) => email === 'a')).toMatchObject({
          atMs,
          reason: 'wrong password',
          address: '192.0.2.1',
        });
        const paged = [];
        for (let after = null; ; after = paged.at(-1) ?? null) {
          const page = await events.page({ limit: 2, after });
          if (page.length === 0) break;
          paged.push(...page);
        }
        expect(paged).toEqual(all);
        expect(await events.count()).toBe(5);
      });

      it('are kept for ninety days', async () => {
        await eventsOn().record({ action: 'sign_in', email: 'old' });
        await clock.advance(90 * DAY_MS);
        await eventsOn().record({ action: 'sign_in', email: 'late' });
        expect(await emails(eventsOn())).toEqual(['late', 'old']);
        await clock.advance(1);
        await eventsOn().record({ action: 'sign_in', email: 'new' });
        expect(await emails(eventsOn())).toEqual(['new', 'late']);
      });

      it('are limited in number; the newest are kept', async () => {
        const events = eventsOn({ keptRows: 3 });
        for (let n = 0; n < 256; n++) {
          await clock.advance(1);
          await events.record({ action: 'sign_in', email: `${n}` });
        }
        expect(await events.count()).toBe(256);
        await clock.advance(1);
        await events.record({ action: 'sign_in', email: '256' });
        expect(await emails(events)).toEqual(['256', '255', '254']);
      });
    });

    describe('maintenance', () => {
      it('can be closed and opened; closing again keeps the first time', async () => {
        const maintenance = new MaintenanceSwitch(db, clock);
        expect(await maintenance.status()).toBeNull();
        const sinceMs = clock.now();
        await maintenance.close({ retryAfterSeconds: 60, message: null });
        await clock.advance(1000);
        await maintenance.close({ retryAfterSeconds: 90, message: 'soon' });
        expect(await maintenance.status()).toEqual({ retryAfterSeconds: 90, message: 'soon', sinceMs });
        await maintenance.open();
        await maintenance.open();
        expect(await maintenance.status()).toBeNull();
      });
    });
  });
}
