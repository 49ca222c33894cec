import { clipped, type Layer } from './layers.ts';

/** A trade as a circle whose area shows its size. */
export interface Bubble {
  /** Unix seconds. */
  readonly time: number;
  readonly value: number;
  readonly size: number;
  /** The taker bought what rises with the value. */
  readonly isUp: boolean;
}

const [RADIUS_MIN, RADIUS_MAX] = [2, 9];

/** Circles at trades: filled for a taker who expects a rise, hollow for one who expects a fall. */
export function bubbleLayer(bubbles: readonly Bubble[], scale: string): Layer {
  const largest = bubbles.reduce((most, { size }) => Math.max(most, size), 0);
  return (chart, { colour }) =>
    clipped(chart, (ctx) => {
      const { min, max } = chart.scales.x ?? {};
      ctx.lineWidth = 1.25 * devicePixelRatio;
      for (const { time, value, size, isUp } of bubbles) {
        if (min == null || max == null || time < min || time > max) continue;
        const radius = RADIUS_MIN + (RADIUS_MAX - RADIUS_MIN) * Math.sqrt(size / largest);
        ctx.beginPath();
        ctx.arc(
          chart.valToPos(time, 'x', true),
          chart.valToPos(value, scale, true),
          radius * devicePixelRatio,
          0,
          2 * Math.PI,
        );
        ctx.fillStyle = ctx.strokeStyle = colour(isUp ? '--up' : '--down');
        ctx.globalAlpha = 0.35;
        if (isUp) ctx.fill();
        ctx.globalAlpha = 0.75;
        ctx.stroke();
      }
    });
}
