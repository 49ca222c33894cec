import type { Database } from '../../control/schema.ts';
import { type Opportunity, PUSHED_TIERS } from '../../schema/opportunity.ts';
import type { Detection } from '../../signals/detection.ts';
import { opportunityOf } from '../../signals/opportunity.ts';

/** Opportunities of one start; one market and tier has one, so this is far more than are open at once. */
const MISSED_MAX = 1_000;

/**
 * What was audited and whose market still runs: it was told, but a process that died in that very moment may not have
 * accepted it. What was accepted is known by its id and passed over.
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
