import { hash } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import { beyondPlace } from '../../control/keyset.ts';
import type { Database, Schema } from '../../control/schema.ts';
import type { Trade } from '../../core/session/position.ts';
import type { SessionState } from '../live/paperSession.ts';
import type { ResolutionMove } from '../live/resolutionCache.ts';
import type { KnownSession } from '../live/sessionFactory.ts';
import type { PaperPositionsTable } from './schemaPaper.ts';

const ID_LENGTH = 24;

export type PositionRow = Selectable<PaperPositionsTable>;

export function positionRows({ strategyId, marketId, fromMs, outcome, trades }: SessionState): PositionRow[] {
  return trades.map((trade) => ({
    position_id: positionId(strategyId, marketId, trade.openedMs),
    ...{ paper_strategy_id: strategyId, market_id: marketId, token: trade.token },
    ...{ session_from_ms: fromMs, decided_ms: trade.decidedMs, opened_ms: trade.openedMs },
    ...{ closed_ms: trade.closedMs, size: trade.size, entry_price: trade.entryPrice },
    ...{ exit_price: trade.exitPrice, exit_reason: trade.exitReason, outcome },
    ...{ principal_micro: trade.principal, fees_micro: trade.fees, slippage: trade.entrySlippage },
    ...{ decision_price: trade.decisionPrice, exit_slippage: trade.exitSlippage },
    ...{ entry_levels: trade.entryLevels, exit_levels: trade.exitLevels },
    pnl_micro: trade.pnl,
  }));
}

/** The trade that a row was made from. */
export function tradeOf(row: PositionRow): Trade {
  return {
    ...{ token: row.token, decidedMs: row.decided_ms, openedMs: row.opened_ms, closedMs: row.closed_ms },
    ...{ size: row.size, entryPrice: row.entry_price, exitPrice: row.exit_price },
    ...{ exitReason: row.exit_reason, principal: row.principal_micro, fees: row.fees_micro },
    ...{ entrySlippage: row.slippage, exitSlippage: row.exit_slippage, decisionPrice: row.decision_price },
    ...{ entryLevels: row.entry_levels, exitLevels: row.exit_levels, pnl: row.pnl_micro },
  };
}

/** A strategy opens at most one position per market at a time, so a restart derives the same id. */
function positionId(strategyId: string, marketId: string, openedMs: number): string {
  return `pos_${hash('sha256', `${strategyId} ${marketId} ${openedMs}`, 'hex').slice(0, ID_LENGTH)}`;
}

/**
 * Makes the table match the session, and moves its strategy's sums by the difference, in one transaction. Repeating it
 * changes nothing.
 */
export async function writeSession(transaction: Kysely<Schema>, state: SessionState): Promise<void> {
  const { strategyId, marketId } = state;
  // Locks the row, so that concurrent writes for two markets both reach the sums.
  const strategy = await transaction
    .updateTable('paper_strategies')
    .set((own) => ({ net_pnl_micro: own.ref('net_pnl_micro') }))
    .where('paper_strategy_id', '=', strategyId)
    .executeTakeFirst();
  // The strategy was deleted meanwhile, with its positions.
  if (Number(strategy.numUpdatedRows) === 0) return;
  const stood = await transaction
    .selectFrom('paper_positions')
    .selectAll()
    .where('paper_strategy_id', '=', strategyId)
    .where('market_id', '=', marketId)
    .execute();
  const rows = positionRows(state);
  const ids = new Set(rows.map((row) => row.position_id));
  for (const { position_id } of stood.filter((row) => !ids.has(row.position_id))) {
    await transaction.deleteFrom('paper_positions').where('position_id', '=', position_id).execute();
  }
  for (const row of rows) {
    await transaction
      .insertInto('paper_positions')
      .values(row)
      .onConflict((conflict) => conflict.column('position_id').doUpdateSet(row))
      .execute();
  }
  const [before, after] = [sumsOf(stood), sumsOf(rows)];
  await transaction
    .updateTable('paper_strategies')
    .set((own) => ({
      net_pnl_micro: own('net_pnl_micro', '+', after.pnl - before.pnl),
      open_positions: own('open_positions', '+', after.open - before.open),
      closed_positions: own('closed_positions', '+', after.closed - before.closed),
    }))
    .where('paper_strategy_id', '=', strategyId)
    .execute();
}

/** Moves the resolution time of positions that were paid out; the amount stays. */
export async function updateResolutionTime(
  transaction: Kysely<Schema>,
  { marketId, outcome, resolvedTimeMs }: ResolutionMove,
): Promise<void> {
  await transaction
    .updateTable('paper_positions')
    .set({ closed_ms: resolvedTimeMs, outcome })
    .where('market_id', '=', marketId)
    .where('exit_reason', 'in', ['resolved', 'market_void'])
    .execute();
  // Positions sold before the resolution get the outcome too.
  await transaction
    .updateTable('paper_positions')
    .set({ outcome })
    .where('market_id', '=', marketId)
    .execute();
}

interface PositionSums {
  readonly pnl: number;
  readonly open: number;
  readonly closed: number;
}

export function sumsOf(rows: readonly Pick<PositionRow, 'closed_ms' | 'pnl_micro'>[]): PositionSums {
  const closed = rows.filter(({ closed_ms }) => closed_ms !== null);
  return {
    pnl: closed.reduce((sum, { pnl_micro }) => sum + (pnl_micro ?? 0), 0),
    open: rows.length - closed.length,
    closed: closed.length,
  };
}

export interface ClosedPosition extends Pick<PositionRow, 'position_id' | 'pnl_micro'> {
  readonly closed_ms: number;
}

export interface PositionPlace {
  readonly openedMs: number;
  readonly positionId: string;
}

/** Reads positions for the API and the runner. */
export class PositionReader {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** In opening order. */
  async list(
    strategyId: string,
    page: { after: PositionPlace | null; limit: number },
  ): Promise<PositionRow[]> {
    return await this.#page(strategyId, page).execute();
  }

  async count(strategyId: string): Promise<number> {
    const counted = this.#db
      .selectFrom('paper_positions')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('paper_strategy_id', '=', strategyId);
    return (await counted.executeTakeFirstOrThrow()).count;
  }

  /** Opened in a range, oldest first; at most `limit`. */
  async between(
    strategyId: string,
    range: { startMs: number; endMs: number; after: PositionPlace | null; limit: number },
  ): Promise<PositionRow[]> {
    const query = this.#page(strategyId, range);
    return await query.where('opened_ms', '>=', range.startMs).where('opened_ms', '<', range.endMs).execute();
  }

  /** In closing order. @param after The last one of the page before; null: from the first. */
  async closed(
    strategyId: string,
    { after, limit }: { after: ClosedPosition | null; limit: number },
  ): Promise<ClosedPosition[]> {
    let query = this.#db
      .selectFrom('paper_positions')
      .select(['position_id', 'closed_ms', 'pnl_micro'])
      .where('paper_strategy_id', '=', strategyId)
      .where('closed_ms', 'is not', null)
      .orderBy('closed_ms')
      .orderBy('position_id')
      .limit(limit);
    if (after !== null) {
      const place = [
        ['closed_ms', after.closed_ms],
        ['position_id', after.position_id],
      ] as const;
      query = query.where((row) => beyondPlace(row, '>', place));
    }
    return (await query.execute()) as ClosedPosition[];
  }

  #page(strategyId: string, { after, limit }: { after: PositionPlace | null; limit: number }) {
    const query = this.#db
      .selectFrom('paper_positions')
      .selectAll()
      .where('paper_strategy_id', '=', strategyId)
      .orderBy('opened_ms')
      .orderBy('position_id')
      .limit(limit);
    if (after === null) return query;
    const place = [
      ['opened_ms', after.openedMs],
      ['position_id', after.positionId],
    ] as const;
    return query.where((row) => beyondPlace(row, '>', place));
  }

  /** Markets with open positions. */
  async heldMarkets(): Promise<string[]> {
    const held = this.#db.selectFrom('paper_positions').select('market_id').distinct();
    return (await held.where('closed_ms', 'is', null).execute()).map((row) => row.market_id);
  }

  /** The sessions that traded in a market. */
  async sessionsOf(marketId: string): Promise<KnownSession[]> {
    const rows = await this.#db
      .selectFrom('paper_positions')
      .select('paper_strategy_id')
      .select((row) => [
        row.fn.min('session_from_ms').as('from_ms'),
        row.fn.max('decided_ms').as('last_decided_ms'),
      ])
      .where('market_id', '=', marketId)
      .groupBy('paper_strategy_id')
      .execute();
    return rows.map((row) => ({
      strategyId: row.paper_strategy_id,
      fromMs: row.from_ms,
      lastDecidedMs: row.last_decided_ms,
    }));
  }
}
