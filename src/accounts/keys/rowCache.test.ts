import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { LEASE_MS, LEASE_OVER_MS, leaseFreshness, leaseOver, versionFreshness } from './freshness.ts';
import { MAX_ENTRIES, RowCache } from './rowCache.ts';

/** A database whose rows and responses the test controls. */
function database() {
  const rows = new Map<string, string>();
  const asked: string[] = [];
  return {
    rows,
    asked,
    find: async (hash: string) => {
      asked.push(hash);
      return rows.get(hash) ?? null;
    },
  };
}

describe('by version', () => {
  it('answers from memory until any commit, then queries again', async () => {
    const { rows, asked, find } = database();
    let version = 1;
    const freshness = versionFreshness(() => version);
    const cache = new RowCache(freshness, find);
    rows.set('a', 'first');
    expect(await cache.get('a', freshness.moment())).toBe('first');
    rows.set('a', 'second');
    expect(cache.get('a', freshness.moment())).toBe('first');
    version++;
    expect(await cache.get('a', freshness.moment())).toBe('second');
    expect(asked).toEqual(['a', 'a']);
  });

  it('an absent row is cached too, until it exists', async () => {
    const { rows, asked, find } = database();
    let version = 1;
    const freshness = versionFreshness(() => version);
    const cache = new RowCache(freshness, find);
    expect(await cache.get('a', freshness.moment())).toBeNull();
    expect(cache.get('a', freshness.moment())).toBeNull();
    rows.set('a', 'made');
    version++;
    expect(await cache.get('a', freshness.moment())).toBe('made');
    rows.delete('a');
    version++;
    expect(await cache.get('a', freshness.moment())).toBeNull();
    expect([asked.length, cache.size]).toEqual([3, 1]);
  });

  it('a result read during a commit is not used later', async () => {
    let version = 1;
    const freshness = versionFreshness(() => version);
    let answer: (value: string) => void = () => undefined;
    const early = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const finds = [early, Promise.resolve('after')];
    const cache = new RowCache(freshness, () => finds.shift() as Promise<string>);
    const before = cache.get('a', freshness.moment());
    version++;
    const after = cache.get('a', freshness.moment());
    answer('before');
    expect(await Promise.all([before, after])).toEqual(['before', 'after']);
    expect(await cache.get('a', freshness.moment())).not.toBe('before');
  });

  it('while the version cannot be read, each moment asks the database again, and keeps nothing', async () => {
    const { rows, asked, find } = database();
    let version: number | null = 1;
    const freshness = versionFreshness(() => {
      if (version === null) throw new Error('the disk fails');
      return version;
    });
    const cache = new RowCache(freshness, find);
    rows.set('a', 'first');
    await cache.get('a', freshness.moment());
    version = null;
    rows.set('a', 'second');
    const moment = freshness.moment();
    expect(await Promise.all([cache.get('a', moment), cache.get('a', moment)])).toEqual(['second', 'second']);
    rows.set('a', 'third');
    expect(await cache.get('a', freshness.moment())).toBe('third');
    version = 1;
    expect(await cache.get('a', freshness.moment())).toBe('third');
    expect(asked).toEqual(['a', 'a', 'a', 'a']);
  });

  it('concurrent requests share one query, and a failure is not cached', async () => {
    let fail = true;
    let asked = 0;
    const freshness = versionFreshness(() => 1);
    const cache = new RowCache(freshness, async () => {
      asked++;
      if (fail) throw new Error('gone');
      return 'back';
    });
    const all = await Promise.allSettled(Array.from({ length: 100 }, () => cache.get('a', 1)));
    expect(all.every(({ status }) => status === 'rejected')).toBe(true);
    fail = false;
    expect(await cache.get('a', 1)).toBe('back');
    expect(asked).toBe(2);
  });

  it('invented keys evict no real ones, and memory is bounded', async () => {
    const { rows, asked, find } = database();
    const freshness = versionFreshness(() => 1);
    const cache = new RowCache(freshness, find);
    rows.set('real', 'row');
    await cache.get('real', 1);
    for (let index = 0; index < MAX_ENTRIES + 10; index++) await cache.get(`invented ${index}`, 1);
    expect(cache.size).toBe(MAX_ENTRIES + 1);
    expect(cache.get('real', 1)).toBe('row');
    expect(asked.filter((hash) => hash === 'real')).toHaveLength(1);
  });
});

it('a read that ends late does not replace a newer one in progress', async () => {
  const ends: ((value: string) => void)[] = [];
  const freshness = versionFreshness(() => 1);
  const cache = new RowCache(freshness, () => new Promise<string>((resolve) => ends.push(resolve)));
  const before = cache.get('a', 1);
  const after = cache.get('a', 2);
  ends[0]?.('before');
  expect(await before).toBe('before');
  const later = cache.get('a', 2);
  expect(ends).toHaveLength(2);
  ends[1]?.('after');
  expect(await Promise.all([after, later])).toEqual(['after', 'after']);
});

it('in a full cache, a recently refreshed row outlives older ones', async () => {
  const { rows, asked, find } = database();
  const known = { moment: () => 0, holds: (readAt: number, moment: number) => moment - readAt < 10 };
  const cache = new RowCache(known, find);
  const read = async (hash: string, moment: number) => {
    rows.set(hash, 'row');
    await cache.get(hash, moment);
  };
  for (const hash of ['first', 'again']) await read(hash, 0);
  for (let index = 2; index < MAX_ENTRIES; index++) await read(`other ${index}`, 5);
  await read('again', 10);
  expect(cache.size).toBe(MAX_ENTRIES);
  for (const hash of ['new', 'newer']) await read(hash, 11);
  expect(cache.size).toBe(MAX_ENTRIES);
  asked.length = 0;
  for (const hash of ['again', 'other 3', 'other 2']) await cache.get(hash, 11);
  expect(asked).toEqual(['other 2']);
});

describe('by lease', () => {
  it('is valid for the lease, counted from before the query', async () => {
    const clock = new FakeClock();
    const freshness = leaseFreshness(clock);
    let value = 'first';
    const cache = new RowCache(freshness, async () => {
      const read = value;
      await new Promise<void>((resolve) => void clock.after(300, resolve));
      return read;
    });
    const first = cache.get('a', freshness.moment());
    await clock.advance(300);
    expect(await first).toBe('first');
    value = 'second';
    await clock.advance(LEASE_MS - 301);
    expect(cache.get('a', freshness.moment())).toBe('first');
    await clock.advance(1);
    const second = cache.get('a', freshness.moment());
    await clock.advance(300);
    expect(await second).toBe('second');
  });

  it('is invalid in every process once the wait for the lease ends', async () => {
    const clock = new FakeClock();
    const freshness = leaseFreshness(clock);
    const readAt = freshness.moment();
    let over = false;
    const wait = leaseOver(clock).then(() => {
      over = true;
    });
    await clock.advance(LEASE_OVER_MS - 1);
    expect([over, freshness.holds(readAt, freshness.moment())]).toEqual([false, false]);
    await clock.advance(1);
    await wait;
    expect(over).toBe(true);
    expect(LEASE_OVER_MS).toBeLessThanOrEqual(1000);
  });
});
