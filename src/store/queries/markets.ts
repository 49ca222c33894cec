import type { MarketBody } from '../../schema/api/resources.ts';
import { type Market, type MarketStatus, UNKNOWN } from '../../schema/market.ts';
import type { StoreReader } from '../reader.ts';
import { COVERAGE, COVERAGE_TERMS, JOIN_COVERAGE, WITH_COVERAGE_OF_ONE } from './coverage.ts';
import { ownTakerDelay } from './resume.ts';
import { isoTime, rangeConditions, timeParam, where } from './sql.ts';

/** URL prefix of a market's page at the venue. */
export const EVENT_URL = 'https://polymarket.com/event/';

const MARKET_COLUMNS = `
  t.market_id AS market_id, t.event_id AS event_id, t.slug AS slug, t.question AS question,
  t.event_type AS market_type, t.ticker AS ticker, t.status AS status,
  ${isoTime('t.start_time')} AS start_time, ${isoTime('t.end_time')} AS end_time,
  t.strike_price AS strike_price, t.strike_source AS strike_source, t.close_price AS close_price,
  t.outcome AS outcome, t.payout_yes AS payout_yes, ${COVERAGE} AS coverage,
  ${isoTime('t.resolved_time')} AS resolved_at, t.resolved_time_source AS resolved_at_source,
  t.volume AS volume, t.liquidity AS liquidity,
  t.tick_size / 10000 AS tick_size, t.taker_fee_rate AS taker_fee_rate,
  ${ownTakerDelay('t.')} AS taker_delay_ms,
  if(t.slug = '${UNKNOWN}', NULL, concat('${EVENT_URL}', t.slug)) AS polymarket_url`;

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

/** Newest end first; at most `limit` rows. Records change while a list is read, so one query reads them all. */
export async function listMarkets(
  store: StoreReader,
  query: MarketQuery,
  signal: AbortSignal,
): Promise<MarketBody[]> {
  const { conditions, params } = filterOf(query);
  const { limit, after } = query;
  if (after) {
    conditions.push(`(t.end_time, t.market_id) < (${timeParam('after_ms')}, {after_id:String})`);
    Object.assign(params, { after_ms: after.endTimeMs, after_id: after.marketId });
  }
  const order = 'ORDER BY t.end_time DESC, t.market_id DESC';
  return await store.rows<MarketBody>(
    `WITH page AS (SELECT t.* FROM markets AS t FINAL ${where(conditions)} ${order} LIMIT {limit:UInt32}),
     ${COVERAGE_TERMS}
     SELECT ${MARKET_COLUMNS} FROM page AS t ${JOIN_COVERAGE} ${order}`,
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

export async function findMarket(
  store: StoreReader,
  marketId: string,
  // Passed on unread: a store that answers from memory needs no signal, and creating one costs as much as the answer.
  options: { readonly signal: AbortSignal },
): Promise<MarketBody | null> {
  const [row] = await store.rows<MarketBody>(
    `${WITH_COVERAGE_OF_ONE} SELECT ${MARKET_COLUMNS} FROM markets AS t FINAL WHERE t.market_id = {market_id:String}`,
    { market_id: marketId },
    options,
  );
  return row ?? null;
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
