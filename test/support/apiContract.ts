import { STUB_JOB } from './stubBacktests.ts';
import { STUB_STRATEGY } from './stubPaper.ts';
import { STUB_MARKET } from './stubStore.ts';

/**
 * Every parameter of every operation according to the interface specification and its contract, written by hand: tests
 * compare the code's declarations with it, and it is never generated from them.
 */
type Kind =
  | { readonly kind: 'integer' | 'number'; readonly ge?: number; readonly le?: number }
  | {
      readonly kind: 'literal';
      readonly values: readonly string[];
      /** Further values, each of which needs another parameter; tests of the operation send it. */
      readonly needing?: readonly string[];
    }
  | { readonly kind: 'event_type' | 'datetime' | 'market' | 'cursor' | 'tickers' | 'event_types' }
  | { readonly kind: 'boolean' | 'job' | 'strategy' | 'unread' };

export type ParameterContract = Kind & {
  /** The default as a request would spell it; absent: no default. */
  readonly absent?: string;
  /** A valid value; the parameter is required. */
  readonly required?: string;
  /** A valid value, for cases where another parameter's test needs one. */
  readonly given?: string;
};

export interface OperationContract {
  /** A valid body. */
  readonly body?: object;
  /** Status of success; 200 unless given. */
  readonly success?: number;
  readonly path?: Readonly<Record<string, ParameterContract>>;
  readonly query?: Readonly<Record<string, ParameterContract>>;
}

export const EVENT_TYPES = ['5m', '15m', '1h', '4h', 'daily_up_down'];

const datetime: ParameterContract = { kind: 'datetime' };
const cursor: ParameterContract = { kind: 'cursor' };
const market: ParameterContract = { kind: 'market', required: STUB_MARKET };
const ticker: ParameterContract = { kind: 'literal', values: ['BTC', 'ETH', 'SOL'] };
const perpVenue: ParameterContract = {
  ...{ kind: 'literal', values: ['bybit', 'binance', 'okx', 'hyperliquid'], absent: 'bybit' },
};
const order: ParameterContract = { kind: 'literal', values: ['asc', 'desc'], absent: 'asc' };
const interval: ParameterContract = { kind: 'integer', ge: 1, le: 86_400_000 };
const offset: ParameterContract = { kind: 'integer', ge: 0, le: Number.MAX_SAFE_INTEGER, absent: '0' };
const eventType: ParameterContract = { kind: 'event_type' };
const limit = (absent: number, le: number): ParameterContract => ({
  ...{ kind: 'integer', ge: 0, le },
  absent: String(absent),
});

const auditWindow: ParameterContract = {
  ...{ kind: 'literal', values: ['1h', '24h', '7d', '30d', 'all'], absent: 'all' },
};

const range = { start: datetime, end: datetime };
const exported = {
  dataset: {
    kind: 'literal',
    values: [
      ...['snapshots', 'quotes', 'trades', 'underlying', 'perp_depth', 'deltas', 'markets', 'gaps'],
      'signals',
    ],
    needing: ['job_trades', 'job_cells'],
    required: 'trades',
  },
  market_id: market,
  ticker: { ...ticker, given: 'BTC' },
  event_type: eventType,
  source: {
    kind: 'literal',
    values: ['binance_spot', 'coinbase_spot', 'chainlink', 'twap60'],
    absent: 'binance_spot',
  },
  // Read for the results of jobs only.
  job_id: { kind: 'unread' },
  ...range,
  format: { kind: 'literal', values: ['jsonl', 'csv', 'parquet'], absent: 'jsonl' },
  venue: perpVenue,
} as const satisfies Record<string, ParameterContract>;
const marketFilters = { ticker, event_type: eventType, since: datetime, until: datetime };

const wait: ParameterContract = { kind: 'boolean', absent: 'false' };
const job: ParameterContract = { kind: 'job', required: STUB_JOB };
const strategy: ParameterContract = { kind: 'strategy', required: STUB_STRATEGY };
const backtest = {
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
};

/** An operation's name in the tables: its path, with the method before it unless that is GET. */
export function operationName({ method, path }: { method: string; path: string }): string {
  return method === 'GET' ? path : `${method} ${path}`;
}

/** Operations by name; parameters in the order in which invalid ones are reported. */
export const CONTRACT: Readonly<Record<string, OperationContract>> = {
  '/health': {},
  '/livez': {},
  '/readyz': {},
  '/metrics': {},
  '/openapi.json': {},
  '/docs': {},
  '/docs/reference': {},
  '/docs/style.css': {},
  '/v1/perp/depth': {
    query: {
      ticker: { ...ticker, required: 'BTC' },
      ...range,
      limit: limit(200, 10_000),
      ...{ offset, order, cursor, venue: perpVenue, interval_ms: interval },
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
      interval_ms: interval,
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
      ...{ order, cursor, interval_ms: interval },
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
  '/v1/export': { query: exported },
  '/v1/export/manifest': { query: exported },
  '/v1/tapes/markets': {
    query: {
      ticker: { ...ticker, required: 'BTC' },
      event_type: { ...eventType, required: '5m' },
      ...range,
      limit: limit(50, 10_000),
    },
  },
  '/v1/tapes': {
    query: {
      dataset: {
        ...{ kind: 'literal', values: ['quotes', 'books', 'trades', 'prices', 'perp_depth'] },
        required: 'trades',
      },
      market_id: market,
      ticker: { ...ticker, given: 'BTC' },
      source: {
        ...{ kind: 'literal', values: ['binance_spot', 'coinbase_spot', 'chainlink', 'twap60'] },
        absent: 'chainlink',
      },
      venue: perpVenue,
      start: { kind: 'datetime', required: '0001-01-01' },
      end: { kind: 'datetime', required: '9999-12-31T23:59:59-23:59' },
      after_seq: { kind: 'integer', ge: 0, le: 9_007_199_254_740_991, absent: '0' },
      to_seq: { kind: 'integer', ge: 0, le: 9_007_199_254_740_991, absent: '9007199254740991' },
      depth: { kind: 'integer', ge: 1, le: 1000, absent: '200' },
    },
  },
  'POST /v1/backtest': { query: { wait_for_result: wait }, body: backtest, success: 201 },
  'POST /v1/backtest/sweep': {
    query: { wait_for_result: wait },
    body: { ...backtest, x_axis: { param: 'threshold', start: 0.1, end: 0.5, steps: 9 } },
    success: 201,
  },
  '/v1/backtest': { query: { limit: limit(20, 100), offset, cursor } },
  '/v1/backtest/{job_id}': { path: { job_id: job } },
  'DELETE /v1/backtest/{job_id}': { path: { job_id: job }, success: 204 },
  'POST /v1/paper/strategies': { body: { ...backtest, name: 'cheap' }, success: 201 },
  '/v1/paper/strategies': {},
  '/v1/paper/strategies/{strategy_id}': { path: { strategy_id: strategy } },
  'PATCH /v1/paper/strategies/{strategy_id}': { path: { strategy_id: strategy }, body: { active: true } },
  'DELETE /v1/paper/strategies/{strategy_id}': { path: { strategy_id: strategy }, success: 204 },
  '/v1/paper/strategies/{strategy_id}/positions': {
    path: { strategy_id: strategy },
    query: { limit: limit(1000, 10_000), cursor },
  },
  '/v1/paper/strategies/{strategy_id}/equity': { path: { strategy_id: strategy } },
  '/v1/paper/strategies/{strategy_id}/divergence': { path: { strategy_id: strategy } },
  'POST /v1/paper/strategies/{strategy_id}/divergence': { path: { strategy_id: strategy }, success: 201 },
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
  '/v1/arb/live': {
    query: {
      min_edge_pp: { kind: 'number', ge: 0, le: 0.5, absent: '0.04' },
      vol_window_sec: { kind: 'integer', ge: 60, le: 3600, absent: '600' },
      tickers: { kind: 'tickers', absent: 'BTC,ETH,SOL' },
      event_types: { kind: 'event_types', absent: EVENT_TYPES.join(',') },
      limit: { kind: 'integer', ge: 1, le: 200, absent: '50' },
    },
  },
  '/v1/arb/audit/aggregate': { query: { window: auditWindow } },
  '/v1/arb/audit': {
    query: {
      window: auditWindow,
      ticker,
      tier: { kind: 'literal', values: ['logical', 'endgame', 'stable', 'stale'] },
      event_type: eventType,
      limit: limit(100, 1000),
      cursor,
    },
  },
};
