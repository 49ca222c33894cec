/** The engine's expressions for the columns of exports, and how each format prints them. */
import { EXPORT_COLUMNS, type ExportColumn, type StoredDataset } from '../../schema/export.ts';
import { levels } from './ladders.ts';
import { ownTakerDelay } from './markets.ts';
import { isoTime } from './sql.ts';

const TIME = "DateTime64(3, 'UTC')";
/** Engine type of each kind of column: of a Parquet file, and of the bytes of a row that are hashed. */
const TYPES: Readonly<Record<ExportColumn['kind'], string>> = {
  time: TIME,
  text: 'String',
  bool: 'Bool',
  float: 'Float64',
  uint: 'UInt64',
  levels: 'Array(Tuple(price Float64, size Float64))',
  pairs: 'Array(Array(Float64))',
};

const price = (column: string) => `if(isNull(${column}), NULL, assumeNotNull(${column}) / 10000)`;
const pairs = (side: string) =>
  `arrayMap((p, s) -> [toFloat64(p), toFloat64(s)], t.${side}_px, t.${side}_sz)`;
const best = (side: string) => `if(empty(t.${side}_px), NULL, toFloat64(t.${side}_px[1]))`;

/** Stands for the trust of the rows, which the caller names. */
const TRUST = '{trust}';

/** Columns whose expression is not the stored column of the same name. */
const COMMON: Readonly<Record<string, string>> = {
  received_at: 't.received',
  trusted: TRUST,
  trusted_on_arrival: 't.trusted',
  underlying_price: 't.underlying',
};
const EXPRESSIONS: Readonly<Record<StoredDataset, Readonly<Record<string, string>>>> = {
  snapshots: {
    ...COMMON,
    yes_bids: levels('yes_bid'),
    yes_asks: levels('yes_ask'),
    no_bids: levels('no_bid'),
    no_asks: levels('no_ask'),
  },
  // The statement computes them before the columns are printed.
  deltas: {},
  quotes: {
    ...COMMON,
    yes_bid: price('t.yes_bid'),
    yes_ask: price('t.yes_ask'),
    no_bid: price('t.no_bid'),
    no_ask: price('t.no_ask'),
  },
  trades: { ...COMMON, price: 't.price / 10000', size: 't.size / 1000000' },
  underlying: COMMON,
  perp_depth: {
    ...COMMON,
    // Releases that recorded Bybit alone named no venue.
    venue: "ifNull(t.venue, 'bybit')",
    timestamp: 't.ts',
    bids: pairs('bid'),
    asks: pairs('ask'),
    best_bid: best('bid'),
    best_ask: best('ask'),
    n_bids: 'length(t.bid_px)',
    n_asks: 'length(t.ask_px)',
    engine_time: 't.engine_ts',
  },
  markets: {
    market_type: 't.event_type',
    resolved_at: 't.resolved_time',
    resolved_at_source: 't.resolved_time_source',
    tick_size: 't.tick_size / 10000',
    taker_delay_ms: ownTakerDelay('t.'),
  },
  gaps: { start: 't.start_time', end: 't.end_time' },
};

/** How the rows are printed; `hash` is one hash per row, whatever the file's format. */
export type RowForm = 'json' | 'spreadsheet' | 'typed' | 'hash';

/** The SELECT list of a dataset's rows under the alias `t`. @param trusted Their trust. */
export function exportList(
  dataset: StoredDataset,
  { form, trusted }: { form: RowForm; trusted: string },
): string {
  const columns = EXPORT_COLUMNS[dataset];
  const value = (column: ExportColumn) => typed(dataset, column, trusted);
  if (form !== 'hash') {
    return columns
      .map((column) => `${printed(value(column), column, form)} AS ${quoted(column.name)}`)
      .join(', ');
  }
  return `SHA256(formatRow('RowBinary', ${columns.map(value).join(', ')})) AS hash`;
}

function printed(value: string, column: ExportColumn, form: Exclude<RowForm, 'hash'>): string {
  if (form === 'typed') return value;
  const { kind } = column;
  if (kind === 'time') return isoTime(value);
  if (form === 'json') return value;
  if (kind === 'levels' || kind === 'pairs') return `toJSONString(${value})`;
  return kind === 'text' ? withoutFormula(value) : value;
}

function typed(dataset: StoredDataset, { name, kind, nullable }: ExportColumn, trusted: string): string {
  const stored = EXPRESSIONS[dataset][name] ?? `t.${quoted(name)}`;
  const value = stored === TRUST ? trusted : stored;
  const type = nullable ? `Nullable(${TYPES[kind]})` : TYPES[kind];
  return `CAST(${value}, '${type.replaceAll("'", "\\'")}')`;
}

const quoted = (name: string) => `\`${name}\``;

/** An apostrophe keeps a spreadsheet from running a text; texts that begin with one get a second, so that all can be read back. */
function withoutFormula(value: string): string {
  return `if(match(${value}, '^[\\'=+@\\t\\r-]'), concat('''', ${value}), ${value})`;
}
