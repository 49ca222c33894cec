import { type ReactNode, useMemo } from 'react';
import { cumulative } from './cumulative.ts';
import classes from './DepthChart.module.css';
import { niceTicks } from './niceTicks.ts';
import { useWidth } from './useWidth.ts';

type Level = readonly [price: number, size: number];

interface DepthChartProps {
  readonly label: string;
  /** Best first. */
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly price: (price: number) => string;
  readonly size: (size: number) => string;
  /** What the sizes count. */
  readonly unit: string;
  readonly height?: number;
}

const MARGIN = { left: 56, right: 30, top: 22, bottom: 24 };
const CHARACTER_PX = 7;
const APART_PX = 16;

/** Cumulative sizes of both sides over the price: the size that an order may have before it passes a price. */
export function DepthChart(props: DepthChartProps): ReactNode {
  const { label, bids, asks, price, size, unit, height = 190 } = props;
  const { ref, width } = useWidth();
  const sides = useMemo(() => [cumulative(bids), cumulative(asks)] as const, [bids, asks]);
  const all = sides.flat();
  if (all.length === 0) return null;
  const inner = {
    width: Math.max(width - MARGIN.left - MARGIN.right, 1),
    height: height - MARGIN.top - MARGIN.bottom,
  };
  const prices = all.map(([at]) => at);
  const [low, high] = widened(Math.min(...prices), Math.max(...prices));
  const most = Math.max(...all.map(([, sum]) => sum));
  const x = (at: number) => MARGIN.left + ((at - low) / (high - low)) * inner.width;
  const y = (sum: number) => MARGIN.top + (1 - sum / most) * inner.height;
  const longest = Math.max(price(low).length, price((low + high) / 2).length, price(high).length);
  const texts = niceTicks({ low, high }, Math.floor(inner.width / (longest * CHARACTER_PX + APART_PX)));
  return (
    <div ref={ref} style={{ minHeight: height }}>
      {width > 0 && (
        <svg width={width} height={height} className={classes.chart} role="img" aria-label={label}>
          <text x={MARGIN.left} y={12}>
            {unit}, cumulative
          </text>
          {niceTicks({ low: 0, high: most }, 4).map((sum) => (
            <g key={sum}>
              <line x1={MARGIN.left} x2={width - MARGIN.right} y1={y(sum)} y2={y(sum)} />
              <text x={MARGIN.left - 6} y={y(sum) + 4} textAnchor="end">
                {size(sum)}
              </text>
            </g>
          ))}
          {texts.map((at) => (
            <text key={at} x={x(at)} y={height - 6} textAnchor="middle">
              {price(at)}
            </text>
          ))}
          <path className={classes.bids} d={pathOf(sides[0], { x, y, edge: low })} />
          <path className={classes.asks} d={pathOf(sides[1], { x, y, edge: high })} />
        </svg>
      )}
    </div>
  );
}

function widened(low: number, high: number): [number, number] {
  return low < high ? [low, high] : [low - 0.01, high + 0.01];
}

function pathOf(
  levels: readonly Level[],
  { x, y, edge }: { x: (price: number) => number; y: (sum: number) => number; edge: number },
): string {
  const [best] = levels;
  if (best === undefined) return '';
  let path = `M${x(best[0]).toFixed(1)} ${y(0).toFixed(1)}`;
  for (const [price, sum] of levels) path += `H${x(price).toFixed(1)}V${y(sum).toFixed(1)}`;
  return `${path}H${x(edge).toFixed(1)}V${y(0).toFixed(1)}Z`;
}
