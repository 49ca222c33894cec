import { sql } from 'kysely';
import type { Database } from '../../control/schema.ts';

/** Marks all pending deliveries of a webhook as skipped: nothing sends them any more. Lock its registration first. */
export async function skipPending(db: Database, webhookId: string): Promise<void> {
  const waiting = db.updateTable('webhook_deliveries').set({ state: 'skipped' });
  await waiting.where('webhook_id', '=', webhookId).where('state', '=', sql.lit('pending')).execute();
}
