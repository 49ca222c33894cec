/** Prints results of strategy files as text tables. */
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../core/money.ts';
import { formatTime } from '../schema/time.ts';
import type { RunBody } from './strategyResults.ts';
import { formatTable } from './table.ts';

const FILLS_SHOWN = 20;

export function printRun(body: RunBody): string {
  const { receipt, settings, orders } = body;
  const reasons = new Map<string, number>();
  for (const { reason } of body.markets_skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const left = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ');
  const params = Object.entries(settings.params).map(([name, value]) => `${name}=${value}`);
  const rows: [string, string | null][] = [
    ['parameters', params.join(' ') || 'none'],
    ['markets', String(body.markets_total)],
    ['left out', left || 'none'],
    ['orders filled', `${orders.filled} of ${orders.placed}`],
    ['trades', `${body.trades_total}, won ${body.trades_won}`],
    ['total P&L', usd(body.total_pnl)],
    ['fees', usd(body.total_fees)],
    ['queue model', settings.terms.queueModel],
    ['data', receipt.data_hash.slice(0, 16)],
    ['strategy', receipt.strategy_hash.slice(0, 16)],
    ['reproducible', receipt.reproducible ? 'yes' : `no: ${receipt.uses.map(({ name }) => name).join(', ')}`],
  ];
  const parts = [formatTable([body.name, ''], rows), curveTable(body), fillsTable(body)];
  return parts.filter((part) => part !== '').join('\n\n');
}

function curveTable({ latency_curve: curve }: RunBody): string {
  if (curve === null) return '';
  const rows = curve.map((point) => [
    `${point.latency_ms} ms`,
    usd(point.total_pnl),
    String(point.trades_total),
    point.fill_rate === null ? null : `${(100 * point.fill_rate).toFixed(1)} %`,
  ]);
  return formatTable(['ORDER LATENCY', 'P&L', 'TRADES', 'FILLED'], rows);
}

function fillsTable({ result: { fills, orders } }: RunBody): string {
  if (fills.length === 0) return 'No fills.';
  const terms = new Map(orders.map((order) => [order.orderId, order.terms]));
  const rows = fills
    .slice(-FILLS_SHOWN)
    .map(({ orderId, marketId, timeMs, price, size, liquidity }) => [
      formatTime(timeMs),
      `${marketId.slice(0, 10)}..`,
      `${terms.get(orderId)?.action} ${terms.get(orderId)?.token}`,
      (price / TICKS_PER_USDC).toFixed(4),
      (size / UNITS_PER_SHARE).toFixed(2),
      liquidity,
    ]);
  const more = fills.length > FILLS_SHOWN ? `\n(the last ${FILLS_SHOWN} of ${fills.length} fills)` : '';
  return formatTable(['FILLED', 'MARKET', 'SIDE', 'PRICE', 'SHARES', 'AS'], rows) + more;
}

function usd(value: number): string {
  return `${value.toFixed(2)} USD`;
}
