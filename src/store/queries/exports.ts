/** Complete recordings, row by row as stored, for `/v1/export` and `underround export`. */
import type { ExportDataset, ExportSubject } from '../../schema/export.ts';
import { booksOf } from './books.ts';
import { levels } from './ladders.ts';
import { PERP_DEPTH_COLUMNS, perpDepthOf, tradesOf, underlyingOf } from './lists.ts';
import { isoTime, type QueryParams, rangeConditions, type Source, where } from './sql.ts';
import { TRUSTED } from './trust.ts';

const TIMES = `${isoTime('t.ts')} AS ts, ${isoTime('t.received')} AS received_at`;
const TIME_NAMES = ['ts', 'received_at'];
const STATE_NAMES = [...TIME_NAMES, 'trusted', 'underlying_price'];

const price = (column: string) => `if(isNull(${column}), NULL, assumeNotNull(${column}) / 10000)`;

interface Shape {
  /** In the order of `columns`, for a header. */
  readonly names: readonly string[];
  readonly columns: string;
}

const SHAPES: Readonly<Record<ExportDataset, Shape>> = {
  snapshots: {
    names: [...STATE_NAMES, 'yes_bids', 'yes_asks', 'no_bids', 'no_asks'],
    columns: `${TIMES}, ${TRUSTED} AS trusted, t.underlying AS underlying_price, ${levels('yes_bid')} AS yes_bids,
      ${levels('yes_ask')} AS yes_asks, ${levels('no_bid')} AS no_bids, ${levels('no_ask')} AS no_asks`,
  },
  quotes: {
    names: [...STATE_NAMES, 'yes_bid', 'yes_ask', 'no_bid', 'no_ask'],
    columns: `${TIMES}, ${TRUSTED} AS trusted, t.underlying AS underlying_price, ${price('t.yes_bid')} AS yes_bid,
      ${price('t.yes_ask')} AS yes_ask, ${price('t.no_bid')} AS no_bid, ${price('t.no_ask')} AS no_ask`,
  },
  trades: {
    names: [...TIME_NAMES, 'side', 'price', 'size', 'trade_id'],
    columns: `${TIMES}, t.side AS side, t.price / 10000 AS price, t.size / 1000000 AS size, t.trade_id AS trade_id`,
  },
  underlying: {
    names: [...TIME_NAMES, 'price'],
    columns: `${TIMES}, t.price AS price`,
  },
  perp_depth: {
    names: [
      ...['timestamp', 'update_id', 'bids', 'asks', 'best_bid', 'best_ask', 'n_bids', 'n_asks'],
      'received_at',
    ],
    columns: `${PERP_DEPTH_COLUMNS}, ${isoTime('t.received')} AS received_at`,
  },
};

/** Column names of a dataset, in their order. */
export function exportColumns(dataset: ExportDataset): readonly string[] {
  return SHAPES[dataset].names;
}

export interface ExportRange {
  readonly startMs: number | null;
  readonly endMs: number | null;
}

interface Query {
  readonly query: string;
  readonly params: QueryParams;
}

/**
 * The statement for the rows of `[startMs, endMs)`, oldest first; rows with equal times are in arrival order.
 * @param times Whether times are printed as text or as the engine's time type.
 * @param isSpreadsheet Whether texts that a spreadsheet would run as a formula get a leading apostrophe.
 */
export function exportRows(
  subject: ExportSubject,
  { times, isSpreadsheet, ...range }: ExportRange & { times: 'texts' | 'moments'; isSpreadsheet: boolean },
): Query {
  const { from, params } = rangeOf(subject, range);
  const { columns } = SHAPES[subject.dataset];
  const shown = withoutFormulas(times === 'texts' ? columns : momentsOf(columns), { isSpreadsheet });
  return { query: `SELECT ${shown} ${from} ORDER BY t.ts, t.seq`, params };
}

/** The statement that counts these rows, as the text `total`. */
export function exportCount(subject: ExportSubject, range: ExportRange): Query {
  const { from, params } = rangeOf(subject, range);
  return { query: `SELECT toString(count()) AS total ${from}`, params };
}

function rangeOf(subject: ExportSubject, range: ExportRange): { from: string; params: QueryParams } {
  const { table, conditions, params } = sourceOf(subject);
  const bounds = rangeConditions('t.ts', range);
  return {
    from: `FROM ${table} AS t ${where([...conditions, ...bounds.conditions])}`,
    params: { ...params, ...bounds.params },
  };
}

/** Columns with texts of the venue; all other texts are times and this service's own words. */
const FOREIGN_TEXTS = ['t.trade_id'];

function withoutFormulas(columns: string, { isSpreadsheet }: { isSpreadsheet: boolean }): string {
  if (!isSpreadsheet) return columns;
  return FOREIGN_TEXTS.reduce(
    (text, column) => text.replaceAll(`${column} AS`, `${asText(column)} AS`),
    columns,
  );
}

function asText(column: string): string {
  return `if(match(${column}, '^[=+@\\t\\r-]'), concat('''', ${column}), ${column})`;
}

function momentsOf(columns: string): string {
  return ['t.ts', 't.received'].reduce((text, column) => text.replaceAll(isoTime(column), column), columns);
}

function sourceOf(subject: ExportSubject): Source {
  switch (subject.dataset) {
    case 'snapshots':
      return booksOf(subject.marketId);
    case 'quotes':
      return { ...booksOf(subject.marketId), table: 'quotes' };
    case 'trades':
      return tradesOf(subject.marketId);
    case 'underlying':
      return underlyingOf(subject.ticker, subject.source);
    case 'perp_depth':
      return perpDepthOf(subject.ticker, subject.venue);
  }
}
