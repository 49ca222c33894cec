import type { Band } from './band.ts';
import { clipped, type Layer } from './layers.ts';

/**
 * Shades the distance between a line and a level: one colour above the level, another below it.
 * @param within Time range to shade, Unix seconds.
 */
export function distanceLayer({
  times,
  values,
  level,
  scale,
  within,
}: {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly level: number;
  readonly scale: string;
  readonly within: Band;
}): Layer {
  return (chart, { colour }) => {
    const { bbox } = chart;
    const base = chart.valToPos(level, scale, true);
    const shape = new Path2D();
    let open: { x: number; y: number } | null = null;
    const close = () => {
      if (open !== null) shape.lineTo(open.x, base);
      open = null;
    };
    for (let index = 0; index < times.length; index++) {
      const time = times[index] as number;
      const value = values[index];
      if (value == null || time < within.from || time > within.to) {
        close();
        continue;
      }
      const x = chart.valToPos(time, 'x', true);
      // Several values of one pixel column are one.
      if (open !== null && x - open.x < 1) continue;
      const y = chart.valToPos(value, scale, true);
      if (open === null) shape.moveTo(x, base);
      shape.lineTo(x, y);
      open = { x, y };
    }
    close();
    clipped(chart, (ctx) => {
      const halves = [
        ['--up-soft', bbox.top, base - bbox.top],
        ['--down-soft', base, bbox.top + bbox.height - base],
      ] as const;
      for (const [name, top, height] of halves) {
        if (height <= 0) continue;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, top, bbox.width, height);
        ctx.clip();
        ctx.fillStyle = colour(name);
        ctx.fill(shape);
        ctx.restore();
      }
    });
  };
}
