import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { beyondPlace } from '../control/keyset.ts';
import type { Database, Schema } from '../control/schema.ts';
import type { SignalTier } from '../core/signals/signal.ts';
import type { ExportRange, MarketSelection } from '../schema/export.ts';
import type { EventType, Ticker } from '../schema/market.ts';
import { type ChainHead, readHead } from './auditChain.ts';
import { dayOf, NANO } from './auditDays.ts';
import type { DetectedBody, Settlement } from './auditLog.ts';
import type { Detection } from './detection.ts';
import type { KnownDetection } from './detectorHost.ts';
import type { ExecutableFill } from './executable.ts';
import type { AuditKind, AuditRowsTable } from './schemaAudit.ts';

const DAY_MS = 86_400_000;

export interface AuditFilter {
  /** Detected at or after this; null: no bound. */
  readonly sinceMs: number | null;
  readonly ticker: Ticker | null;
  readonly tier: SignalTier | null;
  readonly eventType: EventType | null;
}

/** Sums over the rows of one ticker, kind and event type. */
export interface AuditSums {
  readonly ticker: Ticker;
  readonly tier: SignalTier;
  readonly eventType: EventType;
  readonly total: number;
  readonly resolved: number;
  readonly modelEv: number;
  readonly realized: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

interface AuditPlace {
  readonly detectedMs: number;
  readonly seq: number;
}

/** One row with all its entries; null where an entry does not exist yet. */
export interface AuditRecord {
  readonly seq: number;
  readonly detection: Detection;
  readonly executable: readonly ExecutableFill[] | null;
  readonly settlement: Settlement | null;
  /** Hash of the entry that holds the detection. */
  readonly hash: string;
  /** Hash of the row written before; for rows written before rows were linked, of the entry before. */
  readonly prevHash: string;
}

/** A market with rows that wait for its resolution, and the end of its window. */
export interface UnsettledMarket {
  readonly marketId: string;
  readonly endMs: number;
}

/** Reads the audit; the cost grows with the requested rows, not with all rows. */
export class AuditReader {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  head(): Promise<ChainHead> {
    return readHead(this.#db);
  }

  /** Combines the rows of the first, partial day with the sums of the later days. */
  async sums(filter: AuditFilter): Promise<AuditSums[]> {
    const { sinceMs } = filter;
    const firstWholeDay = sinceMs === null ? null : dayOf(sinceMs + DAY_MS - 1);
    const days = await this.#days(filter, firstWholeDay);
    if (sinceMs === null || firstWholeDay === null || firstWholeDay === sinceMs) return days;
    return [...(await this.#cutDay(filter, { sinceMs, beforeMs: firstWholeDay })), ...days];
  }

  /** Newest first. */
  async list(filter: AuditFilter, page: { after: AuditPlace | null; limit: number }): Promise<AuditRecord[]> {
    const { after } = page;
    let query = filtered(this.#db.selectFrom('audit_rows').selectAll(), filter);
    if (filter.sinceMs !== null) query = query.where('detected_ms', '>=', filter.sinceMs);
    if (after !== null) {
      const place = [
        ['detected_ms', after.detectedMs],
        ['seq', after.seq],
      ] as const;
      query = query.where((row: ExpressionBuilder<Schema, 'audit_rows'>) => beyondPlace(row, '<', place));
      // The same bound in a form that the index can use.
      query = query.where('detected_ms', '<=', after.detectedMs);
    }
    const rows = await query
      .orderBy('detected_ms', 'desc')
      .orderBy('seq', 'desc')
      .limit(page.limit)
      .execute();
    return await this.records(rows);
  }

  /** Rows of markets detected within a range, oldest first. */
  async oldest(
    { markets, range: { startMs, endMs } }: { markets: MarketSelection; range: ExportRange },
    { after, limit }: { after: AuditPlace | null; limit: number },
  ): Promise<AuditRecord[]> {
    let query = this.#db.selectFrom('audit_rows').select(['audit_id', 'seq']);
    if (markets !== 'all' && 'marketIds' in markets)
      query = query.where('market_id', 'in', markets.marketIds);
    else if (markets !== 'all') {
      const { ticker, eventType } = markets;
      query = query.where('ticker', '=', ticker as Ticker).where('event_type', '=', eventType as EventType);
    }
    if (startMs !== null) query = query.where('detected_ms', '>=', startMs);
    if (endMs !== null) query = query.where('detected_ms', '<', endMs);
    if (after !== null) {
      const place = [
        ['detected_ms', after.detectedMs],
        ['seq', after.seq],
      ] as const;
      query = query.where((row: ExpressionBuilder<Schema, 'audit_rows'>) => beyondPlace(row, '>', place));
    }
    const rows = await query.orderBy('detected_ms').orderBy('seq').limit(limit).execute();
    return await this.records(rows);
  }

  /** The given rows with all their entries, in the given order. */
  async records(rows: readonly Pick<AuditRowsTable, 'audit_id' | 'seq'>[]): Promise<AuditRecord[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ audit_id }) => audit_id);
    const entries = await this.#db
      .selectFrom('audit_entries')
      .select(['audit_id', 'kind', 'body', 'seq', 'hash', 'prev_hash'])
      .where('audit_id', 'in', ids)
      .orderBy('seq')
      .execute();
    // Of several settlements the last one applies.
    const found = new Map(entries.map((entry) => [`${entry.audit_id}:${entry.kind}`, entry]));
    const body = <T>(auditId: string, kind: AuditKind): T | null => {
      const entry = found.get(`${auditId}:${kind}`);
      return entry === undefined ? null : (JSON.parse(entry.body) as T);
    };
    return rows.flatMap(({ audit_id: auditId, seq }) => {
      const detected = body<DetectedBody>(auditId, 'detected');
      const entry = found.get(`${auditId}:detected`);
      if (detected === null || entry === undefined) return [];
      const { prevRow: prevHash = entry.prev_hash, ...detection } = detected;
      const executable = body<readonly ExecutableFill[]>(auditId, 'executable');
      const settlement = body<Settlement>(auditId, 'settled');
      return [{ seq, detection, executable, settlement, hash: entry.hash, prevHash }];
    });
  }

  /** First detections in markets that end after `nowMs`. */
  async ofOpenMarkets(nowMs: number): Promise<KnownDetection[]> {
    return (await this.#firsts().where('audit_rows.end_ms', '>', nowMs).execute()).map(knownOf);
  }

  /** The rows among these that are written. */
  async written(auditIds: readonly string[]): Promise<KnownDetection[]> {
    return (await this.#firsts().where('audit_rows.audit_id', 'in', auditIds).execute()).map(knownOf);
  }

  /** The detection of a row, which must exist. */
  async detection(auditId: string): Promise<Detection> {
    const entries = this.#db.selectFrom('audit_entries').select('body').where('audit_id', '=', auditId);
    const { body } = await entries.where('kind', '=', 'detected').executeTakeFirstOrThrow();
    const { prevRow: _linked, ...detection } = JSON.parse(body) as DetectedBody;
    return detection;
  }

  /** Whether a row was written but not recorded as published. */
  async isUnpublished(auditId: string): Promise<boolean> {
    const row = this.#db.selectFrom('audit_outbox').select('audit_id').where('audit_id', '=', auditId);
    return (await row.executeTakeFirst()) !== undefined;
  }

  async hasRows(marketId: string): Promise<boolean> {
    const rows = this.#db.selectFrom('audit_rows').select('seq').where('market_id', '=', marketId);
    return (await rows.limit(1).executeTakeFirst()) !== undefined;
  }

  /** Markets with unsettled rows, oldest end first. @param after The last one of the page before; null: from the oldest. */
  async unsettled(after: UnsettledMarket | null, limit: number): Promise<UnsettledMarket[]> {
    let rows = this.#db.selectFrom('audit_rows').select(['market_id', 'end_ms']).distinct();
    rows = rows.where('resolved_ms', 'is', null);
    if (after !== null)
      rows = rows.where((row) =>
        beyondPlace(row, '>', [
          ['end_ms', after.endMs],
          ['market_id', after.marketId],
        ]),
      );
    const found = rows.orderBy('end_ms').orderBy('market_id').limit(limit);
    return (await found.execute()).map((row) => ({ marketId: row.market_id, endMs: row.end_ms }));
  }

  /** Rows detected before `beforeMs` without recorded fills, oldest first. */
  async unexecuted(beforeMs: number, limit: number): Promise<AuditRecord[]> {
    const rows = this.#db.selectFrom('audit_rows').select(['audit_id', 'seq']);
    const due = rows.where('executable_ms', 'is', null).where('detected_ms', '<', beforeMs);
    return await this.records(await due.orderBy('detected_ms').limit(limit).execute());
  }

  /** Rows that were written but not recorded as published. */
  async unpublished(limit: number): Promise<AuditRecord[]> {
    const rows = this.#db
      .selectFrom('audit_outbox')
      .innerJoin('audit_rows', 'audit_rows.audit_id', 'audit_outbox.audit_id')
      .select(['audit_rows.audit_id', 'audit_rows.seq']);
    return await this.records(await rows.orderBy('audit_rows.seq').limit(limit).execute());
  }

  #firsts() {
    return this.#db
      .selectFrom('audit_rows')
      .innerJoin('audit_entries', 'audit_entries.seq', 'audit_rows.seq')
      .select('audit_entries.body');
  }

  async #days(filter: AuditFilter, fromMs: number | null): Promise<AuditSums[]> {
    const { ticker, tier, eventType } = filter;
    let query = this.#db
      .selectFrom('audit_days')
      .select(['ticker', 'tier', 'event_type'])
      .select((day) => [
        day.fn.sum('total').as('total'),
        day.fn.sum('resolved').as('resolved'),
        sql<number>`sum(model_ev_nano) / ${NANO}`.as('model_ev'),
        sql<number>`sum(realized_nano) / ${NANO}`.as('realized'),
        day.fn.min('first_ms').as('first_ms'),
        day.fn.max('last_ms').as('last_ms'),
      ]);
    if (ticker !== null) query = query.where('ticker', '=', ticker);
    if (tier !== null) query = query.where('tier', '=', tier);
    if (eventType !== null) query = query.where('event_type', '=', eventType);
    if (fromMs !== null) query = query.where('day_ms', '>=', fromMs);
    return (await query.groupBy(['ticker', 'tier', 'event_type']).execute()).map(sumsOf);
  }

  async #cutDay(filter: AuditFilter, range: { sinceMs: number; beforeMs: number }): Promise<AuditSums[]> {
    const selected = this.#db
      .selectFrom('audit_rows')
      .select(['ticker', 'tier', 'event_type'])
      .select((row) => [
        row.fn.countAll().as('total'),
        row.fn.count('realized').as('resolved'),
        row.fn.sum('model_ev').as('model_ev'),
        sql<number>`coalesce(sum(realized), 0)`.as('realized'),
        row.fn.min('detected_ms').as('first_ms'),
        row.fn.max('detected_ms').as('last_ms'),
      ])
      .where('detected_ms', '>=', range.sinceMs)
      .where('detected_ms', '<', range.beforeMs);
    const rows = await filtered(selected, filter).groupBy(['ticker', 'tier', 'event_type']).execute();
    return rows.map(sumsOf);
  }
}

function knownOf({ body }: { body: string }): KnownDetection {
  const { auditId, marketId, tier, detectedMs, direction } = JSON.parse(body) as DetectedBody;
  return { auditId, marketId, tier, detectedMs, direction };
}

function filtered<O>(
  query: SelectQueryBuilder<Schema, 'audit_rows', O>,
  { ticker, tier, eventType }: AuditFilter,
): SelectQueryBuilder<Schema, 'audit_rows', O> {
  let narrowed = query;
  if (ticker !== null) narrowed = narrowed.where('ticker', '=', ticker);
  if (tier !== null) narrowed = narrowed.where('tier', '=', tier);
  if (eventType !== null) narrowed = narrowed.where('event_type', '=', eventType);
  return narrowed;
}

/** PostgreSQL returns sums and counts of integers as text. */
function sumsOf(row: {
  ticker: Ticker;
  tier: SignalTier;
  event_type: EventType;
  total: unknown;
  resolved: unknown;
  model_ev: unknown;
  realized: unknown;
  first_ms: unknown;
  last_ms: unknown;
}): AuditSums {
  return {
    ...{ ticker: row.ticker, tier: row.tier, eventType: row.event_type },
    ...{ total: Number(row.total), resolved: Number(row.resolved) },
    ...{ modelEv: Number(row.model_ev), realized: Number(row.realized) },
    ...{ firstMs: Number(row.first_ms), lastMs: Number(row.last_ms) },
  };
}
