import { sql } from 'kysely';
import type { Database } from '../../control/schema.ts';

/** Gives up what waits for a webhook, which nothing will send. Lock its registration first. */
export async function skipPending(db: Database, webhookId: string): Promise<void> {
  const waiting = db.updateTable('webhook_deliveries').set({ state: 'skipped' });
  await waiting.where('webhook_id', '=', webhookId).where('state', '=', sql.lit('pending')).execute();
}
