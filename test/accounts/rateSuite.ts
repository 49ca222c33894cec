import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FAILED_PER_MINUTE, RateLimits } from '../../src/accounts/limits/limits.ts';
import type { Quota } from '../../src/accounts/limits/limitsWindow.ts';
import type { CounterSource } from '../../src/accounts/limits/rateCounters.ts';
import { SignInLimits } from '../../src/accounts/limits/signInLimits.ts';
import { DEFAULT_TIERS } from '../../src/accounts/users/tiers.ts';
import type { FakeClock } from '../support/fakeClock.ts';

const { free, premium } = DEFAULT_TIERS;

interface Rig {
  readonly clock: FakeClock;
  readonly source: CounterSource;
}

/** What every driver of rate counters must do. @param open New counters on the clock that it returns. */
export function rateSuite(driver: string, open: () => Promise<Rig>, { numRuns = 100 } = {}): void {
  const rig = async () => {
    const { clock, source } = await open();
    return { clock, limits: new RateLimits(clock, source) };
  };

  describe(`rate counters ${driver}`, () => {
    it('admit exactly the requests that a list of all admitted times would, for any sequence', async () => {
      const { clock, source } = await open();
      const counters = source('test', 100);
      const quota = fc.record({
        requests: fc.integer({ min: 1, max: 12 }),
        windowMs: fc.integer({ min: 1, max: 60 }),
      });
      const gaps = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(quota, quota, gaps, async (one, other, steps) => {
          const client = `client ${run++}`;
          const quotas: Quota[] = [
            { name: 'one', ...one },
            { name: 'other', ...other },
          ];
          const admitted: number[] = [];
          for (const step of steps) {
            await clock.advance(step);
            const nowMs = clock.monotonic();
            const inside = ({ windowMs }: Quota) => admitted.filter((time) => time > nowMs - windowMs);
            const waits = () =>
              quotas.map((each) => {
                const counted = inside(each);
                const freeing = counted.at(-each.requests);
                return counted.length < each.requests ? 0 : (freeing as number) + each.windowMs - nowMs;
              });
            const states = () =>
              quotas.map((each) => {
                const counted = inside(each);
                return {
                  remaining: each.requests - counted.length,
                  freesInMs: counted.length === 0 ? 0 : (counted[0] as number) + each.windowMs - nowMs,
                };
              });
            const waitMs = Math.max(...waits());
            expect(await counters.peek(client, quotas)).toEqual({ waitMs, states: states() });
            if (waitMs === 0) admitted.push(nowMs);
            expect(await counters.count(client, quotas)).toEqual({ waitMs, states: states() });
          }
        }),
        { numRuns, seed: 20261123 },
      );
    });

    it('a cleared client has whole quotas', async () => {
      const { source } = await open();
      const counters = source('test', 100);
      const quotas = [{ name: 'one', requests: 1, windowMs: 1000 }];
      expect((await counters.count('ann', quotas)).waitMs).toBe(0);
      expect((await counters.count('ann', quotas)).waitMs).toBe(1000);
      await counters.clear('ann');
      expect((await counters.count('ann', quotas)).waitMs).toBe(0);
    });

    it('of one kind share nothing with those of another', async () => {
      const { source } = await open();
      const quotas = [{ name: 'one', requests: 1, windowMs: 1000 }];
      for (const kind of ['a', 'b']) expect((await source(kind, 100).count('ann', quotas)).waitMs).toBe(0);
    });

    it('a password attempt is refused until the last millisecond of the window', async () => {
      const { clock, source } = await open();
      const limits = new SignInLimits(source);
      const who = { address: '192.0.2.1', email: 'a@example.com' };
      for (let n = 0; n < 10; n++) expect(await limits.accountAttempt(who)).toBe(0);
      expect(await limits.accountAttempt(who)).toBe(900);
      await clock.advance(900_000 - 1);
      expect(await limits.accountAttempt(who)).toBe(1);
      await clock.advance(1);
      expect(await limits.accountAttempt(who)).toBe(0);
      for (let n = 0; n < 10; n++) await limits.accountAttempt(who);
      await limits.succeeded(who);
      expect(await limits.accountAttempt(who)).toBe(0);
    });
  });

  describe(`a user ${driver}`, () => {
    it('sending 10,000 requests at once has exactly as many admitted as the tier allows', async () => {
      const { limits } = await rig();
      const verdicts = await Promise.all(
        Array.from({ length: 10_000 }, async () => limits.request('keys ann', premium)),
      );
      expect(verdicts.filter(({ retryAfterSeconds }) => retryAfterSeconds === 0)).toHaveLength(50);
      expect(new Set(verdicts.slice(50).map(({ retryAfterSeconds }) => retryAfterSeconds))).toEqual(
        new Set([1]),
      );
    });

    it("uses none of the minute's quota for requests that the second's quota refuses", async () => {
      const { clock, limits } = await rig();
      let admitted = 0;
      for (let second = 0; second < 60; second++) {
        for (let request = 0; request < 5; request++) {
          if ((await limits.request('keys ann', free)).retryAfterSeconds === 0) admitted++;
        }
        await clock.advance(1000);
      }
      expect(admitted).toBe(60);
      expect((await limits.request('keys ann', free)).retryAfterSeconds).toBe(0);
    });

    it('receives the state of both windows', async () => {
      const { clock, limits } = await rig();
      const policy = '"second";q=1;w=1, "minute";q=60;w=60';
      expect(await limits.request('keys ann', free)).toEqual({
        policy,
        limit: '"second";r=0;t=1, "minute";r=59;t=60',
        retryAfterSeconds: 0,
      });
      await clock.advance(300);
      expect(await limits.request('keys ann', free)).toEqual({
        policy,
        limit: '"second";r=0;t=1, "minute";r=59;t=60',
        retryAfterSeconds: 1,
      });
      await clock.advance(700);
      expect(await limits.request('keys ann', free)).toMatchObject({
        limit: '"second";r=0;t=1, "minute";r=58;t=59',
        retryAfterSeconds: 0,
      });
    });

    it("refused by the minute's quota receives the time to wait", async () => {
      const { clock, limits } = await rig();
      for (let second = 0; second < 40; second++) {
        for (let request = 0; request < 50; request++) await limits.request('keys ann', premium);
        await clock.advance(1000);
      }
      expect((await limits.request('keys ann', premium)).retryAfterSeconds).toBe(20);
    });

    it('shares quotas with no other user, and a new tier applies at once', async () => {
      const { limits } = await rig();
      expect((await limits.request('keys ann', free)).retryAfterSeconds).toBe(0);
      expect((await limits.request('keys ann', free)).retryAfterSeconds).toBe(1);
      expect((await limits.request('keys bob', free)).retryAfterSeconds).toBe(0);
      expect(await limits.request('keys ann', premium)).toMatchObject({
        limit: '"second";r=48;t=1, "minute";r=1998;t=60',
        retryAfterSeconds: 0,
      });
    });
  });

  describe(`an address ${driver}`, () => {
    it('may fail a limited number of times a minute; valid keys do not count', async () => {
      const { limits } = await rig();
      for (let failure = 0; failure < FAILED_PER_MINUTE; failure++) {
        expect((await limits.failure('192.0.2.1')).retryAfterSeconds).toBe(0);
      }
      expect(await limits.failure('192.0.2.1')).toEqual({
        policy: '"failed-auth";q=600;w=60',
        limit: '"failed-auth";r=0;t=60',
        retryAfterSeconds: 60,
      });
      expect((await limits.failure('192.0.2.2')).retryAfterSeconds).toBe(0);
      expect((await limits.request('keys ann', free)).retryAfterSeconds).toBe(0);
      expect((await limits.standing('192.0.2.1')).limit).toBe('"failed-auth";r=0;t=60');
      expect((await limits.standing('192.0.2.9')).limit).toBe('"failed-auth";r=600;t=0');
    });
  });
}
