/** Sums over the rows of each UTC day of detection. */
import { sql, type Transaction } from 'kysely';
import { PreparedStatement } from '../control/preparedStatement.ts';
import type { Schema } from '../control/schema.ts';
import type { AuditRowsTable } from './schemaAudit.ts';

const DAY_MS = 86_400_000;
/** Billionths in one. */
export const NANO = 1e9;

/** Converts USDC to the unit of the day's sums. */
export function nanoOf(usdc: number): number {
  return Math.round(usdc * NANO);
}

/** Start of the UTC day of a time. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS;
}

/** Adds a new row to its day. */
export function addToDay(): PreparedStatement<AuditRowsTable> {
  return new PreparedStatement(
    sql`insert into audit_days (day_ms, ticker, tier, event_type, total, resolved, model_ev_nano, realized_nano,
        first_ms, last_ms) values (${null}, ${null}, ${null}, ${null}, 1, 0, ${null}, 0, ${null}, ${null})
      on conflict (day_ms, ticker, tier, event_type) do update set total = audit_days.total + 1,
        model_ev_nano = audit_days.model_ev_nano + excluded.model_ev_nano,
        first_ms = case when excluded.first_ms < audit_days.first_ms then excluded.first_ms else audit_days.first_ms end,
        last_ms = case when excluded.last_ms > audit_days.last_ms then excluded.last_ms else audit_days.last_ms end`,
    ({ ticker, tier, event_type, model_ev, detected_ms }) => {
      return [dayOf(detected_ms), ticker, tier, event_type, nanoOf(model_ev), detected_ms, detected_ms];
    },
  );
}

/** Adds a row's payout to its day, or corrects it. */
export async function settleDay(
  db: Transaction<Schema>,
  row: AuditRowsTable,
  realized: number,
): Promise<void> {
  await db
    .updateTable('audit_days')
    .set((day) => ({
      resolved: day('resolved', '+', row.realized === null ? 1 : 0),
      realized_nano: day('realized_nano', '+', nanoOf(realized) - nanoOf(row.realized ?? 0)),
    }))
    .where('day_ms', '=', dayOf(row.detected_ms))
    .where('ticker', '=', row.ticker)
    .where('tier', '=', row.tier)
    .where('event_type', '=', row.event_type)
    .execute();
}
