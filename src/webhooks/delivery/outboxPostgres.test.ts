import type { Kysely } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import { webhookSuite } from '../../../test/support/webhookSuite.ts';
import { openTestWebhooks } from '../../../test/support/webhooks.ts';
import type { Schema } from '../../control/schema.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { toSigningWebhook } from '../registry/registration.ts';
import { toEvent } from './event.ts';
import { Outbox } from './outbox.ts';

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
  },
);
