import type { AuditRow } from '../../api/schema.ts';

/** Standard deviations that contain 95 % of a normal distribution. */
const Z = 1.96;
/** As in the report of a backtest: with fewer markets the distribution of their mean is not known well enough. */
export const MARKETS_MIN = 30;

/**
 * The 95 % interval of the mean of the resolved rows; null for fewer than 30 resolved markets. Signals of one market
 * share its result, so the standard error is that of the markets' sums (Liang and Zeger 1986).
 */
export function intervalOf(
  rows: readonly Pick<AuditRow, 'market_id' | 'realized_per_share'>[],
): { low: number; high: number } | null {
  const resolved = rows.flatMap(({ market_id: market, realized_per_share: value }) =>
    value === null ? [] : [{ market, value }],
  );
  const mean = resolved.reduce((sum, { value }) => sum + value, 0) / resolved.length;
  const deviations = new Map<string, number>();
  for (const { market, value } of resolved)
    deviations.set(market, (deviations.get(market) ?? 0) + value - mean);
  const markets = deviations.size;
  if (markets < MARKETS_MIN) return null;
  const squares = [...deviations.values()].reduce((sum, deviation) => sum + deviation ** 2, 0);
  const half = (Z * Math.sqrt((squares * markets) / (markets - 1))) / resolved.length;
  return { low: mean - half, high: mean + half };
}
