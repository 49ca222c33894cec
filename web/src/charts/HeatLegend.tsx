import type { ReactNode } from 'react';
import { shares } from '../ui/format.ts';
import classes from './HeatLegend.module.css';
import { HEAT_COLOURS, heatOpacity, heatStrength } from './heatScale.ts';

const STOPS = 12;

/** The colour scale of a depth heat map: shares at one price, logarithmic. */
export function HeatLegend({ largest }: { largest: number }): ReactNode {
  const decades = Array.from({ length: 8 }, (_, power) => 10 ** power).filter((size) => size <= largest / 6);
  const shown = [...decades, largest];
  return (
    <div className={classes.legend}>
      <span className={classes.name}>Shares at a price (log scale)</span>
      <div className={classes.scale}>
        <div className={classes.bar} style={{ background: gradient(HEAT_COLOURS.bid) }} title="bids" />
        <div className={classes.bar} style={{ background: gradient(HEAT_COLOURS.ask) }} title="asks" />
        <div className={classes.labels}>
          {shown.map((size) => (
            <span key={size} style={{ left: `${heatStrength(size, largest) * 100}%` }}>
              {shares(size)}
            </span>
          ))}
        </div>
      </div>
      <span className={classes.name}>upper bar: bids, lower bar: asks; paler where not proven</span>
    </div>
  );
}

function gradient(rgb: readonly [number, number, number]): string {
  const stops = Array.from({ length: STOPS + 1 }, (_, index) => {
    const strength = index / STOPS;
    return `rgba(${rgb.join(', ')}, ${heatOpacity(strength).toFixed(3)}) ${(strength * 100).toFixed(1)}%`;
  });
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
