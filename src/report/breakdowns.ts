/** P&L of closed trades by hour, entry price, time left and volatility. */
import { MICRO_PER_USDC } from '../core/fees.ts';
import type { BreakdownRow, Report, ReportTrade } from '../schema/report.ts';

const HOURS = 24;
const ENTRY_PRICES = [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1];
const SECONDS_LEFT = [0, 10, 30, 60, 120, 300, 900, 3_600, 14_400];
const [MINUTE_S, HOUR_S] = [60, 3_600];

interface Bucket {
  readonly label: string;
  /** Inclusive; null: no bound. */
  readonly from: number | null;
  /** Exclusive; null: no bound. */
  readonly to: number | null;
}

/** Trades without the value, such as trades without a known volatility, are left out. */
export function breakdownsOf(
  trades: readonly ReportTrade[],
): Pick<Report, 'by_hour' | 'by_entry_price' | 'by_time_left' | 'by_volatility'> {
  const closed = trades.filter(({ net_pnl: pnl }) => pnl !== null);
  return {
    by_hour: rowsOf(closed, hourBuckets(), hourOf),
    by_entry_price: rowsOf(closed, edgeBuckets(ENTRY_PRICES, cents), (trade) => trade.entry_price),
    by_time_left: rowsOf(closed, edgeBuckets([...SECONDS_LEFT, null], duration), (trade) =>
      trade.seconds_to_end === null ? null : Math.max(0, trade.seconds_to_end),
    ),
    by_volatility: rowsOf(closed, volatilityThirds(closed), (trade) => trade.volatility),
  };
}

/** One row for each bucket from the first to the last with a trade; null if no trade has the value. */
function rowsOf(
  trades: readonly ReportTrade[],
  buckets: readonly Bucket[],
  measure: (trade: ReportTrade) => number | null,
): BreakdownRow[] | null {
  const lastBucket = buckets.at(-1);
  const inside = buckets.map(({ from, to }, at) =>
    trades.filter((trade) => {
      const value = measure(trade);
      if (value === null) return false;
      // The highest value belongs to the last bucket: a price of 1 is not beyond 0.95 to 1.
      const isLast = at === buckets.length - 1 && value === lastBucket?.to;
      return (from === null || value >= from) && (to === null || value < to || isLast);
    }),
  );
  const first = inside.findIndex((found) => found.length > 0);
  const last = inside.findLastIndex((found) => found.length > 0);
  if (first < 0) return null;
  return buckets.slice(first, last + 1).map((bucket, at) => rowOf(bucket, inside[first + at] ?? []));
}

function rowOf(bucket: Bucket, trades: readonly ReportTrade[]): BreakdownRow {
  const won = trades.filter(({ net_pnl: pnl }) => (pnl ?? 0) > 0).length;
  const pnl = sumUsd(trades.map((trade) => trade.net_pnl ?? 0));
  const count = trades.length;
  return {
    ...bucket,
    trades: count,
    won,
    win_rate: count === 0 ? null : won / count,
    pnl,
    avg_pnl: count === 0 ? null : pnl / count,
    fees: sumUsd(trades.map((trade) => trade.fees_usd)),
  };
}

/** Exact: amounts are whole micro-USD. */
export function sumUsd(amounts: readonly number[]): number {
  return amounts.reduce((sum, usd) => sum + Math.round(usd * MICRO_PER_USDC), 0) / MICRO_PER_USDC;
}

function hourOf({ opened_at: openedAt }: ReportTrade): number {
  return new Date(openedAt).getUTCHours();
}

function hourBuckets(): Bucket[] {
  return Array.from({ length: HOURS }, (_, hour) => ({
    label: `${String(hour).padStart(2, '0')}:00`,
    ...{ from: hour, to: hour + 1 },
  }));
}

function edgeBuckets(
  edges: readonly (number | null)[],
  label: (from: number | null, to: number | null) => string,
): Bucket[] {
  return edges.slice(0, -1).map((from, at) => {
    const to = edges[at + 1] ?? null;
    return { label: label(from, to), from, to };
  });
}

/**
 * Equal thirds by rank; two buckets if the middle third would have the bounds of none. None if fewer than three trades
 * have the value, or all have the same.
 */
function volatilityThirds(trades: readonly ReportTrade[]): Bucket[] {
  const known = trades.flatMap(({ volatility }) => (volatility === null ? [] : [volatility]));
  known.sort((a, b) => a - b);
  const [low, high] = [1, 2].map((third) => known[Math.floor((third * known.length) / 3)]);
  if (low === undefined || high === undefined || known[0] === known.at(-1)) return [];
  const [lowText = '', highText = ''] = distinctPercents(low, high);
  const middle = { label: `middle, ${lowText} to ${highText}`, from: low, to: high };
  return [
    { label: `low, below ${lowText}`, from: null, to: low },
    ...(low === high ? [] : [middle]),
    { label: `high, from ${highText}`, from: high, to: null },
  ];
}

const cents = (from: number | null, to: number | null) =>
  `${(from ?? 0).toFixed(2)} to ${(to ?? 1).toFixed(2)}`;

/** Most decimals of a percentage: more say nothing to a reader. */
const DECIMALS_MAX = 6;

/** With as many decimals as make different shares look different. */
function distinctPercents(...shares: readonly number[]): string[] {
  for (let decimals = 0; ; decimals++) {
    const texts = shares.map((share) => `${(100 * share).toFixed(decimals)} %`);
    if (new Set(texts).size === new Set(shares).size || decimals === DECIMALS_MAX) return texts;
  }
}

function duration(from: number | null, to: number | null): string {
  return to === null ? `over ${seconds(from ?? 0)}` : `${seconds(from ?? 0)} to ${seconds(to)}`;
}

function seconds(value: number): string {
  if (value >= HOUR_S) return `${value / HOUR_S} h`;
  return value >= MINUTE_S ? `${value / MINUTE_S} min` : `${value} s`;
}
