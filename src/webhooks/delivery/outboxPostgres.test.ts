import type { Kysely } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRowHolder } from '../../../test/support/heldRows.ts';
import { lateReads } from '../../../test/support/lateReads.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import { webhookSuite } from '../../../test/support/webhookSuite.ts';
import { openTestWebhooks, replied, states } from '../../../test/support/webhooks.ts';
import type { Schema } from '../../control/schema.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { toSigningWebhook, type Webhook } from '../registry/registration.ts';
import type { Delivery } from './delivery.ts';
import { toEvent } from './event.ts';
import { Outbox } from './outbox.ts';
import { ALONE } from './soleSender.ts';

const postgres = await openTestPostgres();

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    webhookSuite('PostgreSQL', async () => {
      const databaseUrl = await postgres.createDatabase();
      return await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
    });

    it('two processes that accept the same events in opposite order store each once, and neither fails', async () => {
      const databaseUrl = await postgres.createDatabase();
      const connect = async () => {
        const db = await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
        onTestFinished(() => db.destroy());
        return db;
      };
      const [one, other] = [await connect(), await connect()];
      const t = await openTestWebhooks({ db: one });
      const { webhookId } = await t.register();
      const outboxes = [new Outbox(one, t.clock), new Outbox(other, t.clock)];
      const current = async (db: Kysely<Schema>) =>
        (await db.selectFrom('webhooks').selectAll().execute()).map((row) =>
          toSigningWebhook(row, t.webhooks.box),
        );
      for (let round = 0; round < 10; round++) {
        const events = Array.from(
          { length: 64 },
          (_, n) => toEvent(opportunity({ nowMs: t.clock.now(), n: 64 * round + n }))!,
        );
        const accepted = await Promise.all([
          outboxes[0]!.accept(events, current),
          outboxes[1]!.accept(events.toReversed(), current),
        ]);
        expect(accepted.flat()).toHaveLength(64);
      }
      expect((await outboxes[0]!.waiting()).get(webhookId)?.count).toBe(640);
    });

    it.each(['pause', 'delete'] as const)(
      'a failure is stored while its owner asks to %s the webhook',
      async (change) => {
        const databaseUrl = await postgres.createDatabase();
        const db = await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
        onTestFinished(() => db.destroy());
        const t = await openTestWebhooks({ db });
        const { registry, log } = t.webhooks;
        const { webhookId } = await t.register();
        await log.sendTest((await registry.find({ webhookId })) as Webhook);
        const outbox = new Outbox(db, t.clock);
        const [delivery] = (await outbox.pull(webhookId, 1)) as [Delivery];
        const { active_since_ms: activeSinceMs } = await db
          .selectFrom('webhooks')
          .select('active_since_ms')
          .executeTakeFirstOrThrow();
        const { hold, waiting } = await openRowHolder(databaseUrl);
        const { release } = await hold('UPDATE webhook_deliveries SET attempts = 0');
        const health = { webhookId, activeSinceMs, consecutiveFailures: 1, paused: false };
        const failed = { delivery, state: 'failed', rowDueMs: delivery.dueMs } as const;
        const settled = outbox.settle([failed], [health]);
        await waiting(1);
        const changed = registry[change]({ webhookId });
        await waiting(2);
        await release();
        await Promise.all([settled, changed]);
        const left = change === 'delete' ? [] : ['failed'];
        expect(await states(t)).toEqual(left);
      },
    );

    it('a delivery that ends while the pending ones are read is not sent a second time', async () => {
      const databaseUrl = await postgres.createDatabase();
      const db = await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
      onTestFinished(() => db.destroy());
      const t = await openTestWebhooks({ db });
      const { webhookId } = await t.register();
      const late = lateReads(db, 'body');
      const ids: string[] = [];
      let end: () => void = () => undefined;
      const attempt = async (_: unknown, { deliveryId }: Delivery) => {
        ids.push(deliveryId);
        if (ids.length > 1) return replied(200, t.clock);
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        return replied(200, t.clock);
      };
      const dispatcher = await t.dispatcher({ attempt }, 'closed', ALONE, late.db);
      onTestFinished(() => {
        end();
        late.letGo();
      });
      const until = async (isMet: () => boolean | Promise<boolean>) => {
        while (!(await isMet())) await t.clock.advance(10);
      };
      dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
      await until(() => ids.length === 1);
      const webhook = await t.webhooks.registry.find({ webhookId });
      const test = await t.webhooks.log.sendTest(webhook as Webhook);
      const reading = late.hold();
      dispatcher.wake();
      await reading;
      end();
      await until(async () => (await states(t)).includes('delivered'));
      // The dispatcher notices the commit in a later turn than the test does.
      await until(async () => (await t.metrics.registry.metrics()).includes('{state="delivered"} 1'));
      late.letGo();
      await until(async () => (await states(t)).every((state) => state === 'delivered'));
      await t.clock.advance(2_000);
      expect(ids.slice(1)).toEqual([test]);
    });
  },
);
