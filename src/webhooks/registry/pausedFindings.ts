import type { Database } from '../../control/schema.ts';
import type { SystemFinding } from '../../ops/systemFindings.ts';

/** Most webhooks that are reported at once. */
const PAUSED_MAX = 100;

/** The webhooks that are paused because their receivers failed. */
export async function pausedFindings(db: Database): Promise<SystemFinding[]> {
  const rows = await db
    .selectFrom('webhooks')
    .innerJoin('users', 'users.user_id', 'webhooks.user_id')
    .select(['webhooks.webhook_id', 'webhooks.label', 'users.email'])
    .where('webhooks.state', '=', 'paused')
    .where('webhooks.pause_reason', '=', 'failures')
    .orderBy('webhooks.paused_ms', 'desc')
    .limit(PAUSED_MAX)
    .execute();
  return rows.map(({ webhook_id: subject, label, email }) => ({
    ...{ event: 'system.webhook_paused', subject, level: 'bad' },
    summary: `The webhook “${label}” of ${email} is paused after ten failed attempts.`,
  }));
}
