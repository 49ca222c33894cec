import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateSuite } from '../../../test/accounts/rateSuite.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { addressGroup } from './limitsAddress.ts';
import { AdmittedRequests, type Quota } from './limitsWindow.ts';
import { memoryCounters } from './rateCounters.ts';

rateSuite('in memory', async () => {
  const clock = new FakeClock();
  return { clock, source: memoryCounters(clock) };
});

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

describe('an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::7', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['192.0.2.1:50000', '192.0.2.1'],
    ['[2001:db8::7]:50000', '2001:db8:0:0::/64'],
    ['[2001:db8::7]', '2001:db8:0:0::/64'],
    ['[::ffff:192.0.2.1]:50000', '192.0.2.1'],
    ['unknown', 'unknown'],
  ])('%s counts as %s', (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });
});
