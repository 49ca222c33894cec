import { sql, type Transaction } from 'kysely';
import { PreparedStatement } from '../control/preparedStatement.ts';
import type { Database, Schema } from '../control/schema.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Market } from '../schema/market.ts';
import { withRoundedMoney } from '../schema/moneyJson.ts';
import { AuditChain, type ChainEnd, canonicalJson } from './auditChain.ts';
import { addToDay, settleDay } from './auditDays.ts';
import type { Detection } from './detection.ts';
import type { ExecutableFill } from './executable.ts';
import type { AuditRowsTable } from './schemaAudit.ts';

/**
 * The body of a `detected` entry. `prevRow`, the hash of the previous detection, is missing in the oldest entries: rows
 * were not linked then.
 */
export type DetectedBody = Detection & { readonly prevRow?: string };

/** A market's payout: the body of a `settled` entry. */
export interface Settlement {
  readonly resolvedMs: number;
  readonly outcome: Market['outcome'];
  /** Payout of one YES share: 1, 0 or 0.5. */
  readonly payoutYes: number;
  readonly realized: number;
}

/** Payout of the bought shares, summed over the legs, minus price and fee; per share, for BUY_BOTH per pair. */
function realizedOf(detection: Detection, payoutYes: number): number {
  const payouts = detection.legs.map(({ token }) => (token === 'yes' ? payoutYes : 1 - payoutYes));
  const paid = payouts.reduce((sum, payout) => sum + payout, 0);
  return paid - detection.fillPrice - detection.feePerShare;
}

/**
 * Writes the audit. Each call is one transaction: an entry of the chain and the rows derived from it, or nothing. Money
 * is rounded before it is written, so that the hashed bytes are also the bytes in API responses.
 */
export class AuditLog {
  readonly #db: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #chain = new AuditChain();
  readonly #insertRow = insertRow();
  readonly #addToDay = addToDay();
  readonly #insertUnpublished = insertUnpublished();
  readonly #deleteUnpublished = deleteUnpublished();

  constructor(db: Database, clock: Pick<Clock, 'now'>) {
    this.#db = db;
    this.#clock = clock;
  }

  /** @returns False if the market's first detection of this kind is already written. */
  async detected(found: Detection): Promise<boolean> {
    const detection = withRoundedMoney(found);
    return await this.#append(async (db, head) => {
      const { auditId } = detection;
      const row = newRow(detection, head.seq + 1);
      const { numAffectedRows } = await this.#insertRow.run(db, row);
      if (numAffectedRows !== 1n) return { head, result: false };
      const body: DetectedBody = { ...detection, prevRow: head.rowHash };
      const entry = { kind: 'detected', body: canonicalJson(body) } as const;
      const next = await this.#chain.append(db, head, {
        ...entry,
        audit_id: auditId,
        at_ms: this.#clock.now(),
      });
      await this.#addToDay.run(db, row);
      await this.#insertUnpublished.run(db, auditId);
      return { head: next, result: true };
    });
  }

  /** Records that it was published; a later crash does not publish it again. */
  async markPublished(auditId: string): Promise<void> {
    await this.#deleteUnpublished.run(this.#db, auditId);
  }

  /** Records the fills an order would have got; only once. */
  async executable(auditId: string, fills: readonly ExecutableFill[]): Promise<void> {
    await this.#append(async (db, head) => {
      const row = await findRow(db, auditId);
      if (row === undefined || row.executable_ms !== null) return { head, result: null };
      const nowMs = this.#clock.now();
      const entry = {
        audit_id: auditId,
        kind: 'executable',
        at_ms: nowMs,
        body: canonicalJson(withRoundedMoney(fills)),
      } as const;
      const next = await this.#chain.append(db, head, entry);
      await updateRow(db, auditId, { executable_ms: nowMs });
      return { head: next, result: null };
    });
  }

  /**
   * Records the payout of the market's rows. A correction by the venue is a further entry; the same winner and payout
   * again adds none.
   * @returns The number of rows settled.
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
        const known = await readSettlement(db, row);
        if (known?.payoutYes === payoutYes && known.outcome === market.outcome) continue;
        const paid = realizedOf(await readDetection(db, row), payoutYes);
        const nowMs = this.#clock.now();
        const resolvedMs = row.resolved_ms ?? market.resolvedTimeMs ?? nowMs;
        const settlement: Settlement = withRoundedMoney({
          ...{ resolvedMs, outcome: market.outcome, payoutYes },
          realized: paid,
        });
        const { realized } = settlement;
        const entry = { kind: 'settled', body: canonicalJson(settlement) } as const;
        next = await this.#chain.append(db, next, { ...entry, audit_id: row.audit_id, at_ms: nowMs });
        await updateRow(db, row.audit_id, { resolved_ms: resolvedMs, realized });
        await settleDay(db, row, realized);
        settled++;
      }
      return { head: next, result: settled };
    });
  }

  async #append<T>(
    write: (db: Transaction<Schema>, head: ChainEnd) => Promise<{ head: ChainEnd; result: T }>,
  ): Promise<T> {
    return await this.#db.transaction().execute(async (db) => {
      const before = await this.#chain.lock(db);
      const { head, result } = await write(db, before);
      if (head.seq !== before.seq) await this.#chain.store(db, head, this.#clock.now());
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

/**
 * The newest settlement; null if the row is not settled. A pair pays the same whichever side wins, so its payout alone
 * does not identify the settlement.
 */
async function readSettlement(
  db: Transaction<Schema>,
  { audit_id, resolved_ms }: AuditRowsTable,
): Promise<Settlement | null> {
  if (resolved_ms === null) return null;
  const settled = db.selectFrom('audit_entries').select('body').where('audit_id', '=', audit_id);
  const newest = settled.where('kind', '=', 'settled').orderBy('seq', 'desc').limit(1);
  return JSON.parse((await newest.executeTakeFirstOrThrow()).body) as Settlement;
}

/** A detection's columns for filters and sums. */
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

/** Does nothing if the row exists. */
function insertRow(): PreparedStatement<AuditRowsTable> {
  return new PreparedStatement(
    sql`insert into audit_rows (audit_id, seq, market_id, tier, ticker, event_type, detected_ms, end_ms, model_ev)
      values (${null}, ${null}, ${null}, ${null}, ${null}, ${null}, ${null}, ${null}, ${null})
      on conflict (audit_id) do nothing`,
    ({ audit_id, seq, market_id, tier, ticker, event_type, detected_ms, end_ms, model_ev }) => {
      return [audit_id, seq, market_id, tier, ticker, event_type, detected_ms, end_ms, model_ev];
    },
  );
}

function insertUnpublished(): PreparedStatement<string> {
  return new PreparedStatement(sql`insert into audit_outbox (audit_id) values (${null})`, (id) => [id]);
}

function deleteUnpublished(): PreparedStatement<string> {
  return new PreparedStatement(sql`delete from audit_outbox where audit_id = ${null}`, (id) => [id]);
}
