import type { Market, MarketStatus } from '../../schema/market.ts';
import type { StoreReader } from '../reader.ts';
import { maybeMs, rangeConditions, timeParam, where } from './sql.ts';

/**
 * A market's own taker delay. Earlier releases stored the table's value without a source, and 0 only where the exchange
 * said that there is no delay.
 */
export const ownTakerDelay = (prefix: '' | 't.') =>
  `if(isNull(${prefix}taker_delay_source) AND ${prefix}taker_delay_ms != 0, NULL, ${prefix}taker_delay_ms)`;

const SETTLEMENT_FIELDS = `strike_basis AS strikeBasis, ${maybeMs('strike_known_time', 'strikeKnownTimeMs')},
  strike_difference AS strikeDifference, close_basis AS closeBasis, ${maybeMs('close_known_time', 'closeKnownTimeMs')},
  close_difference AS closeDifference, computed_payout_yes AS computedPayoutYes, winner_disagrees AS winnerDisagrees,
  resolved_by AS resolvedBy, resolved_time_source AS resolvedTimeSource,
  ${maybeMs('confirmed_time', 'confirmedTimeMs')},
  twap_lookback_seconds AS twapLookbackSeconds, deciding_feed AS decidingFeed,
  taker_delay_source AS takerDelaySource, ${maybeMs('rules_read_time', 'rulesReadTimeMs')},
  rules_version AS rulesVersion`;

/** The columns of the table `markets` from which a `Market` is read. */
export const MARKET_FIELDS = `market_id AS marketId, event_id AS eventId, slug, question, event_type AS eventType, ticker,
  yes_token_id AS yesTokenId, no_token_id AS noTokenId, status,
  toUnixTimestamp64Milli(start_time) AS startTimeMs, toUnixTimestamp64Milli(end_time) AS endTimeMs,
  strike_price AS strikePrice, strike_source AS strikeSource, close_price AS closePrice, outcome,
  payout_yes AS payoutYes, ${maybeMs('resolved_time', 'resolvedTimeMs')},
  volume, liquidity, tick_size AS tickSize, taker_fee_rate AS takerFeeRate,
  taker_fee_exponent AS takerFeeExponent, ${ownTakerDelay('')} AS takerDelayMs, ${SETTLEMENT_FIELDS},
  ${maybeMs('recorded_since', 'recordedSinceMs')}`;

/** Made once, because it is part of every small request. */
const ONE_MARKET = `SELECT ${MARKET_FIELDS} FROM markets FINAL WHERE market_id = {marketId:String}`;

/** The newest record of every market, or of those that end after `endAfterMs`, by end time. */
export function loadMarkets(reader: StoreReader, options: { endAfterMs?: number } = {}): Promise<Market[]> {
  const endAfterMs = options.endAfterMs ?? null;
  return reader.rows<Market>(
    `SELECT ${MARKET_FIELDS} FROM markets FINAL
     WHERE isNull({endAfterMs:Nullable(Int64)})
        OR end_time > fromUnixTimestamp64Milli(assumeNotNull({endAfterMs:Nullable(Int64)}))
     ORDER BY end_time, market_id`,
    { endAfterMs },
  );
}

/**
 * The newest record of one market; null without one.
 * @param options Passed on unread: a store that answers from memory needs no signal, and creating one costs as much as
 * the answer.
 */
export async function loadMarket(
  reader: StoreReader,
  marketId: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Market | null> {
  const [market] = await reader.rows<Market>(ONE_MARKET, { marketId }, options);
  return market ?? null;
}

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
