import type { Transaction } from 'kysely';
import type { Database, Schema } from '../control/schema.ts';
import { entryHash, GENESIS_HASH, readHead } from './auditChain.ts';
import { dayOf, nanoOf } from './auditDays.ts';
import { type DetectedBody, newRow, type Settlement } from './auditLog.ts';
import type { AuditDaysTable, AuditEntriesTable, AuditRowsTable } from './schemaAudit.ts';

/** Entries and rows read at a time: memory grows with the audit only by one small row each. */
const PAGE = 2_000;

/** The first deviation from the chain. */
interface AuditFault {
  /** Sequence number in the chain, if the fault has one. */
  readonly seq: number | null;
  readonly auditId: string | null;
  readonly reason: string;
}

interface AuditVerdict {
  readonly ok: boolean;
  readonly entries: number;
  readonly rows: number;
  readonly head: string;
  readonly fault: AuditFault | null;
}

class FaultFound extends Error {
  readonly fault: AuditFault;

  constructor(reason: string, at: { seq?: number; auditId?: string } = {}) {
    super(reason);
    this.fault = { seq: at.seq ?? null, auditId: at.auditId ?? null, reason };
  }
}

/**
 * Reads the whole chain, rebuilds the other tables from it, and compares. With a head hash known from elsewhere
 * (`knownHash`) it proves that nothing was changed, removed, inserted or moved since. Without one it proves the same
 * unless someone also recomputed all later hashes.
 * @param knownHash A head hash saved earlier: it must be in the chain.
 */
export async function verifyAudit(db: Database, options: { knownHash?: string } = {}): Promise<AuditVerdict> {
  // One snapshot of all tables, even if a server adds entries meanwhile.
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (view) => {
      const verifier = new Verifier(view);
      try {
        await verifier.run(options.knownHash ?? null);
        return { ...verifier.counts, ok: true, fault: null };
      } catch (error) {
        if (!(error instanceof FaultFound)) throw error;
        return { ...verifier.counts, ok: false, fault: error.fault };
      }
    });
}

class Verifier {
  readonly #db: Transaction<Schema>;
  readonly #rows = new Map<string, AuditRowsTable>();
  readonly #days = new Map<string, AuditDaysTable>();
  #entries = 0;
  #head = GENESIS_HASH;
  /** Hash of the newest row's entry. */
  #rowHash = GENESIS_HASH;

  constructor(db: Transaction<Schema>) {
    this.#db = db;
  }

  get counts() {
    return { entries: this.#entries, rows: this.#rows.size, head: this.#head };
  }

  async run(knownHash: string | null): Promise<void> {
    const head = await readHead(this.#db);
    let isKnown = knownHash === null || knownHash === GENESIS_HASH;
    for await (const entry of this.#chain()) {
      this.#link(entry);
      if (entry.hash === knownHash) isKnown = true;
      this.#take(entry);
    }
    if (head.seq !== this.#entries || head.hash !== this.#head) {
      throw new FaultFound(`the chain ends at ${this.#entries}, but ${head.seq} were written`, {
        seq: head.seq,
      });
    }
    if (head.rowHash !== undefined && head.rowHash !== this.#rowHash)
      throw new FaultFound('the newest signal is not the one noted as such');
    if (!isKnown) throw new FaultFound('the given head hash is not in the chain');
    await this.#compareRows();
    await this.#compareDays();
  }

  async *#chain(): AsyncIterable<AuditEntriesTable> {
    for (let after = Number.MIN_SAFE_INTEGER; ; ) {
      const page = await this.#db
        .selectFrom('audit_entries')
        .selectAll()
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(PAGE)
        .execute();
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.seq;
    }
  }

  #link(entry: AuditEntriesTable): void {
    const at = { seq: entry.seq, auditId: entry.audit_id };
    if (entry.seq !== this.#entries + 1) {
      throw new FaultFound(`entry ${this.#entries + 1} is missing or out of place`, at);
    }
    if (entry.prev_hash !== this.#head)
      throw new FaultFound('the entry does not follow the one before it', at);
    if (entryHash(entry) !== entry.hash)
      throw new FaultFound('the hash of the entry does not match its content', at);
    this.#entries = entry.seq;
    this.#head = entry.hash;
  }

  #take({ seq, audit_id: auditId, kind, at_ms: atMs, body, hash }: AuditEntriesTable): void {
    if (kind === 'detected') {
      const { prevRow, ...detection } = JSON.parse(body) as DetectedBody;
      const row = newRow(detection, seq);
      if (this.#rows.has(auditId)) throw new FaultFound('detected twice', { seq, auditId });
      if (prevRow !== undefined && prevRow !== this.#rowHash)
        throw new FaultFound('the signal does not follow the one before it', { seq, auditId });
      this.#rowHash = hash;
      this.#rows.set(auditId, row);
      const day = this.#day(row);
      day.total++;
      day.model_ev_nano += nanoOf(row.model_ev);
      day.first_ms = Math.min(day.first_ms, row.detected_ms);
      day.last_ms = Math.max(day.last_ms, row.detected_ms);
      return;
    }
    const row = this.#rows.get(auditId);
    if (row === undefined) throw new FaultFound(`${kind} before it was detected`, { seq, auditId });
    if (kind === 'executable') row.executable_ms = atMs;
    else this.#settle(row, JSON.parse(body) as Settlement);
  }

  #settle(row: AuditRowsTable, { resolvedMs, realized }: Settlement): void {
    const day = this.#day(row);
    if (row.realized === null) day.resolved++;
    day.realized_nano += nanoOf(realized) - nanoOf(row.realized ?? 0);
    row.realized = realized;
    row.resolved_ms = resolvedMs;
  }

  #day({ detected_ms, ticker, tier, event_type }: AuditRowsTable): AuditDaysTable {
    const key = dayKey({ day_ms: dayOf(detected_ms), ticker, tier, event_type });
    const known = this.#days.get(key);
    if (known !== undefined) return known;
    const day = {
      ...{ day_ms: dayOf(detected_ms), ticker, tier, event_type, total: 0, resolved: 0 },
      ...{ model_ev_nano: 0, realized_nano: 0, first_ms: detected_ms, last_ms: detected_ms },
    };
    this.#days.set(key, day);
    return day;
  }

  async #compareRows(): Promise<void> {
    const left = new Set(this.#rows.keys());
    for (let after = ''; ; ) {
      const page = await this.#db
        .selectFrom('audit_rows')
        .selectAll()
        .where('audit_id', '>', after)
        .orderBy('audit_id')
        .limit(PAGE)
        .execute();
      for (const row of page) {
        const expected = this.#rows.get(row.audit_id);
        const reason = expected === undefined ? 'a row without an entry' : differenceOf(row, expected);
        if (reason !== null) throw new FaultFound(reason, { seq: row.seq, auditId: row.audit_id });
        left.delete(row.audit_id);
      }
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.audit_id;
    }
    const [missing] = left;
    if (missing !== undefined) throw new FaultFound('a row is missing', { auditId: missing });
  }

  async #compareDays(): Promise<void> {
    const days = await this.#db.selectFrom('audit_days').selectAll().execute();
    for (const day of days) {
      const expected = this.#days.get(dayKey(day));
      const reason = expected === undefined ? 'sums without a row' : differenceOf(day, expected);
      if (reason !== null) throw new FaultFound(`sums of a day: ${reason}`);
    }
    if (days.length !== this.#days.size) throw new FaultFound('sums of a day are missing');
  }
}

function dayKey(day: Pick<AuditDaysTable, 'day_ms' | 'ticker' | 'tier' | 'event_type'>): string {
  return `${day.day_ms}:${day.ticker}:${day.tier}:${day.event_type}`;
}

function differenceOf<T extends object>(found: T, expected: T): string | null {
  const names = Object.keys(expected) as (keyof T & string)[];
  const changed = names.find((name) => found[name] !== expected[name]);
  return changed === undefined ? null : `${changed} was changed`;
}
