/**
 * The tables of a report as Parquet files: trades, orders, fills and equity. Times are UTC milliseconds, money is USD,
 * prices are USDC per share, sizes shares.
 */
import { parquetWriteBuffer } from 'hyparquet-writer';
import { MICRO_PER_USDC } from '../core/fees.ts';
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../core/money.ts';
import type { EquityPoint, RunFill, RunOrder, RunResult } from '../core/run/result.ts';
import type { Report, ReportTrade } from '../schema/report.ts';

type ColumnType = 'STRING' | 'DOUBLE' | 'INT32' | 'TIMESTAMP' | 'BOOLEAN';

interface Column<Row> {
  readonly name: string;
  readonly type: ColumnType;
  /** Times as Unix milliseconds; null: no value. */
  readonly of: (row: Row) => string | number | boolean | null;
}

/** A file of a report's directory. */
export interface ReportFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Key of a file's metadata: the receipt as JSON. */
export const RECEIPT_KEY = 'underround.receipt';

const text = <Row>(name: string, of: Column<Row>['of']): Column<Row> => ({ name, type: 'STRING', of });
const number = <Row>(name: string, of: Column<Row>['of']): Column<Row> => ({ name, type: 'DOUBLE', of });
const count = <Row>(name: string, of: Column<Row>['of']): Column<Row> => ({ name, type: 'INT32', of });
const time = <Row>(name: string, of: (row: Row) => number | null): Column<Row> => ({
  name,
  type: 'TIMESTAMP',
  of,
});

type TradeRow = ReportTrade & {
  readonly window: { readonly start: string; readonly end: string } | undefined;
};

const TRADES: readonly Column<TradeRow>[] = [
  text('market_id', (row) => row.market_id),
  text('ticker', (row) => row.ticker),
  text('event_type', (row) => row.event_type),
  time('window_start', ({ window }) => timeOf(window?.start ?? null)),
  time('window_end', ({ window }) => timeOf(window?.end ?? null)),
  text('side', (row) => row.side),
  time('decided_at', (row) => timeOf(row.decided_at)),
  time('opened_at', (row) => timeOf(row.opened_at)),
  time('closed_at', (row) => timeOf(row.closed_at)),
  number('decision_price', (row) => row.decision_price),
  number('entry_price', (row) => row.entry_price),
  number('exit_price', (row) => row.exit_price),
  number('shares', (row) => row.shares),
  number('size_usd', (row) => row.size_usd),
  number('fees_usd', (row) => row.fees_usd),
  number('entry_slippage', (row) => row.entry_slippage),
  number('exit_slippage', (row) => row.exit_slippage),
  count('entry_levels', (row) => row.entry_levels),
  count('exit_levels', (row) => row.exit_levels),
  number('net_pnl', (row) => row.net_pnl),
  text('outcome', (row) => row.outcome),
  text('exit_reason', (row) => row.exit_reason),
  text('liquidity', (row) => row.liquidity),
  number('seconds_to_end', (row) => row.seconds_to_end),
  number('volatility', (row) => row.volatility),
  number('model_probability', (row) => row.model_probability),
];

const ORDERS: readonly Column<RunOrder>[] = [
  count('order_id', (order) => order.orderId),
  text('market_id', (order) => order.marketId),
  text('token', ({ terms }) => terms.token),
  text('action', ({ terms }) => terms.action),
  number('limit_price', ({ terms }) => terms.limitPrice / TICKS_PER_USDC),
  number('size', ({ terms }) => sharesOrNull(terms.size)),
  number('budget_usd', ({ terms }) => (terms.budget === null ? null : terms.budget / MICRO_PER_USDC)),
  text('time_in_force', ({ terms }) => terms.timeInForce),
  time('expires_at', ({ terms }) => terms.expiresMs),
  { name: 'post_only', type: 'BOOLEAN', of: ({ terms }) => terms.postOnly },
  time('decided_at', (order) => order.decidedMs),
  time('due_at', (order) => order.dueMs),
  time('ended_at', (order) => order.endedMs),
  text('outcome', (order) => order.outcome),
  text('reason', (order) => order.reason),
  number('filled_size', (order) => order.filledSize / UNITS_PER_SHARE),
];

const FILLS: readonly Column<RunFill>[] = [
  count('order_id', (fill) => fill.orderId),
  text('market_id', (fill) => fill.marketId),
  time('filled_at', (fill) => fill.timeMs),
  text('liquidity', (fill) => fill.liquidity),
  number('price', (fill) => fill.price / TICKS_PER_USDC),
  number('size', (fill) => fill.size / UNITS_PER_SHARE),
  number('fee_usd', (fill) => fill.fee / MICRO_PER_USDC),
];

const usd = (of: (point: EquityPoint) => number) => (point: EquityPoint) => of(point) / MICRO_PER_USDC;
const EQUITY: readonly Column<EquityPoint>[] = [
  time('ts', (point) => point.timeMs),
  number(
    'equity_usd',
    usd(({ cash, reserved, locked, marked }) => cash + reserved + locked + marked),
  ),
  number(
    'cash_usd',
    usd(({ cash }) => cash),
  ),
  number(
    'reserved_usd',
    usd(({ reserved }) => reserved),
  ),
  number(
    'locked_usd',
    usd(({ locked }) => locked),
  ),
  number(
    'marked_usd',
    usd(({ marked }) => marked),
  ),
];

/** @param run Null: of a job of a JSON strategy, which keeps trades alone. */
export function parquetFiles(report: Report, run: RunResult | null): ReportFile[] {
  const windows = new Map(report.markets?.map(({ market_id: id, start, end }) => [id, { start, end }]));
  const trades = report.trades.map((trade): TradeRow => ({ ...trade, window: windows.get(trade.market_id) }));
  const file = <Row>(name: string, columns: readonly Column<Row>[], rows: readonly Row[]): ReportFile => ({
    name,
    bytes: parquetBytes(columns, rows, report),
  });
  const files = [file('trades.parquet', TRADES, trades)];
  if (run === null) return files;
  return [
    ...files,
    file('orders.parquet', ORDERS, run.orders),
    file('fills.parquet', FILLS, run.fills),
    file('equity.parquet', EQUITY, run.equity),
  ];
}

function parquetBytes<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { name, receipt }: Report,
): Uint8Array {
  const columnData = columns.map(({ name: column, type, of }) => ({
    ...{ name: column, type, nullable: true },
    data: rows.map((row) => cellOf(type, of(row))),
  }));
  const kvMetadata = [
    { key: 'underround.name', value: name },
    { key: RECEIPT_KEY, value: JSON.stringify(receipt) },
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData, kvMetadata, createdBy: 'underround' }));
}

function cellOf(type: ColumnType, value: string | number | boolean | null) {
  if (value === null) return undefined;
  return type === 'TIMESTAMP' ? new Date(Number(value)) : value;
}

function timeOf(ts: string | null): number | null {
  return ts === null ? null : Date.parse(ts);
}

function sharesOrNull(size: number | null): number | null {
  return size === null ? null : size / UNITS_PER_SHARE;
}
