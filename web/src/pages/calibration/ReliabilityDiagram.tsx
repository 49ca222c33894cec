import type { ReactNode } from 'react';
import type { CalibrationBucket } from '../../api/schema.ts';
import { percent } from '../../ui/format.ts';
import classes from './ReliabilityDiagram.module.css';

const SIZE = 400;
const MARGIN = { left: 48, top: 16, right: 28, bottom: 92 };
/** Under the diagram: how many markets each bucket has. */
const COUNTS = 44;
const STEPS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const x = (share: number) => MARGIN.left + share * SIZE;
const y = (share: number) => MARGIN.top + (1 - share) * SIZE;

/** Implied probability against the share that resolved Up; they agree on the diagonal. */
export function ReliabilityDiagram({ buckets }: { buckets: readonly CalibrationBucket[] }): ReactNode {
  const most = Math.max(1, ...buckets.map(({ n_markets }) => n_markets));
  const [width, height] = [SIZE + MARGIN.left + MARGIN.right, SIZE + MARGIN.top + MARGIN.bottom];
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      className={classes.diagram}
      role="img"
      aria-label="Reliability diagram; the table beside it has its numbers"
    >
      {STEPS.map((step) => (
        <g key={step}>
          <line x1={x(0)} x2={x(1)} y1={y(step)} y2={y(step)} className={classes.grid} />
          <text x={x(0) - 8} y={y(step) + 4} textAnchor="end">
            {percent(step, 0)}
          </text>
          <text x={x(step)} y={y(0) + 18} textAnchor="middle">
            {percent(step, 0)}
          </text>
        </g>
      ))}
      <line x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} className={classes.diagonal} />
      {buckets.map((bucket) => (
        <Bucket key={bucket.prob_lo} bucket={bucket} most={most} />
      ))}
      <text x={x(0.5)} y={height - 4} textAnchor="middle">
        probability of Up by the price; bars: number of markets
      </text>
      <text transform={`translate(12 ${y(0.5)}) rotate(-90)`} textAnchor="middle">
        ended Up
      </text>
    </svg>
  );
}

function Bucket({ bucket, most }: { bucket: CalibrationBucket; most: number }): ReactNode {
  const { prob_lo, prob_hi, mean_prob, frac_resolved_up, ci_lo, ci_hi, n_markets } = bucket;
  const barTop = y(0) + 26;
  const bar = (n_markets / most) * COUNTS;
  return (
    <g>
      <rect
        x={x(prob_lo) + 1}
        width={x(prob_hi) - x(prob_lo) - 2}
        y={barTop + COUNTS - bar}
        height={bar}
        className={classes.count}
      />
      {mean_prob !== null && frac_resolved_up !== null && (
        <>
          <line
            x1={x(mean_prob)}
            x2={x(mean_prob)}
            y1={y(ci_lo ?? 0)}
            y2={y(ci_hi ?? 1)}
            className={classes.interval}
          />
          <circle cx={x(mean_prob)} cy={y(frac_resolved_up)} r={5} className={classes.point}>
            <title>
              {`said ${percent(mean_prob)}, ended Up ${percent(frac_resolved_up)}, ${n_markets} markets`}
            </title>
          </circle>
        </>
      )}
    </g>
  );
}
