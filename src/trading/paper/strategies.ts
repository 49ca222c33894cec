import type { Kysely, Selectable } from 'kysely';
import { createId, type RowSources } from '../../control/ids.ts';
import { Revision } from '../../control/revision.ts';
import type { Database, Schema } from '../../control/schema.ts';
import type { Universe } from '../../schema/backtest.ts';
import type { Strategy } from '../../schema/strategy.ts';
import type { PaperStrategiesTable } from './schemaPaper.ts';

/** A strategy trades from this long after it was stored: it sees everything received from then on. */
export const ACTIVATION_MS = 1_000;

/** Strategies that a user may have, active or not. */
export const MAX_STRATEGIES_PER_USER = 1_000;

/** Money is whole micro-USD. */
export interface PaperStrategy {
  readonly strategyId: string;
  readonly userId: string;
  readonly name: string;
  readonly strategy: Strategy;
  readonly universe: Universe;
  readonly sizeUsd: number;
  readonly createdMs: number;
  readonly activeFromMs: number;
  /** Null: active. */
  readonly entriesUntilMs: number | null;
  readonly netPnl: number;
  readonly openPositions: number;
  readonly closedPositions: number;
  readonly baselineId: string;
  readonly windowBacktestId: string | null;
}

export interface NewStrategy {
  readonly userId: string;
  readonly name: string;
  readonly strategy: Strategy;
  readonly universe: Universe;
  readonly sizeUsd: number;
  readonly baselineId: string;
}

export type Refusal = 'over_cap' | 'too_many' | 'name_taken' | 'not_found';

/** Changes with every strategy that is created, changed or deleted. */
export const strategiesRevision = new Revision('paper_strategies_revision');

/**
 * Users' strategies. Changes run under the lock of the user's row, so that their checks do not race. All users share the
 * revision's row: it is written last, so that nobody waits for it while its holder waits for something else.
 */
export class StrategyRepository {
  readonly #db: Database;
  readonly #sources: RowSources;

  constructor(db: Database, sources: RowSources) {
    this.#db = db;
    this.#sources = sources;
  }

  /** Why a new strategy would be refused now; null: it would not. */
  refusal(wanted: { userId: string; name: string; cap: number }): Promise<Refusal | null> {
    return refusalOf(this.#db, wanted);
  }

  async create(wanted: NewStrategy & { cap: number }): Promise<PaperStrategy | Refusal> {
    const { clock, randomBytes } = this.#sources;
    return await this.#db.transaction().execute(async (transaction) => {
      await lockUser(transaction, wanted.userId);
      const refusal = await refusalOf(transaction, wanted);
      if (refusal !== null) return refusal;
      const nowMs = clock.now();
      const row = await transaction
        .insertInto('paper_strategies')
        .values({
          ...{ paper_strategy_id: createId('ps', randomBytes), user_id: wanted.userId, name: wanted.name },
          ...{ strategy: JSON.stringify(wanted.strategy), size_usd: wanted.sizeUsd },
          ...{ ticker: wanted.universe.ticker, event_type: wanted.universe.event_type },
          ...{ created_ms: nowMs, active_from_ms: nowMs + ACTIVATION_MS, entries_until_ms: null },
          ...{ net_pnl_micro: 0, open_positions: 0, closed_positions: 0 },
          ...{ baseline_backtest_id: wanted.baselineId, window_backtest_id: null },
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await strategiesRevision.change(transaction, this.#sources);
      return toStrategy(row);
    });
  }

  async update(
    strategyId: string,
    change: { userId: string; active: boolean | null; name: string | null; cap: number },
  ): Promise<PaperStrategy | Refusal> {
    const { userId, active, name, cap } = change;
    return await this.#db.transaction().execute(async (transaction) => {
      await lockUser(transaction, userId);
      const own = () =>
        transaction
          .updateTable('paper_strategies')
          .where('paper_strategy_id', '=', strategyId)
          .where('user_id', '=', userId);
      const stood = await transaction
        .selectFrom('paper_strategies')
        .selectAll()
        .where('paper_strategy_id', '=', strategyId)
        .where('user_id', '=', userId)
        .executeTakeFirst();
      if (stood === undefined) return 'not_found';
      const others = { userId, name: name ?? '', cap, except: strategyId };
      const refusal = await refusalOf(transaction, { ...others, cap: active ? cap : null });
      if (refusal === 'over_cap') return refusal;
      if (name !== null && refusal !== null) return refusal;
      const nowMs = this.#sources.clock.now();
      const set = { ...(name === null ? {} : { name }), ...activity(stood, active, nowMs) };
      if (Object.keys(set).length === 0) return toStrategy(stood);
      const row = await own().set(set).returningAll().executeTakeFirstOrThrow();
      await strategiesRevision.change(transaction, this.#sources);
      return toStrategy(row);
    });
  }

  async find(strategyId: string, { userId }: { userId: string }): Promise<PaperStrategy | null> {
    const row = await this.#db
      .selectFrom('paper_strategies')
      .selectAll()
      .where('paper_strategy_id', '=', strategyId)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    return row ? toStrategy(row) : null;
  }

  /** Oldest first. */
  async list(userId: string): Promise<PaperStrategy[]> {
    const query = this.#db.selectFrom('paper_strategies').selectAll().where('user_id', '=', userId);
    return (await query.orderBy('created_ms').orderBy('paper_strategy_id').execute()).map(toStrategy);
  }

  /** Of all users. */
  async all(): Promise<PaperStrategy[]> {
    return (await this.#db.selectFrom('paper_strategies').selectAll().execute()).map(toStrategy);
  }

  /** Deletes it with its positions. @returns False if the user has no such strategy. */
  async delete(strategyId: string, { userId }: { userId: string }): Promise<boolean> {
    return await this.#db.transaction().execute(async (transaction) => {
      await lockUser(transaction, userId);
      const { numDeletedRows } = await transaction
        .deleteFrom('paper_strategies')
        .where('paper_strategy_id', '=', strategyId)
        .where('user_id', '=', userId)
        .executeTakeFirst();
      if (Number(numDeletedRows) === 0) return false;
      await strategiesRevision.change(transaction, this.#sources);
      return true;
    });
  }

  async setWindowBacktest(strategyId: string, jobId: string): Promise<void> {
    await this.#db
      .updateTable('paper_strategies')
      .set({ window_backtest_id: jobId })
      .where('paper_strategy_id', '=', strategyId)
      .execute();
  }
}

/** Serialises a user's requests, so that two of them do not both count before either has created its strategy. */
async function lockUser(transaction: Kysely<Schema>, userId: string): Promise<void> {
  const owner = transaction.updateTable('users').set((users) => ({ tier: users.ref('tier') }));
  await owner.where('user_id', '=', userId).execute();
}

/** @param cap Active strategies of the user, including the new one; null: the change activates none. */
async function refusalOf(
  db: Kysely<Schema>,
  { userId, name, cap, except = '' }: { userId: string; name: string; cap: number | null; except?: string },
): Promise<Refusal | null> {
  const others = () =>
    db
      .selectFrom('paper_strategies')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('user_id', '=', userId)
      .where('paper_strategy_id', '!=', except);
  const active = await others().where('entries_until_ms', 'is', null).executeTakeFirstOrThrow();
  if (cap !== null && active.count >= cap) return 'over_cap';
  const all = await others().executeTakeFirstOrThrow();
  if (all.count >= MAX_STRATEGIES_PER_USER) return 'too_many';
  const named = await others().where('name', '=', name).executeTakeFirstOrThrow();
  return named.count > 0 ? 'name_taken' : null;
}

function activity(
  stood: Selectable<PaperStrategiesTable>,
  active: boolean | null,
  nowMs: number,
): Partial<Pick<PaperStrategiesTable, 'active_from_ms' | 'entries_until_ms' | 'window_backtest_id'>> {
  const isActive = stood.entries_until_ms === null;
  if (active === null || active === isActive) return {};
  const fromMs = nowMs + ACTIVATION_MS;
  if (!active) return { entries_until_ms: fromMs };
  // A replay of the earlier activation is no longer comparable.
  return { active_from_ms: fromMs, entries_until_ms: null, window_backtest_id: null };
}

function toStrategy(row: Selectable<PaperStrategiesTable>): PaperStrategy {
  return {
    ...{ strategyId: row.paper_strategy_id, userId: row.user_id, name: row.name },
    strategy: JSON.parse(row.strategy) as Strategy,
    universe: { ticker: row.ticker, event_type: row.event_type },
    ...{ sizeUsd: row.size_usd, createdMs: row.created_ms },
    ...{ activeFromMs: row.active_from_ms, entriesUntilMs: row.entries_until_ms },
    ...{ netPnl: row.net_pnl_micro, openPositions: row.open_positions },
    ...{ closedPositions: row.closed_positions, baselineId: row.baseline_backtest_id },
    windowBacktestId: row.window_backtest_id,
  };
}
