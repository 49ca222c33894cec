import { STUB_MARKET } from './stubStore.ts';

/**
 * Every parameter of every operation as the interface specification and its contract state them, written down by
 * hand: what the code declares is held against this, never made from it.
 */
export type Kind =
  | { readonly kind: 'integer' | 'number'; readonly ge?: number; readonly le?: number }
  | { readonly kind: 'literal'; readonly values: readonly string[] }
  | { readonly kind: 'event_type' | 'datetime' | 'market' | 'cursor' };

export type ParameterContract = Kind & {
  /** Spelled as a request would; none: left out means nothing is asked. */
  readonly absent?: string;
  /** A value that works; the parameter must be there. */
  readonly required?: string;
};

export interface OperationContract {
  readonly path?: Readonly<Record<string, ParameterContract>>;
  readonly query?: Readonly<Record<string, ParameterContract>>;
}

export const EVENT_TYPES = ['5m', '15m', '1h', '4h', 'daily_up_down'];

const datetime: ParameterContract = { kind: 'datetime' };
const cursor: ParameterContract = { kind: 'cursor' };
const market: ParameterContract = { kind: 'market', required: STUB_MARKET };
const ticker: ParameterContract = { kind: 'literal', values: ['BTC', 'ETH', 'SOL'] };
const order: ParameterContract = { kind: 'literal', values: ['asc', 'desc'], absent: 'asc' };
const offset: ParameterContract = { kind: 'integer', ge: 0, absent: '0' };
const eventType: ParameterContract = { kind: 'event_type' };
const limit = (absent: number, le: number): ParameterContract => ({
  ...{ kind: 'integer', ge: 0, le },
  absent: String(absent),
});

const range = { start: datetime, end: datetime };
const marketFilters = { ticker, event_type: eventType, since: datetime, until: datetime };

/** By path; parameters in the order in which failing ones are reported. */
export const CONTRACT: Readonly<Record<string, OperationContract>> = {
  '/health': {},
  '/livez': {},
  '/readyz': {},
  '/metrics': {},
  '/openapi.json': {},
  '/docs': {},
  '/docs/style.css': {},
  '/v1/perp/depth': {
    query: {
      ticker: { ...ticker, required: 'BTC' },
      ...range,
      limit: limit(200, 10_000),
      ...{ offset, order, cursor },
    },
  },
  '/v1/markets': {
    query: {
      ...marketFilters,
      limit: limit(100, 1000),
      cursor,
      status: { kind: 'literal', values: ['open', 'closed', 'resolved'] },
    },
  },
  '/v1/markets/resolved': { query: { ...marketFilters, limit: limit(100, 1000), cursor } },
  '/v1/markets/{market_id}': { path: { market_id: market } },
  '/v1/markets/{market_id}/timeseries': {
    path: { market_id: market },
    query: { ...range, limit: limit(100, 10_000), offset, order, cursor },
  },
  '/v1/markets/{market_id}/orderbook': { path: { market_id: market }, query: { at: datetime } },
  '/v1/snapshots': {
    query: {
      market_id: market,
      ...range,
      limit: limit(10_000, 100_000),
      depth: { kind: 'integer', ge: 1, le: 1000 },
      interval_ms: { kind: 'integer', ge: 1, le: 86_400_000 },
      ...{ order, cursor },
    },
  },
  '/v1/snapshot-at/{ts}': {
    path: { ts: { kind: 'datetime', required: '2026-11-20T12:00:00Z' } },
    query: { market_id: market },
  },
  '/v1/trades': { query: { market_id: market, ...range, limit: limit(1000, 10_000), order, cursor } },
  '/v1/underlying': {
    query: {
      ticker: { ...ticker, required: 'BTC' },
      source: {
        ...{ kind: 'literal', values: ['binance_spot', 'coinbase_spot', 'chainlink', 'twap60'] },
        required: 'chainlink',
      },
      ...range,
      limit: limit(1000, 10_000),
      ...{ order, cursor },
    },
  },
  '/v1/candles': {
    query: {
      market_id: market,
      timeframe: { kind: 'literal', values: ['5m', '15m', '1h', '4h', '24h'], required: '5m' },
      start: { kind: 'datetime', required: '0001-01-01' },
      end: { kind: 'datetime', required: '9999-12-31T23:59:59-23:59' },
      limit: limit(1000, 10_000),
      cursor,
    },
  },
  '/v1/gaps': { query: { market_id: market, ...range, limit: limit(100, 1000), cursor } },
  '/v1/stats/calibration': {
    query: {
      ticker,
      event_type: eventType,
      minutes_before: { kind: 'number', ge: 0, le: 1440, absent: '1' },
      since: datetime,
      until: datetime,
      buckets: { kind: 'integer', ge: 2, le: 50, absent: '10' },
      max_markets: { kind: 'integer', ge: 10, le: 10_000, absent: '2000' },
    },
  },
};
