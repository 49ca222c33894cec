import type { Line } from '../../charts/chartOptions.ts';
import { usd } from '../../ui/format.ts';

interface Curve {
  readonly cumulative_pnl: number;
}

/** P&L by the number of closed positions, from 0; a curve without a closed position has no line. */
export function curvesOf(
  live: readonly Curve[],
  baseline: readonly Curve[],
): { times: number[]; lines: Line[] } {
  const times = Array.from({ length: Math.max(live.length, baseline.length) + 1 }, (_, count) => count);
  const valuesOf = (curve: readonly Curve[]) =>
    times.map((count) => (count === 0 ? 0 : (curve[count - 1]?.cumulative_pnl ?? null)));
  const lineOf = (label: string, colour: string, curve: readonly Curve[]): Line[] =>
    curve.length === 0
      ? []
      : [{ label, colour, scale: 'usd', kind: 'step', print: usd, values: valuesOf(curve) }];
  return {
    times,
    lines: [...lineOf('on paper', '--up', live), ...lineOf('baseline', '--mantine-color-dimmed', baseline)],
  };
}
