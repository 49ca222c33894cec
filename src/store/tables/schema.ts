/**
 * The only definition of the tables of the time-series store: their statements (`statements.ts`) and the writer's columns
 * are derived from it.
 */

export const DATABASE = 'underround';

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly codec?: string;
  /** Filled by the engine; the writer does not send it. */
  readonly defaultExpression?: string;
  /**
   * Number of the migration (`migrations.ts`) that adds the column to a table of an earlier release; absent: the table had
   * it from the start. Old rows read null, or false, there.
   */
  readonly added?: number;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly ColumnDefinition[];
  /** Begins with the market or the ticker: its hash decides the shard of a cluster. */
  readonly orderBy: readonly [string, ...string[]];
  /** Set where the newest row of a key replaces the others; such tables are not partitioned. */
  readonly replacingBy: string | null;
}

/** Rows share most of their bits with the previous row, so the difference is compressed. */
const RISING = 'Delta(8), ZSTD(1)';
/** Neighbouring ladders repeat whole arrays; delta codecs destroy those repeats (measured: 40 against 57 bytes a row). */
const LADDER = 'ZSTD(1)';
const TIME = "DateTime64(3, 'UTC')";

const time = (name: string): ColumnDefinition => ({ name, type: TIME, codec: RISING });
const seq: ColumnDefinition = { name: 'seq', type: 'UInt64', codec: RISING };
const low = (name: string): ColumnDefinition => ({ name, type: 'LowCardinality(String)' });
const of =
  (type: string, codec?: string) =>
  (name: string): ColumnDefinition => ({ name, type, ...(codec ? { codec } : {}) });
const text = of('String');
const flag = of('Bool');
/**
 * Set for a row that several collectors delivered after newer ones: no live consumer saw it. Readers by time include it
 * at its venue time; readers in the order of arrival leave it out.
 */
const late = (added: number): ColumnDefinition => ({ ...flag('late'), added });
const maybeFloat = of('Nullable(Float64)', 'ZSTD(1)');
const maybeTick = of('Nullable(UInt16)', 'ZSTD(1)');

const LADDER_SIDES = ['yes_bid', 'yes_ask', 'no_bid', 'no_ask'] as const;
const ladder = (suffix: string, type: string): ColumnDefinition[] =>
  LADDER_SIDES.map((side) => of(`Array(${type})`, LADDER)(`${side}_${suffix}`));

/**
 * One row per book change with the complete ladders, best first. Prices are ticks of 1/10000 USDC. Sizes are 1/100
 * share (`_sz`). Rows with sizes too large or too fine for that are `wide`: their sizes are shares (`_szw`). The unused
 * arrays are empty. NO arrays are empty while NO is the exact mirror of YES.
 */
const books: Table = {
  name: 'books',
  columns: [
    low('market_id'),
    time('ts'),
    seq,
    time('received'),
    { ...time('stored'), defaultExpression: 'now64(3)' },
    flag('trusted'),
    flag('mirrored'),
    maybeFloat('underlying'),
    flag('wide'),
    ...ladder('px', 'UInt16'),
    ...ladder('sz', 'UInt32'),
    ...ladder('szw', 'Float64'),
    late(10),
  ],
  orderBy: ['market_id', 'ts', 'seq'],
  replacingBy: null,
};

const quotes: Table = {
  name: 'quotes',
  columns: [
    low('market_id'),
    time('ts'),
    seq,
    time('received'),
    ...LADDER_SIDES.map(maybeTick),
    flag('yes_changed'),
    flag('trusted'),
    maybeFloat('underlying'),
    late(11),
  ],
  orderBy: ['market_id', 'ts', 'seq'],
  replacingBy: null,
};

const trades: Table = {
  name: 'trades',
  columns: [
    low('market_id'),
    time('ts'),
    seq,
    time('received'),
    low('side'),
    of('UInt16', 'ZSTD(1)')('price'),
    of('UInt64', 'ZSTD(1)')('size'),
    text('trade_id'),
    late(13),
  ],
  orderBy: ['market_id', 'ts', 'seq'],
  replacingBy: null,
};

const underlying: Table = {
  name: 'underlying',
  columns: [
    low('ticker'),
    low('source'),
    time('ts'),
    seq,
    time('received'),
    of('Float64', 'ZSTD(1)')('price'),
    late(12),
  ],
  orderBy: ['ticker', 'source', 'ts', 'seq'],
  replacingBy: null,
};

const maybeTime = of(`Nullable(${TIME})`);
const maybeLow = of('LowCardinality(Nullable(String))');

/** The venue's decimals, kept exactly; JSON prints them as plain numbers. */
const perpDepth: Table = {
  name: 'perp_depth',
  columns: [
    low('ticker'),
    time('ts'),
    seq,
    time('received'),
    of(`Nullable(${TIME})`, 'ZSTD(1)')('engine_ts'),
    of('Nullable(Float32)', 'ZSTD(1)')('round_trip_ms'),
    of('UInt64', RISING)('update_id'),
    ...['bid_px', 'bid_sz', 'ask_px', 'ask_sz'].map(of('Array(Decimal(18, 8))', LADDER)),
    // Null in rows of releases that recorded Bybit alone.
    { ...maybeLow('venue'), added: 8 },
  ],
  orderBy: ['ticker', 'ts', 'seq'],
  replacingBy: null,
};

const settlement: ColumnDefinition[] = [
  maybeLow('strike_basis'),
  maybeTime('strike_known_time'),
  of('Nullable(Float64)')('strike_difference'),
  maybeLow('close_basis'),
  maybeTime('close_known_time'),
  of('Nullable(Float64)')('close_difference'),
  of('Nullable(Float64)')('computed_payout_yes'),
  of('Nullable(Bool)')('winner_disagrees'),
  maybeLow('resolved_by'),
  maybeTime('confirmed_time'),
  of('Nullable(Float64)')('twap_lookback_seconds'),
  maybeTime('rules_read_time'),
  maybeLow('rules_version'),
];

const markets: Table = {
  name: 'markets',
  columns: [
    text('market_id'),
    text('event_id'),
    text('slug'),
    text('question'),
    low('event_type'),
    low('ticker'),
    text('yes_token_id'),
    text('no_token_id'),
    low('status'),
    of(TIME)('start_time'),
    of(TIME)('end_time'),
    of('Nullable(Float64)')('strike_price'),
    of('LowCardinality(Nullable(String))')('strike_source'),
    of('Nullable(Float64)')('close_price'),
    of('LowCardinality(Nullable(String))')('outcome'),
    of('Nullable(Float64)')('payout_yes'),
    maybeTime('resolved_time'),
    of('Nullable(Float64)')('volume'),
    of('Nullable(Float64)')('liquidity'),
    of('UInt16')('tick_size'),
    of('Nullable(Float64)')('taker_fee_rate'),
    of('Nullable(Float64)')('taker_fee_exponent'),
    of('Nullable(Float64)')('taker_delay_ms'),
    of('UInt64')('seq'),
    ...settlement.map((column): ColumnDefinition => ({ ...column, added: 3 })),
    { ...maybeTime('recorded_since'), added: 4 },
    { ...maybeLow('resolved_time_source'), added: 7 },
    { ...maybeLow('deciding_feed'), added: 9 },
    { ...maybeLow('taker_delay_source'), added: 9 },
  ],
  orderBy: ['market_id'],
  replacingBy: 'seq',
};

const gaps: Table = {
  name: 'gaps',
  columns: [
    text('market_id'),
    text('gap_id'),
    of(TIME)('start_time'),
    maybeTime('end_time'),
    low('cause'),
    low('feed'),
    of('Nullable(String)')('repaired_by'),
    of('UInt64')('seq'),
    { ...maybeTime('known_time'), added: 5 },
    { ...of('Nullable(UInt64)')('known_seq'), added: 5 },
    { ...maybeTime('start_received'), added: 6 },
    { ...maybeTime('end_received'), added: 6 },
  ],
  orderBy: ['market_id', 'gap_id'],
  replacingBy: 'seq',
};

export const TABLES = { books, quotes, trades, underlying, perp_depth: perpDepth, markets, gaps } as const;
export type TableName = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

/** The columns that the writer sends, in the order of its bytes. */
export function writtenColumns(table: Table): ColumnDefinition[] {
  return table.columns.filter((column) => column.defaultExpression === undefined);
}

/** `books (market_id, ts, ...)`: the text after INSERT INTO. */
export function insertTarget(table: Table): string {
  const names = writtenColumns(table).map((column) => column.name);
  return `${DATABASE}.${table.name} (${names.join(', ')})`;
}
