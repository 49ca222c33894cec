import type { Database } from '../../control/schema.ts';
import { type Opportunity, PUSHED_TIERS } from '../../schema/opportunity.ts';
import type { Detection } from '../../signals/detection.ts';
import { opportunityOf } from '../../signals/opportunity.ts';

/** Maximum number read at a start. A market has at most one per kind, so fewer are open at once. */
const MISSED_MAX = 1_000;

/**
 * Audited opportunities whose market is still open: they were published, but a process that died right then may not
 * have accepted them. Accepted ones are recognised by their id and skipped.
 */
export async function missedOpportunities(db: Database, nowMs: number): Promise<Opportunity[]> {
  const rows = await db
    .selectFrom('audit_rows as row')
    .innerJoin('audit_entries as entry', 'entry.seq', 'row.seq')
    .select('entry.body')
    .where('row.end_ms', '>', nowMs)
    .where('row.tier', 'in', PUSHED_TIERS)
    .orderBy('row.seq')
    .limit(MISSED_MAX)
    .execute();
  return rows.map(({ body }) => opportunityOf(JSON.parse(body) as Detection) as Opportunity);
}
