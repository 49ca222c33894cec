import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserRepository } from '../../src/accounts/users/users.ts';
import type { Database } from '../../src/control/schema.ts';
import { TooManySecretsError, TooManySendsError } from '../../src/runtime/errors.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { Delivery, DeliveryChange } from '../../src/webhooks/delivery/delivery.ts';
import { toEvent, type WebhookEvent } from '../../src/webhooks/delivery/event.ts';
import { Outbox } from '../../src/webhooks/delivery/outbox.ts';
import { REDELIVERIES_PER_MINUTE, TESTS_PER_MINUTE } from '../../src/webhooks/delivery/sendQuotas.ts';
import { REDELIVERY_WINDOW_MS, TESTS_MAX } from '../../src/webhooks/registry/deliveryLog.ts';
import { toSigningWebhook, type Webhook } from '../../src/webhooks/registry/registration.ts';
import { PREVIOUS_SECRETS_MAX, ROTATION_OVERLAP_MS } from '../../src/webhooks/registry/registry.ts';
import { LOG_AGE_MAX_MS, Retention } from '../../src/webhooks/registry/retention.ts';
import type { DeliveryState } from '../../src/webhooks/schemaWebhooks.ts';
import { opportunity } from './opportunity.ts';
import { openTestWebhooks, replied, type TestWebhooks } from './webhooks.ts';

const ANY = { startMs: null, endMs: null, state: null };

function changeOf(delivery: Delivery, state: DeliveryState): DeliveryChange {
  return { delivery, state, rowDueMs: delivery.dueMs };
}

/** Required behaviour of webhooks on every database: run it for each driver with a new, empty database. */
export function webhookSuite(driver: string, open: () => Promise<Database>): void {
  describe(`webhooks on ${driver}`, () => {
    let db: Database;
    let t: TestWebhooks;
    let outbox: Outbox;
    beforeEach(async () => {
      db = await open();
      t = await openTestWebhooks({ db });
      outbox = new Outbox(db, t.clock);
    });
    afterEach(() => db.destroy());

    const events = (count: number, from = 0): WebhookEvent[] =>
      Array.from({ length: count }, (_, i) => toEvent(opportunity({ nowMs: t.clock.now(), n: from + i }))!);
    const accept = (wanted: readonly WebhookEvent[]) =>
      outbox.accept(wanted, async (transaction) =>
        (await transaction.selectFrom('webhooks').selectAll().execute()).map((row) =>
          toSigningWebhook(row, t.webhooks.box),
        ),
      );
    const statesOf = async () =>
      (await db.selectFrom('webhook_deliveries').select('state').execute()).map(({ state }) => state).sort();

    it('a registration keeps its secret encrypted, and signs with it again', async () => {
      const { secret } = await t.register();
      const row = await db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow();
      expect(JSON.stringify(row)).not.toContain(secret.slice(6));
      expect(toSigningWebhook(row, t.webhooks.box).secrets).toEqual({ current: secret, previous: [] });
    });

    it('repeated rotation keeps each secret valid for its day, and is refused at the maximum number of secrets', async () => {
      const { webhookId, secret } = await t.register();
      const secretsOf = async () =>
        toSigningWebhook(
          await db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow(),
          t.webhooks.box,
        ).secrets;
      const rotate = () => t.webhooks.registry.rotate({ webhookId });
      const startedMs = t.clock.now();
      const previous: { secret: string; untilMs: number }[] = [];
      let current = secret;
      for (let n = 0; n < PREVIOUS_SECRETS_MAX; n++) {
        previous.push({ secret: current, untilMs: t.clock.now() + ROTATION_OVERLAP_MS });
        const rotated = await rotate();
        current = rotated.secret;
        expect(await secretsOf()).toEqual({ current, previous });
        expect(rotated.webhook.previousUntilMs).toBe(previous.at(-1)?.untilMs);
        await t.clock.advance(1000);
      }
      await expect(rotate()).rejects.toThrow(
        new TooManySecretsError(PREVIOUS_SECRETS_MAX, startedMs + ROTATION_OVERLAP_MS),
      );
      expect(await secretsOf()).toEqual({ current, previous });
      await t.clock.advance(startedMs + ROTATION_OVERLAP_MS - t.clock.now());
      const last = { secret: current, untilMs: t.clock.now() + ROTATION_OVERLAP_MS };
      const { secret: newest } = await rotate();
      expect(await secretsOf()).toEqual({ current: newest, previous: [...previous.slice(1), last] });
    });

    it('two concurrent rotations keep all three secrets', async () => {
      const { webhookId, secret } = await t.register();
      const rotated = await Promise.all([1, 2].map(() => t.webhooks.registry.rotate({ webhookId })));
      const row = await db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow();
      const { current, previous } = toSigningWebhook(row, t.webhooks.box).secrets;
      expect([current, ...previous.map((before) => before.secret)].sort()).toEqual(
        [secret, ...rotated.map((one) => one.secret)].sort(),
      );
    });

    it('many events for many webhooks are all accepted, each once', async () => {
      for (let n = 0; n < 3; n++) await t.register();
      const wanted = events(150);
      expect(await accept(wanted)).toHaveLength(450);
      expect(await accept([...wanted, ...wanted])).toEqual([]);
      expect(await accept([...events(1, 150), ...events(1, 150)])).toHaveLength(3);
      expect([...(await outbox.waiting()).values()]).toEqual(Array(3).fill({ count: 151, due: 151 }));
    });

    it('a delivery is created and due at its acceptance, however long after the detection', async () => {
      const { webhookId } = await t.register();
      const detected = events(1);
      await t.clock.advance(2_000);
      const [delivery] = await accept(detected);
      const nowMs = t.clock.now();
      expect(delivery?.dueMs).toBe(nowMs);
      expect(await t.webhooks.log.page(webhookId, { limit: 9, after: null, range: ANY })).toMatchObject([
        { dueMs: nowMs, createdMs: nowMs },
      ]);
    });

    it('outcomes are written together, and pending deliveries are read back unchanged', async () => {
      const { webhookId } = await t.register();
      const deliveries = await accept(events(200));
      const log = [{ at_ms: 1, status: 500, latency_ms: 2, error: "it's", response_head: '&lt;é"\\' }];
      const changes = deliveries.map((delivery, n) => ({
        delivery: { ...delivery, attempts: n, step: n + 1, dueMs: 1_795_219_200_000 + n, log },
        state: n % 2 === 0 ? ('delivered' as const) : ('pending' as const),
        rowDueMs: delivery.dueMs,
      }));
      await outbox.settle(changes, []);
      expect(await statesOf()).toEqual([...Array(100).fill('delivered'), ...Array(100).fill('pending')]);
      const waiting = changes.filter(({ state }) => state === 'pending').map(({ delivery }) => delivery);
      expect(await outbox.pull(webhookId, 1000)).toEqual(waiting);
      expect(await outbox.pull(webhookId, 3)).toEqual(waiting.slice(0, 3));
      expect(await outbox.waiting()).toEqual(new Map([[webhookId, { count: 100, due: 0 }]]));
    });

    it('a pause skips pending deliveries, and is ignored if the webhook was resumed since', async () => {
      const { webhookId } = await t.register();
      const activeSinceMs = t.clock.now();
      const [sent] = (await accept(events(3))) as [Delivery];
      await outbox.settle([changeOf(sent, 'delivered')], []);
      const health = { webhookId, activeSinceMs, consecutiveFailures: 10, paused: true };
      await outbox.settle([], [{ ...health, activeSinceMs: activeSinceMs - 1 }]);
      expect(await statesOf()).toEqual(['delivered', 'pending', 'pending']);
      await outbox.settle([], [health]);
      expect(await statesOf()).toEqual(['delivered', 'skipped', 'skipped']);
      expect(await t.webhooks.registry.find({ webhookId })).toMatchObject({
        ...{ state: 'paused', pauseReason: 'failures', consecutiveFailures: 10 },
      });
    });

    it('a pause after failures has its time, and skips the deliveries of its webhook alone', async () => {
      const { webhookId } = await t.register();
      const other = await t.register();
      const activeSinceMs = t.clock.now();
      await accept(events(1));
      await t.clock.advance(1_000);
      await outbox.settle([], [{ webhookId, activeSinceMs, consecutiveFailures: 10, paused: true }]);
      expect(await t.webhooks.registry.find({ webhookId })).toMatchObject({ pausedMs: t.clock.now() });
      expect(await outbox.waiting()).toEqual(new Map([[other.webhookId, { count: 1, due: 1 }]]));
    });

    it('a pause by the owner keeps its reason and its time when the tenth failure is written after it', async () => {
      const { webhookId } = await t.register();
      const activeSinceMs = t.clock.now();
      const paused = await t.webhooks.registry.pause({ webhookId });
      await t.clock.advance(1);
      await outbox.settle([], [{ webhookId, activeSinceMs, consecutiveFailures: 10, paused: true }]);
      expect(await t.webhooks.registry.find({ webhookId })).toEqual(paused);
    });

    it('expired deliveries are abandoned; deleting a webhook deletes its log', async () => {
      const { webhookId } = await t.register();
      await accept(events(2));
      await t.clock.advance(3_600_000);
      expect(await outbox.expire(1)).toBe(0);
      expect(await outbox.expire(0)).toBe(2);
      expect(await statesOf()).toEqual(['expired', 'expired']);
      await t.webhooks.registry.delete({ webhookId });
      expect(await statesOf()).toEqual([]);
    });

    it('single deliveries and ranges of the log can be resent, and are due at once', async () => {
      const { webhookId } = await t.register();
      const webhook = (await t.webhooks.registry.find({ webhookId }))!;
      const deliveries = await accept(events(5));
      await outbox.settle(
        deliveries.map((delivery) => changeOf(delivery, 'expired')),
        [],
      );
      await t.clock.advance(7_200_000);
      expect(await t.webhooks.log.redeliver(webhook, deliveries[0]!.deliveryId)).toBe(true);
      expect(await t.webhooks.log.redeliver(webhook, 'dl_none')).toBe(false);
      expect(await t.webhooks.log.redeliverRange(webhook, { ...ANY, state: 'expired' })).toBe(4);
      const seen: string[] = [];
      await t.dispatcher({
        attempt: async (_, { deliveryId }) => {
          seen.push(deliveryId);
          return replied(200, t.clock);
        },
      });
      await t.clock.advance(100);
      while ((await statesOf()).includes('pending')) await t.clock.advance(20);
      expect(seen.sort()).toEqual(deliveries.map(({ deliveryId }) => deliveryId).sort());
      const page = await t.webhooks.log.page(webhookId, { limit: 9, after: null, range: ANY });
      expect(page.map(({ state, attempts, log }) => [state, attempts, log[0]?.status])).toEqual(
        Array(5).fill(['delivered', 1, 200]),
      );
    });

    it('retries and redeliveries are distinguished from first attempts', async () => {
      const { webhookId } = await t.register();
      const webhook = (await t.webhooks.registry.find({ webhookId }))!;
      const [failed, other, limited] = await accept(events(4));
      const dueMs = t.clock.now() + 60_000;
      const tried = { attempts: 2, step: 2, dueMs };
      // A chat that limited the rate did not fail.
      const ends = [
        [failed!, tried],
        [other!, tried],
        [limited!, { ...tried, step: 0, dueMs: dueMs + 1 }],
      ] as const;
      await outbox.settle(
        ends.map(([delivery, facts]) => ({
          ...changeOf(delivery, 'pending'),
          delivery: { ...delivery, ...facts },
        })),
        [],
      );
      expect(await outbox.pullAgain(webhookId, 10)).toEqual([]);
      await t.webhooks.log.redeliver(webhook, failed!.deliveryId);
      const expiresMs = Math.max(failed!.expiresMs, t.clock.now() + REDELIVERY_WINDOW_MS);
      const again = { ...failed, attempts: 2, step: 0, dueMs: t.clock.now(), expiresMs };
      expect(await outbox.pullAgain(webhookId, 10)).toEqual([again]);
      expect(await outbox.waiting()).toEqual(new Map([[webhookId, { count: 4, due: 2 }]]));
      await t.clock.advance(60_000);
      expect(await outbox.pullAgain(webhookId, 10)).toEqual([again]);
    });

    it('a redelivery during an attempt stays pending, unless the attempt succeeds', async () => {
      const { webhookId } = await t.register();
      const webhook = (await t.webhooks.registry.find({ webhookId }))!;
      const [failed, expired, delivered, other] = await accept(events(4));
      await t.clock.advance(1_000);
      for (const { deliveryId } of [failed!, expired!, delivered!])
        await t.webhooks.log.redeliver(webhook, deliveryId);
      const askedMs = t.clock.now();
      await t.clock.advance(1_000);
      const tried = { attempts: 1, step: 1, dueMs: t.clock.now() + 60_000, log: [] };
      const ends = [
        [failed!, 'failed'],
        [expired!, 'expired'],
        [delivered!, 'delivered'],
        [other!, 'pending'],
      ] as const;
      await outbox.settle(
        ends.map(([delivery, state]) => ({
          ...changeOf(delivery, state),
          delivery: { ...delivery, ...tried },
        })),
        [],
      );
      const expiresMs = Math.max(failed!.expiresMs, askedMs + REDELIVERY_WINDOW_MS);
      const again = { attempts: 1, step: 0, dueMs: askedMs, expiresMs };
      const byId = (one: Delivery, two: Delivery) => (one.deliveryId < two.deliveryId ? -1 : 1);
      expect(await outbox.pull(webhookId, 10)).toEqual([
        ...[failed!, expired!].map((delivery) => ({ ...delivery, ...again })).toSorted(byId),
        { ...other, ...tried },
      ]);
    });

    it('a delivery that was skipped, expired or delivered during a failed attempt is not tried again', async () => {
      const { webhookId } = await t.register();
      const ends = ['skipped', 'expired', 'delivered'] as const;
      const deliveries = await accept(events(ends.length));
      const changes = deliveries.map((delivery, at) => changeOf(delivery, ends[at]!));
      await outbox.settle(changes, []);
      const tried = { attempts: 1, step: 1, dueMs: t.clock.now() + 60_000 };
      const failed = deliveries.map((delivery) => ({
        ...changeOf(delivery, 'pending'),
        delivery: { ...delivery, ...tried },
      }));
      await outbox.settle(failed, []);
      const page = await t.webhooks.log.page(webhookId, { limit: 9, after: null, range: ANY });
      expect(page.map(({ state, attempts }) => `${state} ${attempts}`).sort()).toEqual([
        'delivered 1',
        'expired 1',
        'skipped 1',
      ]);
    });

    it('the log is bounded by age and number; pending deliveries are never deleted', async () => {
      await t.register();
      const old = await accept(events(600));
      await outbox.settle(
        old.slice(1).map((delivery) => changeOf(delivery, 'delivered')),
        [],
      );
      await t.clock.advance(LOG_AGE_MAX_MS + 1);
      const fresh = await accept(events(30, 1000));
      await outbox.settle(
        fresh.map((delivery) => changeOf(delivery, 'delivered')),
        [],
      );
      await t.clock.advance(1);
      const newest = await accept(events(10, 2000));
      const parts = { clock: t.clock, log: silentLogger, metrics: new Metrics() };
      await new Retention(db, parts).prune();
      const left = async () =>
        (await db.selectFrom('webhook_deliveries').select('delivery_id').execute())
          .map((row) => row.delivery_id)
          .sort();
      const ids = (of: typeof old) => of.map(({ deliveryId }) => deliveryId);
      expect(await left()).toEqual([...ids(old.slice(0, 1)), ...ids(fresh), ...ids(newest)].sort());
      await new Retention(db, { ...parts, rowsMax: 15 }).prune();
      const kept = ids(fresh).toSorted().slice(-5);
      expect(await left()).toEqual([...ids(old.slice(0, 1)), ...kept, ...ids(newest)].sort());
      await new Retention(db, { ...parts, webhookRowsMax: 10 }).prune();
      expect(await left()).toEqual([...ids(old.slice(0, 1)), ...ids(newest)].sort());
      // The event of the pending delivery is still needed.
      expect((await outbox.pull(old[0]!.webhookId, 100)).length).toBe(11);
    });

    it('one user’s log never displaces another’s', async () => {
      const quiet = await t.register({ tickers: ['ETH'] });
      const early = await accept([toEvent(opportunity({ nowMs: t.clock.now() }, { ticker: 'ETH' }))!]);
      expect(early.map(({ webhookId }) => webhookId)).toEqual([quiet.webhookId]);
      const users = new UserRepository(db, { clock: t.clock, randomBytes });
      const { userId } = await users.create('b@example.com', 'premium');
      const busy = [await t.register({ userId, tickers: ['BTC'] }), await t.register({ userId })];
      await t.clock.advance(1_000);
      const later = await accept(events(40));
      const over = [...early, ...later].map((delivery) => changeOf(delivery, 'delivered'));
      await outbox.settle(over, []);
      // What the quiet user leaves free is shared: 21 rows for the other's two webhooks, 10 each.
      const parts = { clock: t.clock, log: silentLogger, metrics: new Metrics(), rowsMax: 22 };
      await new Retention(db, parts).prune();
      const count = async (webhookId: string) =>
        await t.webhooks.log.count(webhookId, { startMs: null, endMs: null, state: null });
      expect(await count(quiet.webhookId)).toBe(1);
      expect(await Promise.all(busy.map(({ webhookId }) => count(webhookId)))).toEqual([10, 10]);
      // Events that a webhook still references are kept; all others are deleted.
      const used = await db.selectFrom('webhook_deliveries').select('event_id').distinct().execute();
      const left = await db.selectFrom('webhook_events').select('event_id').execute();
      expect(left.map(({ event_id }) => event_id).sort()).toEqual(
        used.map(({ event_id }) => event_id).sort(),
      );
    });

    it('keeps the newest test events of a webhook, and its real events', async () => {
      const { webhookId } = await t.register();
      const webhook = (await t.webhooks.registry.find({ webhookId }))!;
      const detected = await accept(events(3));
      await outbox.settle(
        detected.map((delivery) => changeOf(delivery, 'delivered')),
        [],
      );
      const tests: string[] = [];
      for (let n = 0; n < TESTS_MAX + 20; n++) {
        if (n % TESTS_PER_MINUTE === 0) await t.clock.advance(60_000);
        tests.push(await t.webhooks.log.sendTest(webhook));
        await db
          .updateTable('webhook_deliveries')
          .set({ state: 'delivered' })
          .where('delivery_id', '=', tests.at(-1)!)
          .execute();
        await t.clock.advance(1);
      }
      const rows = await db.selectFrom('webhook_deliveries').select('delivery_id').execute();
      const expected = [...detected.map(({ deliveryId }) => deliveryId), ...tests.slice(-TESTS_MAX)];
      expect(rows.map(({ delivery_id }) => delivery_id).sort()).toEqual(expected.sort());
      const eventRows = async () =>
        (await db.selectFrom('webhook_events').select('event_id').execute()).length;
      expect(await eventRows()).toBe(TESTS_MAX + 3);
      await t.webhooks.registry.delete({ webhookId });
      expect(await eventRows()).toBe(3);
    });

    it('a user may resend at most 100 deliveries a minute, over all webhooks', async () => {
      const webhooks = [await t.register(), await t.register()];
      const found = await Promise.all(
        webhooks.map(({ webhookId }) => t.webhooks.registry.find({ webhookId })),
      );
      const [one, other] = found as [Webhook, Webhook];
      const deliveries = await accept(events(120));
      await outbox.settle(
        deliveries.map((delivery) => changeOf(delivery, 'delivered')),
        [],
      );
      const pending = async () => (await statesOf()).filter((state) => state === 'pending').length;
      const { log } = t.webhooks;
      const oneBy = deliveries.find(({ webhookId }) => webhookId === other.webhookId)!.deliveryId;
      expect(await log.redeliver(other, 'dl_none')).toBe(false);
      expect(await log.redeliver(other, oneBy)).toBe(true);
      const atOnce = await Promise.all([log.redeliverRange(one, ANY), log.redeliverRange(other, ANY)]);
      expect(atOnce.reduce((sum, count) => sum + count, 0)).toBe(REDELIVERIES_PER_MINUTE - 1);
      expect(await pending()).toBe(REDELIVERIES_PER_MINUTE);
      const refused = new TooManySendsError('At most 100 deliveries a minute are sent again', 60);
      await expect(log.redeliverRange(one, ANY)).rejects.toEqual(refused);
      await expect(log.redeliver(one, oneBy)).rejects.toEqual(refused);
      const users = new UserRepository(db, { clock: t.clock, randomBytes });
      const { userId } = await users.create('b@example.com', 'premium');
      const { webhookId } = await t.register({ userId });
      const third = (await t.webhooks.registry.find({ webhookId }))!;
      expect(await log.redeliverRange(third, ANY)).toBe(0);
      await t.clock.advance(60_000);
      expect(await log.redeliverRange(one, ANY)).toBeGreaterThan(0);
    });
  });
}
