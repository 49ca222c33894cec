/** Complete recordings, row by row as stored, for `/v1/export` and `underround export`. */
import type {
  ExportRange,
  ListDataset,
  MarketDataset,
  MarketSelection,
  StoredDataset,
  StoredSubject,
} from '../../schema/export.ts';
import type { StoreReader } from '../reader.ts';
import { booksOf } from './books.ts';
import { exportList, type RowForm } from './exportColumns.ts';
import { levels } from './ladders.ts';
import { perpDepthOf, tradesOf, underlyingOf } from './lists.ts';
import { type Bound, rangeConditions, rowsFrom, rowsUpTo, storedTime, timeParam, where } from './sql.ts';
import { TRUST_REVISION, TRUSTED, TRUSTED_THEN, trustRevisionThen } from './trust.ts';

type Params = Record<string, string | number | readonly string[]>;

/** Rows of one statement: those of a market, of an asset, or a list. */
export interface RowSource {
  readonly dataset: StoredDataset;
  readonly table: string;
  readonly conditions: readonly string[];
  readonly params: Params;
  /** The columns of the rows' order. */
  readonly order: readonly string[];
  /** The market, where the rows belong to one. */
  readonly marketId: string | null;
}

/** A row's place in the order of its source. */
export interface Place {
  readonly tsMs: number;
  readonly seq: number;
}

/** Rows after one place, up to and including another; null: no bound. */
export interface Stretch {
  readonly after: Place | null;
  readonly upTo: Place | null;
}
export const WHOLE: Stretch = { after: null, upTo: null };

interface Query {
  readonly query: string;
  readonly params: Params;
}

const BY_TIME = ['ts', 'seq'];

/** The statements that together give the rows of a subject, in their order: markets by the start of their windows. */
export async function exportSources(
  store: StoreReader,
  subject: StoredSubject,
  { range, signal }: { range: ExportRange; signal: AbortSignal },
): Promise<RowSource[]> {
  const { dataset } = subject;
  if (dataset === 'markets' || dataset === 'gaps') return [listSource(dataset, subject.markets, range)];
  if (dataset === 'underlying' || dataset === 'perp_depth') return [assetSource(subject, range)];
  const marketIds = await marketsWithRows(store, { dataset, markets: subject.markets, range }, signal);
  // A Parquet file without rows still needs a statement that gives its columns.
  return (marketIds.length === 0 ? [''] : marketIds).map((id) => marketSource(dataset, id, range));
}

/** The price or depth of an asset. */
export type AssetSubject = Exclude<StoredSubject, { markets: unknown }>;

/** The rows of an asset. */
export function assetSource(subject: AssetSubject, range: ExportRange): RowSource {
  const { dataset, ticker } = subject;
  const source =
    dataset === 'underlying' ? underlyingOf(ticker, subject.source) : perpDepthOf(ticker, subject.venue);
  return inRange({ ...source, params: { ...source.params }, dataset, order: BY_TIME, marketId: null }, range);
}

export function marketSource(dataset: MarketDataset, marketId: string, range: ExportRange): RowSource {
  const { conditions, params } = dataset === 'trades' ? tradesOf(marketId) : booksOf(marketId);
  const table = TABLE_OF[dataset];
  return inRange({ dataset, table, conditions, params: { ...params }, order: BY_TIME, marketId }, range);
}

const TABLE_OF: Readonly<Record<MarketDataset, string>> = {
  snapshots: 'books',
  deltas: 'books',
  quotes: 'quotes',
  trades: 'trades',
};

function inRange(source: RowSource, range: ExportRange): RowSource {
  const bounds = rowConditions(range);
  return {
    ...source,
    conditions: [...source.conditions, ...bounds.conditions],
    params: { ...source.params, ...bounds.params },
  };
}

/** Where rows stored after an export began are not part of it. */
function rowConditions(range: ExportRange): { conditions: string[]; params: Record<string, number> } {
  const { conditions, params } = rangeConditions('t.ts', range);
  if (range.upToSeq === undefined) return { conditions, params };
  return {
    conditions: [...conditions, 't.seq <= {state_seq:UInt64}'],
    params: { ...params, state_seq: range.upToSeq },
  };
}

/** Markets whose window, and gaps whose time, overlaps the range. */
export function listSource(dataset: ListDataset, markets: MarketSelection, range: ExportRange): RowSource {
  const chosen = selectedMarkets(markets);
  const conditions = [];
  const params = { ...chosen.params };
  if (dataset === 'markets') conditions.push(...chosen.conditions);
  else if (chosen.conditions.length > 0) {
    conditions.push(`t.market_id IN (${marketIdsOf(chosen.conditions)})`);
  }
  if (range.startMs !== null) {
    // A window excludes its end. A gap includes it: of rows with that time, those received earlier are untrusted.
    const [compare, startMs] =
      dataset === 'gaps' ? ['>=', Math.ceil(range.startMs)] : ['>', Math.floor(range.startMs)];
    conditions.push(`(t.end_time IS NULL OR t.end_time ${compare} ${timeParam('range_start')})`);
    params.range_start = storedTime(startMs);
  }
  if (range.endMs !== null) {
    conditions.push(`t.start_time < ${timeParam('range_end')}`);
    params.range_end = storedTime(Math.ceil(range.endMs));
  }
  if (dataset === 'gaps' && range.upToSeq !== undefined) {
    conditions.push('ifNull(t.known_seq, 0) <= {state_seq:UInt64}');
    params.state_seq = range.upToSeq;
  }
  const order = dataset === 'markets' ? ['start_time', 'market_id'] : ['start_time', 'market_id', 'gap_id'];
  return { dataset, table: dataset, conditions, params, order, marketId: null };
}

/** The conditions on the table of markets. */
export function selectedMarkets(markets: MarketSelection): { conditions: string[]; params: Params } {
  if (markets === 'all') return { conditions: [], params: {} };
  if ('marketIds' in markets) {
    return {
      conditions: ['t.market_id IN {market_ids:Array(String)}'],
      params: { market_ids: markets.marketIds },
    };
  }
  const { ticker, eventType } = markets;
  return {
    conditions: ['t.ticker = {ticker:String}', 't.event_type = {event_type:String}'],
    params: { ticker, event_type: eventType },
  };
}

/** By the newest version alone: an earlier one may have another series, so a market would be in both. */
const marketIdsOf = (conditions: readonly string[]) =>
  `SELECT t.market_id FROM markets AS t FINAL ${where(conditions)}`;

async function marketsWithRows(
  store: StoreReader,
  { dataset, markets, range }: { dataset: MarketDataset; markets: MarketSelection; range: ExportRange },
  signal: AbortSignal,
): Promise<string[]> {
  if (markets !== 'all' && 'marketIds' in markets) return await byWindow(store, markets.marketIds, signal);
  const { table, conditions, params } = rowsOfMarkets(dataset, markets, range);
  const rows = await store.rows<{ id: string }>(
    `SELECT t.market_id AS id FROM markets AS t FINAL
     WHERE t.market_id IN (SELECT DISTINCT t.market_id FROM ${table} AS t ${where(conditions)})
     ORDER BY t.start_time, t.market_id`,
    params,
    { signal },
  );
  return rows.map(({ id }) => id);
}

/** Named markets, also ones without a record, in the order of their windows. */
async function byWindow(
  store: StoreReader,
  marketIds: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  if (marketIds.length < 2) return [...marketIds];
  const rows = await store.rows<{ id: string }>(
    `SELECT t.market_id AS id FROM markets AS t FINAL WHERE t.market_id IN {market_ids:Array(String)}
     ORDER BY t.start_time, t.market_id`,
    { market_ids: marketIds },
    { signal },
  );
  const known = rows.map(({ id }) => id);
  return [...known, ...marketIds.filter((id) => !known.includes(id)).sort()];
}

/** All rows of several markets, for statements that only count or list them. */
export function rowsOfMarkets(
  dataset: MarketDataset,
  markets: MarketSelection,
  range: ExportRange,
): Pick<RowSource, 'table' | 'conditions' | 'params'> {
  const { conditions, params } = selectedMarkets(markets);
  const bounds = rowConditions(range);
  return {
    table: TABLE_OF[dataset],
    conditions: [`t.market_id IN (${marketIdsOf(conditions)})`, ...bounds.conditions],
    params: { ...params, ...bounds.params },
  };
}

/** The statement for the rows of a source, or of a stretch of it, in their order. */
export function exportRows(source: RowSource, form: RowForm, stretch: Stretch = WHOLE): Query {
  const { dataset, table, order } = source;
  const places = stretchConditions(stretch, dataset === 'deltas');
  const params = { ...source.params, ...places.params };
  const conditions = where([...source.conditions, ...places.conditions]);
  const trusted = trustOf(source);
  const list = exportList(dataset, { form, trusted });
  const by = order.map((column) => `t.${column}`).join(', ');
  if (dataset === 'deltas') {
    return {
      query: `SELECT ${list} FROM (${changes({ conditions, trusted }, stretch)}) AS t ORDER BY ${by}, t.place`,
      params,
    };
  }
  const final = dataset === 'markets' || dataset === 'gaps' ? 'FINAL' : '';
  return { query: `SELECT ${list} FROM ${table} AS t ${final} ${conditions} ORDER BY ${by}`, params };
}

const trustOf = ({ table, params }: RowSource) =>
  ('state_seq' in params ? TRUSTED_THEN : TRUSTED)[table === 'quotes' ? 'quotes' : 'books'];

const place = (name: string): Bound => ({ time: timeParam(`${name}_ms`), seq: `{${name}_seq:UInt64}` });

/** @param withLast Also the last row before the stretch. */
function stretchConditions({ after, upTo }: Stretch, withLast: boolean) {
  const conditions: string[] = [];
  const params: Params = {};
  if (after !== null) {
    conditions.push(...rowsFrom(place('after'), { inclusive: withLast }));
    Object.assign(params, { after_ms: after.tsMs, after_seq: after.seq });
  }
  if (upTo !== null) {
    conditions.push(...rowsUpTo(place('up_to')));
    Object.assign(params, { up_to_ms: upTo.tsMs, up_to_seq: upTo.seq });
  }
  return { conditions, params };
}

const SIDES = ['yes_bid', 'yes_ask', 'no_bid', 'no_ask'] as const;

/** The levels that differ from the book before; all levels of the first book of a source. */
function changes(
  { conditions, trusted }: { conditions: string; trusted: string },
  { after }: Stretch,
): string {
  const sides = SIDES.map((side) => levels(side)).join(', ');
  const names = SIDES.map((side) => `('${side.split('_').join("', '")}')`).join(', ');
  const perSide = `arrayMap((cur, old, name) -> arrayConcat(
      arrayMap(l -> (name.1, name.2, l.1, l.2), arrayFilter(l -> NOT has(old, l), cur)),
      arrayMap(l -> (name.1, name.2, l.1, 0.), arrayFilter(l -> NOT arrayExists(c -> c.1 = l.1, cur), old))),
    sides, earlier, [${names}])`;
  return `SELECT market_id, ts, received_at, trusted, seq, is_snapshot, place,
      change.1 AS token, change.2 AS side, change.3 AS price, change.4 AS size
    FROM (SELECT t.market_id AS market_id, t.ts AS ts, t.received AS received_at, ${trusted} AS trusted, t.seq AS seq,
        [${sides}] AS sides, ${after === null ? 'row_number() OVER w = 1' : 'false'} AS is_snapshot,
        lagInFrame(sides, 1, [[], [], [], []]::Array(Array(Tuple(price Float64, size Float64)))) OVER w AS earlier
      FROM books AS t ${conditions}
      WINDOW w AS (ORDER BY t.ts, t.seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
    ARRAY JOIN arrayFlatten(${perSide}) AS change, arrayEnumerate(arrayFlatten(${perSide})) AS place
    ${after === null ? '' : `WHERE (ts, seq) > (${place('after').time}, ${place('after').seq})`}`;
}

/** The last places of the stretches of so many stored rows each; a last, shorter stretch has none. */
export function stretchEnds({ table, conditions, params }: RowSource, rows: number): Query {
  return {
    query: `SELECT toUnixTimestamp64Milli(ts) AS tsMs, seq FROM (
        SELECT t.ts AS ts, t.seq AS seq, row_number() OVER (ORDER BY t.ts, t.seq) AS number
        FROM ${table} AS t ${where(conditions)})
      WHERE number % {stretch_rows:UInt32} = 0 ORDER BY ts, seq`,
    params: { ...params, stretch_rows: rows },
  };
}

/** Differs between two times where the rows of the source, or their trust, changed in between. */
export function revisionOf({ dataset, table, conditions, params, marketId }: RowSource): Query {
  const hasTrust = marketId !== null && dataset !== 'trades';
  const last = { ts: 'last_ts', received: 'last_received' };
  const then = trustRevisionThen(table === 'quotes' ? 'quotes' : 'books', last);
  const trust = !hasTrust ? '0' : 'state_seq' in params ? then : TRUST_REVISION;
  return {
    query: `SELECT concat(toString(rows), ' ', toString(seqs), ' ', toString(${trust})) AS revision
      FROM (SELECT count() AS rows, sum(t.seq) AS seqs, max(t.ts) AS last_ts, max(t.received) AS last_received
        FROM ${table} AS t ${where(conditions)})`,
    params,
  };
}
