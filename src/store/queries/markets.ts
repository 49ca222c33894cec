import type { Market, MarketStatus } from '../../schema/market.ts';
import type { StoreReader } from '../reader.ts';
import { MARKET_FIELDS } from './resume.ts';
import { rangeConditions, timeParam, where } from './sql.ts';

export interface MarketFilter {
  readonly ticker: string | null;
  readonly eventType: string | null;
  readonly status: MarketStatus | null;
  /** Filters by the window's end: since <= end < until. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** Ids of markets to exclude. */
  readonly except?: readonly string[];
}

export interface MarketPosition {
  readonly endTimeMs: number;
  readonly marketId: string;
}

/** Parameters of a market list; `after` is the last market already returned. */
export interface MarketQuery extends MarketFilter {
  readonly limit: number;
  readonly after: MarketPosition | null;
}

/** Newest end first; at most `limit` records. Records change while a list is read, so one query reads them all. */
export async function listMarkets(
  store: StoreReader,
  query: MarketQuery,
  signal: AbortSignal,
): Promise<Market[]> {
  const { conditions, params } = filterOf(query);
  const { limit, after } = query;
  if (after) {
    conditions.push(`(t.end_time, t.market_id) < (${timeParam('after_ms')}, {after_id:String})`);
    Object.assign(params, { after_ms: after.endTimeMs, after_id: after.marketId });
  }
  return await store.rows<Market>(
    `SELECT ${MARKET_FIELDS} FROM markets AS t FINAL ${where(conditions)}
     ORDER BY t.end_time DESC, t.market_id DESC LIMIT {limit:UInt32}`,
    { ...params, limit },
    { signal },
  );
}

export async function countMarkets(
  store: StoreReader,
  filter: MarketFilter,
  signal: AbortSignal,
): Promise<number> {
  const { conditions, params } = filterOf(filter);
  const [row] = await store.rows<{ total: number }>(
    `SELECT toUInt32(count()) AS total FROM markets AS t FINAL ${where(conditions)}`,
    params,
    { signal },
  );
  return row?.total ?? 0;
}

/** Finds whether a market exists, with the two fields that other answers quote. */
export async function findMarketKey(
  store: StoreReader,
  marketId: string,
  signal: AbortSignal,
): Promise<Pick<Market, 'marketId' | 'eventType' | 'ticker'> | null> {
  const [row] = await store.rows<Pick<Market, 'marketId' | 'eventType' | 'ticker'>>(
    // Neither field ever changes, so any version of the record is correct.
    `SELECT t.market_id AS marketId, t.event_type AS eventType, t.ticker AS ticker
     FROM markets AS t WHERE t.market_id = {market_id:String} ORDER BY t.seq DESC LIMIT 1`,
    { market_id: marketId },
    { signal },
  );
  return row ?? null;
}

function filterOf({ ticker, eventType, status, sinceMs, untilMs, except = [] }: MarketFilter): {
  conditions: string[];
  params: Record<string, string | number | readonly string[]>;
} {
  const range = rangeConditions('t.end_time', { startMs: sinceMs, endMs: untilMs });
  const conditions = [...range.conditions];
  const params: Record<string, string | number | readonly string[]> = { ...range.params };
  if (except.length > 0) {
    conditions.push('t.market_id NOT IN {except:Array(String)}');
    params.except = except;
  }
  for (const [name, value] of Object.entries({ ticker, event_type: eventType, status })) {
    if (value === null) continue;
    conditions.push(`t.${name} = {${name}:String}`);
    params[name] = value;
  }
  return { conditions, params };
}
