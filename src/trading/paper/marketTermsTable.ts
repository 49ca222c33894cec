/**
 * A recording keeps only a market's current terms. This table keeps every version, so that a restart replays the terms
 * that were in force.
 */
import type { Kysely } from 'kysely';
import type { Database, Schema } from '../../control/schema.ts';
import type { TermsVersion } from '../live/marketTerms.ts';

/** A market is resolved long before this age; one that is not falls back to the current terms. */
const KEPT_MS = 7 * 86_400_000;

export async function writeTerms(
  transaction: Kysely<Schema>,
  { marketId, afterSeq, terms }: TermsVersion,
  nowMs: number,
): Promise<void> {
  const row = { market_id: marketId, after_seq: afterSeq, terms: JSON.stringify(terms), written_ms: nowMs };
  await transaction
    .insertInto('paper_market_terms')
    .values(row)
    .onConflict((conflict) => conflict.columns(['market_id', 'after_seq']).doUpdateSet(row))
    .execute();
}

/** In arrival order; empty for a market without stored terms. */
export async function readTerms(db: Database, marketId: string): Promise<TermsVersion[]> {
  const rows = await db
    .selectFrom('paper_market_terms')
    .selectAll()
    .where('market_id', '=', marketId)
    .orderBy('after_seq')
    .execute();
  return rows.map(({ after_seq: afterSeq, terms }) => ({
    marketId,
    afterSeq,
    // Terms of earlier releases lack the deciding feed.
    terms: { decidingFeed: null, ...JSON.parse(terms) },
  }));
}

export async function forgetOldTerms(db: Database, nowMs: number): Promise<void> {
  await db
    .deleteFrom('paper_market_terms')
    .where('written_ms', '<', nowMs - KEPT_MS)
    .execute();
}
