import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openAccounts } from '../../src/accounts/accounts.ts';
import { isAuthFailure } from '../../src/accounts/keys/authenticate.ts';
import { LEASE_MS, LEASE_OVER_MS } from '../../src/accounts/keys/freshness.ts';
import type { Gone } from '../../src/accounts/keys/liveKeys.ts';
import { openSecondFactors } from '../../src/accounts/users/secondFactors.ts';
import { totpCode, totpStep } from '../../src/accounts/users/totp.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { fromBase32 } from '../support/base32.ts';
import { FakeClock } from '../support/fakeClock.ts';
import { openTestPostgres } from '../support/postgres.ts';

const postgres = await openTestPostgres();
const DAY_MS = 86_400_000;

describe.skipIf(postgres.absent)(
  `two processes on one PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    async function open() {
      const clock = new FakeClock();
      const config = {
        ...{ dataDir: '/nonexistent', databaseUrl: await postgres.createDatabase() },
        ...{ keyEnvironment: 'live' as const, secretKey: '2'.repeat(64) },
      };
      const node = async () => {
        const database = await openControlDatabase(config);
        const parts = { database, config, clock, randomBytes, logger: silentLogger };
        const accounts = await openAccounts({ ...parts, metrics: new Metrics() });
        let isClosed = false;
        const close = async () => {
          if (!isClosed) await accounts.close();
          isClosed = true;
        };
        onTestFinished(close);
        return { accounts, close, factors: openSecondFactors(database, { config, clock, randomBytes }) };
      };
      const [one, two] = [await node(), await node()];
      const user = await one.accounts.users.signUp('ann@example.com', 'hash');
      if (user === null || typeof user === 'string') throw new Error('no user');
      await one.accounts.users.setTier(user.email, 'premium');
      const issued = await one.accounts.issueOwnKey({ userId: user.userId, label: 'bot' });
      const { key, record } = issued!;
      const { keyId } = record;
      /** Why the second process refuses the key; null: it does not. */
      const refusedOnTwo = async () => {
        const result = await two.accounts.authenticator.authenticate(`Bearer ${key}`);
        return isAuthFailure(result) ? result.reason : null;
      };
      return { clock, one, two, user, key, keyId, refusedOnTwo };
    }

    it.each<
      [
        string,
        Gone,
        'revoked' | 'suspended' | null,
        (t: Awaited<ReturnType<typeof open>>) => Promise<unknown>,
      ]
    >([
      [
        'a revocation',
        'revoked',
        'revoked',
        ({ one, user, keyId }) => one.accounts.keys.revoke(keyId, { userId: user.userId }),
      ],
      [
        'a suspension',
        'suspended',
        'suspended',
        ({ one, user }) => one.accounts.users.update(user, { suspended: true }),
      ],
      ['a lower tier', 'downgraded', null, ({ one, user }) => one.accounts.users.setTier(user.email, 'free')],
    ])('%s by one applies in the other when its answer arrives', async (_name, gone, refusal, change) => {
      const t = await open();
      const { clock, one, two, keyId, refusedOnTwo } = t;
      expect(await refusedOnTwo()).toBeNull();
      const ends: Gone[] = [];
      two.accounts.liveKeys.watch({ keyId, tier: 'premium' }, (why) => ends.push(why));
      await change(t);
      let isAnswered = false;
      void one.accounts.settled().then(() => (isAnswered = true));
      await clock.advance(LEASE_MS);
      expect([isAnswered, await refusedOnTwo()]).toEqual([false, refusal]);
      // The check of open connections began before this second ended.
      while (ends.length === 0) await clock.advance(0);
      expect(ends).toEqual([gone]);
      await clock.advance(LEASE_OVER_MS - LEASE_MS);
      expect(isAnswered).toBe(true);
      const identity = await two.accounts.authenticator.authenticate(`Bearer ${t.key}`);
      if (!isAuthFailure(identity)) expect(identity.tier).toBe('free');
    });

    it('a session that one ends is not valid in the other', async () => {
      const { one, two, user } = await open();
      const client = { address: '192.0.2.1', userAgent: 'test' };
      const { token } = await one.accounts.sessions.create({ userId: user.userId, ...client });
      const moment = two.accounts.access.moment();
      const session = await two.accounts.access.signedIn(token, moment);
      expect(session?.user.userId).toBe(user.userId);
      await one.accounts.sessions.end(user.userId, session!.sessionId);
      expect(await two.accounts.access.signedIn(token, moment)).toBeNull();
    });

    it('maintenance that one starts applies in the other within the lease', async () => {
      const { clock, one, two } = await open();
      const state = async () => await two.accounts.access.maintenance(two.accounts.access.moment());
      expect(await state()).toBeNull();
      await one.accounts.maintenance.close({ retryAfterSeconds: 30, message: null });
      await clock.advance(LEASE_MS);
      expect(await state()).toEqual({ retryAfterSeconds: 30, message: null });
    });

    it('a one-time code and a recovery code work once over both, with a secret that one encrypted', async () => {
      const { clock, one, two, user } = await open();
      const begun = await one.factors.begin(user);
      const codeAt = (steps: number) => totpCode(fromBase32(begun!.secret), totpStep(clock.now()) + steps);
      const recovery = await two.factors.confirm(user.userId, codeAt(0));
      const useOnBoth = (code: string) =>
        Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? one : two).factors.use(user.userId, code)));
      for (const code of [codeAt(1), recovery![0]!])
        expect((await useOnBoth(code)).filter(Boolean)).toEqual([true]);
    });

    it('requests that both counted add up', async () => {
      const { clock, one, two, user, keyId } = await open();
      for (let n = 0; n < 7; n++) (n % 2 ? one : two).accounts.usage.note(keyId);
      await Promise.all([one.close(), two.accounts.usage.close()]);
      const dayMs = Math.floor(clock.now() / DAY_MS) * DAY_MS;
      expect(await two.accounts.usage.since(user.userId, dayMs)).toEqual(new Map([[keyId, 7]]));
    });
  },
);
