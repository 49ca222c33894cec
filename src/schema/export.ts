import type { PerpVenueName, UnderlyingSource } from './events.ts';
import type { MarketEventType, MarketTicker, Ticker } from './market.ts';

/** Datasets that can be exported as a file. */
export const EXPORT_DATASETS = [
  'snapshots',
  'quotes',
  'trades',
  'underlying',
  'perp_depth',
  'deltas',
  'markets',
  'gaps',
  'signals',
  'job_trades',
  'job_cells',
] as const;
export type ExportDataset = (typeof EXPORT_DATASETS)[number];
/** Datasets with rows that belong to one market each. */
export type MarketDataset = 'snapshots' | 'deltas' | 'quotes' | 'trades';
/** Datasets with one row per market or gap. */
export type ListDataset = 'markets' | 'gaps';
/** Datasets of the control database. */
export type ControlDataset = 'signals' | JobDataset;
/** Results of jobs: the trades of a backtest, the cells of a sweep. */
export type JobDataset = 'job_trades' | 'job_cells';

/** Whether a dataset is the result of a job. */
export function isJobDataset<D extends string>(dataset: D): dataset is D & JobDataset {
  return dataset === 'job_trades' || dataset === 'job_cells';
}

export const EXPORT_FORMATS = ['jsonl', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The markets of an export: named ones, those of a series, or all. */
export type MarketSelection =
  | { readonly marketIds: readonly string[] }
  | { readonly ticker: MarketTicker; readonly eventType: MarketEventType }
  | 'all';

/** Datasets of the engine. */
export type StoredDataset = Exclude<ExportDataset, ControlDataset>;

/** Signals of markets, or the result of a job. */
export type ControlSubject =
  | { readonly dataset: 'signals'; readonly markets: MarketSelection }
  | { readonly dataset: JobDataset; readonly jobId: string };

/** What to export: rows of markets, of an asset's prices or depth, or of the control database. */
export type ExportSubject = StoredSubject | ControlSubject;

/** The rows that the engine stores. */
export type StoredSubject =
  | { readonly dataset: MarketDataset | ListDataset; readonly markets: MarketSelection }
  | { readonly dataset: 'underlying'; readonly ticker: Ticker; readonly source: UnderlyingSource }
  | { readonly dataset: 'perp_depth'; readonly ticker: Ticker; readonly venue: PerpVenueName };

/** Rows of `[startMs, endMs)` by their own time; null: no bound. */
export interface ExportRange {
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** Only rows with arrival numbers up to this one, and gaps found by then; absent: all. */
  readonly upToSeq?: number;
}

/** Milliseconds after a detection: a fast reader, the venue's taker hold, a slow reader. */
export const EXECUTABLE_AFTER_MS = [50, 250, 500] as const;

/** `levels`: objects of price and size, best first. `pairs`: the same as lists of two numbers. */
type ColumnKind = 'time' | 'text' | 'bool' | 'float' | 'uint' | 'levels' | 'pairs';

export interface ExportColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly nullable: boolean;
  /** Null where the kind or the name already says it. */
  readonly unit: string | null;
}

const of =
  (kind: ColumnKind, nullable: boolean) =>
  (name: string, unit: string | null = null): ExportColumn => ({ name, kind, nullable, unit });
const time = of('time', false);
const maybeTime = of('time', true);
const text = of('text', false);
const maybeText = of('text', true);
const bool = of('bool', false);
const maybeBool = of('bool', true);
const float = of('float', false);
const maybeFloat = of('float', true);
const uint = of('uint', false);
const maybeUint = of('uint', true);
const SHARE_PRICE = 'USDC per share';
const USD = 'USD';
const levels = (name: string) => of('levels', false)(name, `price: ${SHARE_PRICE}; size: shares`);
const price = (name: string) => maybeFloat(name, SHARE_PRICE);

const TIMES = [time('ts', 'UTC'), time('received_at', 'UTC')];
/** `trusted_on_arrival`: before gaps that were detected later. `late`: no live consumer saw the row. */
const ARRIVAL = [uint('seq'), bool('trusted_on_arrival'), bool('late')];
const STATE = [text('market_id'), ...TIMES, bool('trusted'), maybeFloat('underlying_price', USD)];

/** The columns of each dataset, in their order. Files and the hash of a file's rows have exactly these. */
export const EXPORT_COLUMNS: Readonly<Record<ExportDataset, readonly ExportColumn[]>> = {
  snapshots: [...STATE, ...['yes_bids', 'yes_asks', 'no_bids', 'no_asks'].map(levels), ...ARRIVAL],
  deltas: [
    text('market_id'),
    ...TIMES,
    bool('trusted'),
    text('token'),
    text('side'),
    float('price', SHARE_PRICE),
    float('size', 'shares; 0: the level is gone'),
    bool('is_snapshot'),
    uint('seq'),
  ],
  quotes: [
    ...STATE,
    ...['yes_bid', 'yes_ask', 'no_bid', 'no_ask'].map(price),
    bool('yes_changed'),
    ...ARRIVAL,
  ],
  trades: [
    text('market_id'),
    ...TIMES,
    text('side'),
    float('price', SHARE_PRICE),
    float('size', 'shares'),
    text('trade_id'),
    uint('seq'),
  ],
  underlying: [text('ticker'), text('source'), ...TIMES, float('price', USD), uint('seq'), bool('late')],
  perp_depth: [
    text('ticker'),
    text('venue'),
    time('timestamp', 'UTC'),
    uint('update_id'),
    of('pairs', false)('bids', 'price: USD; size: base units'),
    of('pairs', false)('asks', 'price: USD; size: base units'),
    maybeFloat('best_bid', USD),
    maybeFloat('best_ask', USD),
    uint('n_bids'),
    uint('n_asks'),
    time('received_at', 'UTC'),
    maybeTime('engine_time', 'UTC'),
    maybeFloat('round_trip_ms', 'ms'),
    uint('seq'),
  ],
  markets: [
    ...['market_id', 'event_id', 'slug', 'question', 'market_type', 'ticker'].map((name) => text(name)),
    ...['yes_token_id', 'no_token_id', 'status'].map((name) => text(name)),
    time('start_time', 'UTC'),
    time('end_time', 'UTC'),
    maybeFloat('strike_price', USD),
    maybeText('strike_source'),
    maybeFloat('close_price', USD),
    maybeText('outcome'),
    maybeFloat('payout_yes', SHARE_PRICE),
    maybeTime('resolved_at', 'UTC'),
    maybeText('resolved_at_source'),
    maybeFloat('volume', USD),
    maybeFloat('liquidity', USD),
    float('tick_size', SHARE_PRICE),
    maybeFloat('taker_fee_rate', 'fraction'),
    maybeFloat('taker_fee_exponent'),
    maybeFloat('taker_delay_ms', 'ms'),
    maybeText('taker_delay_source'),
    maybeText('strike_basis'),
    maybeTime('strike_known_time', 'UTC'),
    maybeFloat('strike_difference', USD),
    maybeText('close_basis'),
    maybeTime('close_known_time', 'UTC'),
    maybeFloat('close_difference', USD),
    maybeFloat('computed_payout_yes', SHARE_PRICE),
    maybeBool('winner_disagrees'),
    maybeText('resolved_by'),
    maybeTime('confirmed_time', 'UTC'),
    maybeFloat('twap_lookback_seconds', 's'),
    maybeText('deciding_feed'),
    maybeTime('rules_read_time', 'UTC'),
    maybeText('rules_version'),
    maybeTime('recorded_since', 'UTC'),
    uint('seq'),
  ],
  gaps: [
    text('market_id'),
    text('gap_id'),
    time('start', 'UTC'),
    maybeTime('end', 'UTC'),
    maybeTime('start_received', 'UTC'),
    maybeTime('end_received', 'UTC'),
    text('cause'),
    text('feed'),
    maybeText('repaired_by'),
    maybeTime('known_time', 'UTC'),
    maybeUint('known_seq'),
    uint('seq'),
  ],
  signals: [
    text('market_id'),
    text('audit_id'),
    time('detected_at', 'UTC'),
    time('received_at', 'UTC'),
    ...['polymarket_slug', 'ticker', 'event_type', 'tier', 'confidence', 'direction'].map((name) =>
      text(name),
    ),
    ...['fill_price', 'fill_spread', 'est_fee_per_share', 'model_ev_per_share'].map((name) =>
      float(name, SHARE_PRICE),
    ),
    float('model_yes_prob', 'probability'),
    float('available_size', 'shares'),
    maybeFloat('underlying', USD),
    maybeFloat('strike_price', USD),
    maybeText('strike_source'),
    maybeFloat('sigma_annual'),
    float('tau_minutes', 'min'),
    ...EXECUTABLE_AFTER_MS.flatMap((ms) => [
      price(`fill_price_after_${ms}ms`),
      maybeFloat(`size_after_${ms}ms`, 'shares; null: not known yet'),
    ]),
    maybeTime('resolved_at', 'UTC'),
    maybeText('outcome'),
    price('realized_per_share'),
    text('hash'),
    text('prev_hash'),
    uint('seq'),
  ],
  job_trades: [
    text('job_id'),
    text('market_id'),
    text('side'),
    maybeTime('decided_at', 'UTC'),
    time('opened_at', 'UTC'),
    maybeTime('closed_at', 'UTC'),
    price('decision_price'),
    float('entry_price', SHARE_PRICE),
    price('exit_price'),
    float('shares', 'shares'),
    float('size_usd', USD),
    float('fees_usd', USD),
    price('entry_slippage'),
    price('exit_slippage'),
    maybeUint('entry_levels'),
    maybeUint('exit_levels'),
    maybeFloat('net_pnl', USD),
    maybeText('outcome'),
    maybeText('exit_reason'),
  ],
  job_cells: [
    text('job_id'),
    text('x_param'),
    float('x_value'),
    maybeText('y_param'),
    maybeFloat('y_value'),
    uint('trades_total'),
    float('total_pnl', USD),
    maybeFloat('win_rate', 'fraction'),
    maybeFloat('sharpe_per_market'),
    float('max_drawdown', USD),
    maybeFloat('profit_factor'),
    maybeFloat('stressed_pnl', USD),
    maybeText('error'),
  ],
};
