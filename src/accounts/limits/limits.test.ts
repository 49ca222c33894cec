import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { DEFAULT_TIERS } from '../users/tiers.ts';
import { FAILED_PER_MINUTE, RateLimits } from './limits.ts';
import { addressGroup } from './limitsAddress.ts';
import { AdmittedRequests, type Quota } from './limitsWindow.ts';

const { free, premium } = DEFAULT_TIERS;

describe('the windows', () => {
  it('admit exactly the requests that a list of all admitted times would, for any sequence', () => {
    const quota = fc.record({
      requests: fc.integer({ min: 1, max: 40 }),
      windowMs: fc.integer({ min: 1, max: 60 }),
    });
    const gaps = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 400 });
    fc.assert(
      fc.property(quota, quota, gaps, (one, other, steps) => {
        const quotas: Quota[] = [
          { name: 'one', ...one },
          { name: 'other', ...other },
        ];
        const client = new AdmittedRequests(quotas);
        const admitted: number[] = [];
        let nowMs = 0;
        for (const step of steps) {
          nowMs += step;
          const inside = ({ windowMs }: Quota) => admitted.filter((time) => time > nowMs - windowMs);
          const waits = quotas.map((each) => {
            const counted = inside(each);
            const freeing = counted.at(-each.requests);
            return counted.length < each.requests ? 0 : (freeing as number) + each.windowMs - nowMs;
          });
          expect(client.admit(nowMs)).toBe(Math.max(...waits));
          if (Math.max(...waits) === 0) admitted.push(nowMs);
          quotas.forEach((each, index) => {
            const counted = inside(each);
            expect(client.state(index, nowMs)).toEqual({
              remaining: each.requests - counted.length,
              freesInMs: counted.length === 0 ? 0 : (counted[0] as number) + each.windowMs - nowMs,
            });
          });
        }
      }),
      { numRuns: 300, seed: 20261121 },
    );
  });

  it('have their exact length for requests at any fraction of a millisecond', () => {
    const uptimes = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 60 });
    const windowMs = 1000;
    fc.assert(
      fc.property(uptimes, fc.double({ min: 0, max: 1, noNaN: true }), (starts, share) => {
        for (const startMs of starts) {
          const client = new AdmittedRequests([{ name: 'one', requests: 1, windowMs }]);
          expect(client.admit(startMs)).toBe(0);
          expect(client.state(0, startMs)).toEqual({ remaining: 0, freesInMs: windowMs });
          const laterMs = startMs + share * 2 * windowMs;
          const waitMs = client.peek(laterMs);
          expect(client.state(0, laterMs).freesInMs).toBe(waitMs);
          expect([waitMs === 0, waitMs <= windowMs]).toEqual([laterMs - startMs >= windowMs, true]);
        }
      }),
      { numRuns: 200, seed: 20261122 },
    );
  });

  it('earlier admitted requests count against new quotas', () => {
    const client = new AdmittedRequests([{ name: 'a', requests: 30, windowMs: 1000 }]);
    for (let request = 0; request < 20; request++) expect(client.admit(request)).toBe(0);
    client.setQuotas([{ name: 'b', requests: 10, windowMs: 1000 }]);
    expect(client.admit(20)).toBe(990);
    expect(client.state(0, 20)).toEqual({ remaining: 0, freesInMs: 980 });
    client.setQuotas([{ name: 'c', requests: 17, windowMs: 1000 }]);
    expect([client.admit(20), client.admit(20)]).toEqual([983, 983]);
  });
});

describe('a user', () => {
  it('sending 10,000 requests at once has exactly as many admitted as the tier allows', async () => {
    const limits = new RateLimits(new FakeClock());
    const verdicts = await Promise.all(
      Array.from({ length: 10_000 }, async () => limits.request('keys ann', premium)),
    );
    expect(verdicts.filter(({ retryAfterSeconds }) => retryAfterSeconds === 0)).toHaveLength(50);
    expect(new Set(verdicts.slice(50).map(({ retryAfterSeconds }) => retryAfterSeconds))).toEqual(
      new Set([1]),
    );
  });

  it("uses none of the minute's quota for requests that the second's quota refuses", async () => {
    const clock = new FakeClock();
    const limits = new RateLimits(clock);
    let admitted = 0;
    for (let second = 0; second < 60; second++) {
      for (let request = 0; request < 5; request++) {
        if (limits.request('keys ann', free).retryAfterSeconds === 0) admitted++;
      }
      await clock.advance(1000);
    }
    expect(admitted).toBe(60);
    expect(limits.request('keys ann', free).retryAfterSeconds).toBe(0);
  });

  it('receives the state of both windows', async () => {
    const clock = new FakeClock();
    const limits = new RateLimits(clock);
    const policy = '"second";q=1;w=1, "minute";q=60;w=60';
    expect(limits.request('keys ann', free)).toEqual({
      policy,
      limit: '"second";r=0;t=1, "minute";r=59;t=60',
      retryAfterSeconds: 0,
    });
    await clock.advance(300);
    expect(limits.request('keys ann', free)).toEqual({
      policy,
      limit: '"second";r=0;t=1, "minute";r=59;t=60',
      retryAfterSeconds: 1,
    });
    await clock.advance(700);
    expect(limits.request('keys ann', free)).toMatchObject({
      limit: '"second";r=0;t=1, "minute";r=58;t=59',
      retryAfterSeconds: 0,
    });
  });

  it("refused by the minute's quota receives the time to wait", async () => {
    const clock = new FakeClock();
    const limits = new RateLimits(clock);
    for (let second = 0; second < 40; second++) {
      for (let request = 0; request < 50; request++) limits.request('keys ann', premium);
      await clock.advance(1000);
    }
    expect(limits.request('keys ann', premium).retryAfterSeconds).toBe(20);
  });

  it('shares quotas with no other user, and a new tier applies at once', () => {
    const limits = new RateLimits(new FakeClock());
    expect(limits.request('keys ann', free).retryAfterSeconds).toBe(0);
    expect(limits.request('keys ann', free).retryAfterSeconds).toBe(1);
    expect(limits.request('keys bob', free).retryAfterSeconds).toBe(0);
    expect(limits.request('keys ann', premium)).toMatchObject({
      limit: '"second";r=48;t=1, "minute";r=1998;t=60',
      retryAfterSeconds: 0,
    });
  });
});

describe('an address', () => {
  it('may fail a limited number of times a minute; valid keys do not count', () => {
    const limits = new RateLimits(new FakeClock());
    for (let failure = 0; failure < FAILED_PER_MINUTE; failure++) {
      expect(limits.failure('192.0.2.1').retryAfterSeconds).toBe(0);
    }
    expect(limits.failure('192.0.2.1')).toEqual({
      policy: '"failed-auth";q=600;w=60',
      limit: '"failed-auth";r=0;t=60',
      retryAfterSeconds: 60,
    });
    expect(limits.failure('192.0.2.2').retryAfterSeconds).toBe(0);
    expect(limits.request('keys ann', free).retryAfterSeconds).toBe(0);
    expect(limits.standing('192.0.2.1').limit).toBe('"failed-auth";r=0;t=60');
    expect(limits.standing('192.0.2.9').limit).toBe('"failed-auth";r=600;t=0');
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::7', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });
});
