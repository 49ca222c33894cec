import { sql, type Transaction } from 'kysely';
import type { Database, Schema } from '../accounts/schema.ts';
import type { AuditRowsTable } from '../accounts/schemaAudit.ts';
import type { Clock } from '../clock.ts';
import type { Market } from '../schema/market.ts';
import { append, canonicalJson, lockHead, storeHead } from './auditChain.ts';
import type { Detection } from './detection.ts';
import type { ExecutableFill } from './executable.ts';

const DAY_MS = 86_400_000;
/** Billionths in one. */
export const NANO = 1e9;

/** What a market paid: the body of a `settled` entry. */
export interface Settlement {
  readonly resolvedMs: number;
  readonly outcome: Market['outcome'];
  /** What one YES share pays: 1, 0 or 0.5. */
  readonly payoutYes: number;
  readonly realized: number;
}

/** What bought shares paid, each leg on its own, less price and fee; per share, for BUY_BOTH per pair. */
export function realizedOf(detection: Detection, payoutYes: number): number {
  const payouts = detection.legs.map(({ token }) => (token === 'yes' ? payoutYes : 1 - payoutYes));
  const paid = payouts.reduce((sum, payout) => sum + payout, 0);
  return paid - detection.fillPrice - detection.feePerShare;
}

/** USDC as the day's sums keep it. */
export function nanoOf(usdc: number): number {
  return Math.round(usdc * NANO);
}

/** Start of the UTC day of a moment. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS;
}

/** Writes the audit. Each call is one transaction: an entry of the chain and what is read from it, or nothing. */
export class AuditLog {
  readonly #db: Database;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(db: Database, clock: Pick<Clock, 'now'>) {
    this.#db = db;
    this.#clock = clock;
  }

  /** @returns False when the market's first detection in this tier is written already. */
  async detected(detection: Detection): Promise<boolean> {
    return await this.#append(async (db, head) => {
      const { auditId } = detection;
      if ((await findRow(db, auditId)) !== undefined) return { head, result: false };
      const entry = { kind: 'detected', body: canonicalJson(detection) } as const;
      const next = await append(db, head, { ...entry, audit_id: auditId, at_ms: this.#clock.now() });
      const row = newRow(detection, next.seq);
      await db.insertInto('audit_rows').values(row).execute();
      await addToDay(db, row);
      await db.insertInto('audit_outbox').values({ audit_id: auditId }).execute();
      return { head: next, result: true };
    });
  }

  /** It was told; a crash from here on does not have it told again. */
  async told(auditId: string): Promise<void> {
    await this.#db.deleteFrom('audit_outbox').where('audit_id', '=', auditId).execute();
  }

  /** What would have filled; once. */
  async executable(auditId: string, fills: readonly ExecutableFill[]): Promise<void> {
    await this.#append(async (db, head) => {
      const row = await findRow(db, auditId);
      if (row === undefined || row.executable_ms !== null) return { head, result: null };
      const nowMs = this.#clock.now();
      const entry = {
        audit_id: auditId,
        kind: 'executable',
        at_ms: nowMs,
        body: canonicalJson(fills),
      } as const;
      const next = await append(db, head, entry);
      await updateRow(db, auditId, { executable_ms: nowMs });
      return { head: next, result: null };
    });
  }

  /**
   * What the market's rows paid. A correction by the venue is a further entry; the same payout again is none.
   * @returns How many rows were settled.
   */
  async settle(
    market: Pick<Market, 'marketId' | 'outcome' | 'resolvedTimeMs'>,
    payoutYes: number,
  ): Promise<number> {
    return await this.#append(async (db, head) => {
      const rows = db.selectFrom('audit_rows').selectAll().where('market_id', '=', market.marketId);
      let next = head;
      let settled = 0;
      for (const row of await rows.orderBy('seq').execute()) {
        const detection = await readDetection(db, row);
        const realized = realizedOf(detection, payoutYes);
        if (row.realized === realized) continue;
        const nowMs = this.#clock.now();
        const resolvedMs = row.resolved_ms ?? market.resolvedTimeMs ?? nowMs;
        const settlement: Settlement = { resolvedMs, outcome: market.outcome, payoutYes, realized };
        const entry = { kind: 'settled', body: canonicalJson(settlement) } as const;
        next = await append(db, next, { ...entry, audit_id: row.audit_id, at_ms: nowMs });
        await updateRow(db, row.audit_id, { resolved_ms: resolvedMs, realized });
        await settleDay(db, row, realized);
        settled++;
      }
      return { head: next, result: settled };
    });
  }

  async #append<T>(
    write: (
      db: Transaction<Schema>,
      head: { seq: number; hash: string },
    ) => Promise<{ head: { seq: number; hash: string }; result: T }>,
  ): Promise<T> {
    return await this.#db.transaction().execute(async (db) => {
      const before = await lockHead(db);
      const { head, result } = await write(db, before);
      if (head.seq !== before.seq) await storeHead(db, head, this.#clock.now());
      return result;
    });
  }
}

function findRow(db: Transaction<Schema>, auditId: string): Promise<AuditRowsTable | undefined> {
  return db.selectFrom('audit_rows').selectAll().where('audit_id', '=', auditId).executeTakeFirst();
}

async function readDetection(db: Transaction<Schema>, row: AuditRowsTable): Promise<Detection> {
  const found = db.selectFrom('audit_entries').select('body').where('seq', '=', row.seq);
  return JSON.parse((await found.executeTakeFirstOrThrow()).body) as Detection;
}

/** What is kept of a detection for filters and sums. */
export function newRow(detection: Detection, seq: number): AuditRowsTable {
  return {
    audit_id: detection.auditId,
    seq,
    market_id: detection.marketId,
    tier: detection.tier,
    ticker: detection.ticker,
    event_type: detection.eventType,
    detected_ms: detection.detectedMs,
    end_ms: detection.endMs,
    model_ev: detection.evPerShare,
    executable_ms: null,
    resolved_ms: null,
    realized: null,
  };
}

async function updateRow(
  db: Transaction<Schema>,
  auditId: string,
  values: Partial<Pick<AuditRowsTable, 'executable_ms' | 'resolved_ms' | 'realized'>>,
): Promise<void> {
  await db.updateTable('audit_rows').set(values).where('audit_id', '=', auditId).execute();
}

async function addToDay(db: Transaction<Schema>, row: AuditRowsTable): Promise<void> {
  const { ticker, tier, event_type, model_ev, detected_ms } = row;
  await db
    .insertInto('audit_days')
    .values({
      ...{ day_ms: dayOf(detected_ms), ticker, tier, event_type, total: 1, resolved: 0 },
      ...{ model_ev_nano: nanoOf(model_ev), realized_nano: 0 },
      ...{ first_ms: detected_ms, last_ms: detected_ms },
    })
    .onConflict((conflict) =>
      conflict.columns(['day_ms', 'ticker', 'tier', 'event_type']).doUpdateSet((day) => ({
        total: day('audit_days.total', '+', 1),
        model_ev_nano: day('audit_days.model_ev_nano', '+', day.ref('excluded.model_ev_nano')),
        first_ms: sql<number>`case when excluded.first_ms < audit_days.first_ms then excluded.first_ms else audit_days.first_ms end`,
        last_ms: sql<number>`case when excluded.last_ms > audit_days.last_ms then excluded.last_ms else audit_days.last_ms end`,
      })),
    )
    .execute();
}

async function settleDay(db: Transaction<Schema>, row: AuditRowsTable, realized: number): Promise<void> {
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
