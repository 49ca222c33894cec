import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rateSuite } from '../../../test/accounts/rateSuite.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import type { Database } from '../../control/schema.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import type { Logger } from '../../runtime/log.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { DEFAULT_TIERS } from '../users/tiers.ts';
import { RateLimits } from './limits.ts';
import { ANSWER_LIMIT_MS, CLEAN_PERIOD_MS, RETRY_MS, SharedCounters, WAITING_MAX } from './sharedCounters.ts';

const postgres = await openTestPostgres();
const { pro } = DEFAULT_TIERS;
const QUOTAS = [{ name: 'second', requests: 3, windowMs: 1000 }];

/** Counters of one process. */
function node(db: Database, clock: FakeClock, log: Logger = silentLogger) {
  const metrics = new Metrics();
  const shared = new SharedCounters({ db, clock, log, metrics, timeMs: () => clock.monotonic() });
  onTestFinished(() => shared.close());
  return { shared, metrics, limits: new RateLimits(clock, shared.source) };
}

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    const open = async (databaseUrl: string) => {
      const db = await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
      onTestFinished(() => db.destroy());
      return db;
    };

    rateSuite(
      'shared through PostgreSQL',
      async () => {
        const clock = new FakeClock();
        return { clock, source: node(await open(await postgres.createDatabase()), clock).shared.source };
      },
      { numRuns: 8 },
    );

    it('admit a tier’s requests once, whichever of three processes they reach', async () => {
      const url = await postgres.createDatabase();
      const clock = new FakeClock();
      const nodes = await Promise.all(Array.from({ length: 3 }, async () => node(await open(url), clock)));
      const ask = async () => {
        const verdicts = await Promise.all(
          Array.from({ length: 30 }, async (_, n) => nodes[n % 3]!.limits.request('keys ann', pro)),
        );
        return verdicts.filter(({ retryAfterSeconds }) => retryAfterSeconds === 0).map(({ limit }) => limit);
      };
      const limits = (from: number, seconds: number) =>
        Array.from({ length: 10 }, (_, n) => `"second";r=${9 - n};t=1, "minute";r=${from - n};t=${seconds}`);
      expect((await ask()).toSorted()).toEqual(limits(299, 60).toSorted());
      expect(await ask()).toEqual([]);
      await clock.advance(1000);
      expect((await ask()).toSorted()).toEqual(limits(289, 59).toSorted());
    });

    it('use one connection, however many requests wait', async () => {
      const db = await open(await postgres.createDatabase());
      let most = 0;
      let open_ = 0;
      let statements = 0;
      const counting = db.withPlugin({
        transformQuery: ({ node: query }) => {
          statements++;
          most = Math.max(most, ++open_);
          return query;
        },
        transformResult: async ({ result }) => {
          open_--;
          return result;
        },
      });
      const { limits } = node(counting, new FakeClock());
      const verdicts = await Promise.all(
        Array.from({ length: 2_000 }, async (_, n) => limits.request(`keys user ${n % 500}`, pro)),
      );
      expect(verdicts.every(({ retryAfterSeconds }) => retryAfterSeconds === 0)).toBe(true);
      expect([most, statements]).toEqual([1, 2]);
    });

    it('two processes that count the same clients in opposite order both get answers', async () => {
      const url = await postgres.createDatabase();
      const clock = new FakeClock();
      const [one, other] = [node(await open(url), clock), node(await open(url), clock)];
      const clients = Array.from({ length: 100 }, (_, n) => `keys user ${n}`);
      for (let round = 0; round < 5; round++) {
        const asked = [
          ...clients.map(async (client) => one.limits.request(client, pro)),
          ...clients.toReversed().map(async (client) => other.limits.request(client, pro)),
        ];
        for (const { retryAfterSeconds } of await Promise.all(asked)) expect(retryAfterSeconds).toBe(0);
      }
      const text = await one.metrics.registry.metrics();
      expect(/^underround_rate_limit_alone_total (\d+)$/m.exec(text)?.[1] ?? '0').toBe('0');
    });

    it('delete rows whose windows are over', async () => {
      const db = await open(await postgres.createDatabase());
      const clock = new FakeClock();
      const { shared } = node(db, clock);
      const counters = shared.source('test', 10);
      await counters.count('early', QUOTAS);
      await clock.advance(59_500);
      await counters.count('late', QUOTAS);
      await clock.advance(500);
      const clients = async () =>
        (await sql<{ client: string }>`select client from rate_counters`.execute(db)).rows.map(
          ({ client }) => client,
        );
      while ((await clients()).length > 1) await clock.advance(1);
      expect(await clients()).toEqual(['test late']);
    });

    it('after the database’s clock was set back, a client is refused for a minute at most', async () => {
      const db = await open(await postgres.createDatabase());
      const clock = new FakeClock();
      let serverMs = 3_600_000;
      const metrics = new Metrics();
      const shared = new SharedCounters({ db, clock, log: silentLogger, metrics, timeMs: () => serverMs });
      onTestFinished(() => shared.close());
      const counters = shared.source('test', 10);
      const count = async () => (await counters.count('ann', QUOTAS)).waitMs;
      expect([await count(), await count(), await count()]).toEqual([0, 0, 0]);
      // Less than a second is no step: rows are written and read at nearly the same time.
      serverMs -= 1_000;
      await clock.advance(CLEAN_PERIOD_MS);
      expect(await count()).toBe(1_000);
      serverMs -= 3_000_000;
      await clock.advance(CLEAN_PERIOD_MS);
      const counted = async () =>
        (await sql<{ count: number }>`select count(*) from rate_counters`.execute(db)).rows[0]?.count;
      // The row is deleted within a few of these look-ups.
      for (let lookUps = 0; lookUps < 1_000 && (await counted()) === 1; ) lookUps++;
      expect([await count(), await count(), await count(), await count()]).toEqual([0, 0, 0, 1_000]);
    });

    it('use the clock of the database', async () => {
      const db = await open(await postgres.createDatabase());
      const shared = new SharedCounters({
        ...{ db, clock: new FakeClock(0), log: silentLogger, metrics: new Metrics() },
      });
      onTestFinished(() => shared.close());
      await shared.source('test', 10).count('ann', QUOTAS);
      const { rows } = await sql<{ isNow: boolean }>`
        select times_ms[1] between extract(epoch from now()) * 1000 - 600000
          and extract(epoch from clock_timestamp()) * 1000 as "isNow" from rate_counters`.execute(db);
      expect(rows).toEqual([{ isNow: true }]);
    });
  },
);

describe('while the database', () => {
  /** A database whose statements a test answers. */
  function heldDatabase() {
    const statements: { resolve(rows: object[]): void; reject(error: Error): void }[] = [];
    const executor = {
      transformQuery: (query: unknown) => query,
      compileQuery: () => ({}),
      executeQuery: () =>
        new Promise((resolve, reject) => {
          statements.push({ resolve: (rows) => resolve({ rows }), reject });
        }),
    };
    return { db: { getExecutor: () => executor } as unknown as Database, statements };
  }
  function rig() {
    const lines: string[] = [];
    const write = (_: object, line: string) => void lines.push(line);
    const log = { ...silentLogger, warn: write, info: write } as unknown as Logger;
    const { db, statements } = heldDatabase();
    const clock = new FakeClock();
    const { shared, metrics } = node(db, clock, log);
    const counters = shared.source('test', 10);
    const count = async () => (await counters.count('ann', QUOTAS)).waitMs;
    const metric = async (name: string) =>
      new RegExp(`^underround_rate_limit_${name} (\\d+)$`, 'm').exec(await metrics.registry.metrics())?.[1];
    const row = { place: 1, now_ms: 0, used: [0], oldest_ms: [null], freeing_ms: [null] };
    return { clock, count, counters, statements, lines, metric, row };
  }

  it('does not answer, requests wait a moment and are then counted alone, none refused for it', async () => {
    const { clock, count, statements, lines, metric, row } = rig();
    const early = [count(), count()];
    await clock.advance(ANSWER_LIMIT_MS - 1);
    expect([statements.length, lines]).toEqual([1, []]);
    await clock.advance(1);
    expect(await Promise.all(early)).toEqual([0, 0]);
    expect([lines, await metric('alone'), await metric('alone_total')]).toEqual([
      ['rate_limits.counted_alone'],
      '1',
      '2',
    ]);
    expect([await count(), await count()]).toEqual([0, 1000]);
    expect(statements).toHaveLength(1);
    statements[0]?.resolve([{ ...row, admitted: 2 }]);
    await clock.advance(1000);
    expect([lines.at(-1), await metric('alone')]).toEqual(['rate_limits.shared_again', '0']);
    const later = count();
    await clock.advance(0);
    statements[1]?.resolve([{ ...row, admitted: 1 }]);
    expect(await later).toBe(0);
  });

  it('refuses, requests are counted alone until the next try', async () => {
    const { clock, count, statements, lines } = rig();
    const first = count();
    await clock.advance(0);
    statements[0]?.reject(new Error('no such host'));
    expect(await first).toBe(0);
    await clock.advance(RETRY_MS - 1);
    expect([await count(), await count(), statements.length]).toEqual([0, 0, 1]);
    await clock.advance(1);
    const next = count();
    await clock.advance(0);
    statements[1]?.reject(new Error('no such host'));
    expect(await next).toBe(0);
    expect(lines).toEqual(['rate_limits.counted_alone']);
  });

  it('answers late, further requests are counted alone, and shared again after the answer', async () => {
    const { clock, counters, statements, metric, row } = rig();
    const wide = [{ name: 'second', requests: 50_000, windowMs: 1000 }];
    const ask = (requests: number) => Array.from({ length: requests }, () => counters.count('ann', wide));
    const waiting = ask(WAITING_MAX);
    expect(counters.count('ann', wide)).toMatchObject({ waitMs: 0 });
    expect(await metric('alone_total')).toBe('1');
    await clock.advance(0);
    statements[0]?.resolve([{ ...row, admitted: WAITING_MAX }]);
    await Promise.all(waiting);
    const next = ask(WAITING_MAX);
    await clock.advance(0);
    statements[1]?.resolve([{ ...row, admitted: WAITING_MAX }]);
    await Promise.all(next);
    expect(await metric('alone_total')).toBe('1');
  });

  it('fails, requests that it admitted before count', async () => {
    const { clock, count, statements, row } = rig();
    const shared = [count(), count()];
    await clock.advance(0);
    statements[0]?.resolve([{ ...row, admitted: 2 }]);
    expect(await Promise.all(shared)).toEqual([0, 0]);
    const failed = [count(), count()];
    await clock.advance(0);
    statements[1]?.reject(new Error('terminated'));
    expect(await Promise.all(failed)).toEqual([0, 1000]);
  });
});
