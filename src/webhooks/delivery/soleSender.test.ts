import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { FOLLOWED } from '../../../test/support/followed.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import { openTestWebhooks, replied, type TestWebhooks } from '../../../test/support/webhooks.ts';
import type { Database } from '../../control/schema.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import type { Delivery } from './delivery.ts';
import { openWebhookControl, startWebhooks } from './service.ts';
import { ALONE, LockedSender, type SoleSender } from './soleSender.ts';

const postgres = await openTestPostgres();
/** Advances the clock until the condition holds. The database answers once a step, so that its time passes as well. */
async function until(t: TestWebhooks, isMet: () => boolean | Promise<boolean>, stepMs = 100): Promise<void> {
  while (!(await isMet())) {
    await sql`select 1`.execute(t.db);
    await t.clock.advance(stepMs);
  }
}

const ANY = { startMs: null, endMs: null, state: null };

it('in a database of one service, that service is the sender', async () => {
  expect(await ALONE.isUs()).toBe(true);
  await ALONE.leave();
  expect(await ALONE.isUs()).toBe(true);
});

it('a failed connection is reported, and not mistaken for another sender', async () => {
  const away = new Error('no connection');
  const db = { connection: () => ({ execute: () => Promise.reject(away) }) };
  const sender = new LockedSender(db as unknown as Database, new FakeClock());
  await expect(sender.isUs()).rejects.toBe(away);
});

it('a sender whose connection does not answer stops, and sends again if it answers in the end', async () => {
  const answers: ((rows: object[]) => void)[] = [];
  const executor = {
    transformQuery: (query: unknown) => query,
    compileQuery: () => ({}),
    executeQuery: () => new Promise((resolve) => answers.push((rows) => resolve({ rows }))),
  };
  const db = {
    getExecutor: () => executor,
    connection: () => ({ execute: (use: (connection: unknown) => Promise<void>) => use(db) }),
  };
  const clock = new FakeClock();
  const sender = new LockedSender(db as unknown as Database, clock);
  const elected = sender.isUs();
  await clock.advance(0);
  answers[0]?.([{ locked: true }]);
  await clock.advance(0);
  answers[1]?.([]);
  expect(await elected).toBe(true);
  const checked = [sender.isUs(), sender.isUs()];
  let isDecided = false;
  void checked[0]?.then(() => (isDecided = true));
  await clock.advance(1_999);
  expect(isDecided).toBe(false);
  await clock.advance(1);
  expect(await Promise.all(checked)).toEqual([false, false]);
  expect([answers.length, clock.waiting]).toEqual([3, 0]);
  answers[2]?.([]);
  await clock.advance(0);
  for (const check of [3, 4]) {
    const again = sender.isUs();
    await clock.advance(0);
    expect(answers).toHaveLength(check + 1);
    answers[check]?.([]);
    expect(await again).toBe(true);
  }
  await clock.advance(0);
  expect(clock.waiting).toBe(0);
});

describe.skipIf(postgres.absent)(
  `of two processes on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    /** Two processes. A test's resources are closed in reverse order, so the databases last. */
    async function open() {
      const databaseUrl = await postgres.createDatabase();
      const process = async () => {
        const db = await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
        onTestFinished(() => db.destroy());
        const sender = new LockedSender(db, new FakeClock());
        onTestFinished(() => sender.leave());
        return { db, sender };
      };
      const [one, other] = [await process(), await process()];
      return { databases: [one.db, other.db] as const, one: one.sender, other: other.sender };
    }
    const holderDies = (db: Database) =>
      sql`select pg_terminate_backend(pid, 60000) from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())`.execute(db);

    it('one sends until it leaves', async () => {
      const { one, other } = await open();
      expect([await one.isUs(), await other.isUs(), await one.isUs()]).toEqual([true, false, true]);
      await one.leave();
      expect([await other.isUs(), await one.isUs()]).toEqual([true, false]);
      await other.leave();
      await other.leave();
      expect([await one.isUs(), await other.isUs()]).toEqual([true, false]);
    });

    it('the server notices within seconds that the machine of the sender has disappeared', async () => {
      const { one, databases } = await open();
      await one.isUs();
      await one.leave();
      const shown = sql<{ idle: string }>`select current_setting('tcp_keepalives_idle') as idle`;
      // The pool may have several connections; one of them was the sender's.
      const settings = Array.from(
        { length: 10 },
        async () => (await shown.execute(databases[0])).rows[0]?.idle,
      );
      expect(await Promise.all(settings)).toContain('1');
    });

    it('one sends until it dies, and its next call reports the failure', async () => {
      const { one, other, databases } = await open();
      expect([await one.isUs(), await other.isUs()]).toEqual([true, false]);
      await holderDies(databases[1]);
      expect(await other.isUs()).toBe(true);
      await expect(one.isUs()).rejects.toBeInstanceOf(StoreUnavailableError);
      expect(await one.isUs()).toBe(false);
    });

    it('the other stores its events, and takes over the pending ones, each sent once', async () => {
      const { one, other, databases } = await open();
      const t = await openTestWebhooks({ db: databases[0] });
      await t.register();
      const sent: string[] = [];
      const to = (name: string) => ({
        attempt: async (_: unknown, { body }: Delivery) => {
          sent.push(`${name} ${JSON.parse(body.toString()).polymarket_slug.slice('btc-updown-5m-'.length)}`);
          return replied(200, t.clock);
        },
      });
      let isDead = false;
      const mortal: SoleSender = {
        isUs: () => (isDead ? new Promise(() => {}) : one.isUs()),
        leave: () => one.leave(),
      };
      const a = await t.dispatcher(to('a'), 'killed', mortal, databases[0]);
      const b = await t.dispatcher(to('b'), 'closed', other, databases[1]);
      const settle = (count: number) => until(t, async () => sent.length >= count && (await pending()) === 0);
      const pending = async () => {
        const rows = t.db
          .selectFrom('webhook_deliveries')
          .select('delivery_id')
          .where('state', '=', 'pending');
        return (await rows.execute()).length;
      };
      const tell = (n: number) => opportunity({ nowMs: t.clock.now(), n });
      const both = tell(1);
      a.enqueue(both);
      b.enqueue(both);
      b.enqueue(tell(2));
      await settle(2);
      expect(sent.toSorted()).toEqual(['a 1', 'a 2']);
      isDead = true;
      await holderDies(databases[1]);
      b.enqueue(tell(3));
      await settle(3);
      const c = await t.dispatcher(
        to('c'),
        'closed',
        new LockedSender(databases[0], new FakeClock()),
        databases[0],
      );
      c.enqueue(tell(4));
      await settle(4);
      expect(sent.slice(2)).toEqual(['b 3', 'b 4']);
      await b.close();
      c.enqueue(tell(5));
      await settle(5);
      expect(sent.slice(4)).toEqual(['c 5']);
    });

    it('a process that sends nothing offers the owners’ operations, and the sender notices within a second', async () => {
      const { one, databases } = await open();
      const t = await openTestWebhooks({ db: databases[0] });
      const control = openWebhookControl({
        config: {
          dataDir: '/nonexistent',
          databaseUrl: null,
          secretKey: '1'.repeat(64),
          webhookAllowedNetworks: ['127.0.0.0/8'],
          ...FOLLOWED,
        },
        ...{ database: databases[1], clock: t.clock, randomBytes },
      });
      const sent: string[] = [];
      const attempt = async (webhook: SigningWebhook, { deliveryId }: Delivery) => {
        sent.push(`${webhook.secrets.current} ${deliveryId}`);
        return replied(200, t.clock);
      };
      await t.dispatcher({ attempt }, 'closed', one, databases[0]);
      const issued = await control.registry.create({
        ...{ userId: t.userId, url: 'https://127.0.0.1/in', label: 'bot', tiers: null, tickers: null },
      });
      const { webhook, secret } = issued!;
      const id = await control.log.sendTest(webhook);
      control.wake();
      await t.clock.advance(1_000);
      const stored = async () =>
        (await control.log.page(webhook.webhookId, { limit: 9, after: null, range: ANY })).map(
          ({ deliveryId, state }) => [deliveryId, state],
        );
      await until(t, async () => (await stored())[0]?.[1] === 'delivered', 20);
      expect(sent).toEqual([`${secret} ${id}`]);
      expect(await control.log.redeliver(webhook, id)).toBe(true);
      await t.clock.advance(1_000);
      await until(t, async () => (await stored())[0]?.[1] === 'delivered', 20);
      expect(sent).toEqual([`${secret} ${id}`, `${secret} ${id}`]);
    });

    it('the service is elected when it starts, and gives up its role when it stops', async () => {
      const { other, databases } = await open();
      const t = await openTestWebhooks({ db: databases[0] });
      const config = { dataDir: '/nonexistent', databaseUrl: 'postgres://', secretKey: '1'.repeat(64) };
      const service = await startWebhooks({
        config: { ...config, webhookAllowedNetworks: [], ...FOLLOWED },
        ...{ database: t.db, bus: { subscribe: () => () => undefined }, clock: t.clock, random: () => 0.5 },
        ...{ randomBytes, log: silentLogger, metrics: t.metrics },
      });
      expect(await other.isUs()).toBe(false);
      await service.close();
      expect(await other.isUs()).toBe(true);
    });

    it('attempts in flight at a takeover end before this process sends again', async () => {
      const { one, databases } = await open();
      const t = await openTestWebhooks({ db: databases[0] });
      await t.register();
      let isUs = true;
      const role: SoleSender = { isUs: async () => isUs && (await one.isUs()), leave: () => one.leave() };
      const ends: (() => void)[] = [];
      const attempt = () =>
        new Promise<ReturnType<typeof replied>>((resolve) => {
          ends.push(() => resolve(replied(200, t.clock)));
        });
      const dispatcher = await t.dispatcher({ attempt }, 'closed', role);
      dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 1 }));
      await until(t, () => ends.length === 1, 10);
      const sending = async () =>
        /^underround_webhook_sending (\d)$/m.exec(await t.metrics.registry.metrics())?.[1];
      expect(await sending()).toBe('1');
      isUs = false;
      await until(t, async () => (await sending()) === '0');
      isUs = true;
      await t.clock.advance(3_000);
      expect(await sending()).toBe('0');
      expect(ends).toHaveLength(1);
      ends[0]?.();
      dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 2 }));
      await until(t, () => ends.length === 2);
      ends[1]?.();
      const states = async () =>
        (await t.db.selectFrom('webhook_deliveries').select('state').execute()).map(({ state }) => state);
      await until(t, async () => !(await states()).includes('pending'));
      expect(ends).toHaveLength(2);
      expect(await states()).toEqual(['delivered', 'delivered']);
    });
  },
);
