import type uPlot from 'uplot';
import type { Band } from './band.ts';

/** Colours and font of a chart's drawing. */
export interface Style {
  readonly ink: string;
  readonly ground: string;
  /** CSS font for labels, in canvas pixels. */
  readonly font: string;
  /** Value of a CSS variable, or the colour itself. */
  readonly colour: (text: string) => string;
}

/** Draws something on a chart's canvas, below or above its lines. */
export type Layer = (chart: uPlot, style: Style) => void;

/** A level of one scale to mark, such as a strike. */
export interface Mark {
  readonly scale: string;
  readonly value: number;
  readonly label: string;
}

/** A time to mark, such as a window's start. */
export interface TimeMark {
  /** Unix seconds. */
  readonly time: number;
  readonly label: string;
}

/** Height of the strip above the plot that holds the labels of time marks, pixels. */
export const STRIP_PX = 20;
const LABEL_PADDING = 4;

/** Runs a drawing clipped to the plot, with the canvas as it was afterwards. */
export function clipped({ ctx, bbox }: uPlot, draw: (ctx: CanvasRenderingContext2D) => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

/** Shades time ranges, with stripes so that they differ from other areas without colour too. */
export function gapLayer(gaps: readonly Band[]): Layer {
  return (chart, { colour }) => {
    if (gaps.length === 0) return;
    const { bbox } = chart;
    clipped(chart, (ctx) => {
      for (const { from, to } of gaps) {
        const left = Math.max(chart.valToPos(from, 'x', true), bbox.left);
        const right = Math.min(chart.valToPos(to, 'x', true), bbox.left + bbox.width);
        if (right < left) continue;
        const width = Math.max(right - left, 2);
        ctx.fillStyle = 'rgba(224, 49, 49, 0.14)';
        ctx.fillRect(left, bbox.top, width, bbox.height);
        drawStripes(ctx, { left, width, top: bbox.top, height: bbox.height, stroke: colour('--down') });
      }
    });
  };
}

function drawStripes(
  ctx: CanvasRenderingContext2D,
  box: { left: number; width: number; top: number; height: number; stroke: string },
): void {
  const { left, width, top, height, stroke } = box;
  const step = 8 * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.strokeStyle = stroke;
  ctx.globalAlpha = 0.25;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let x = left - height; x < left + width; x += step) {
    ctx.moveTo(x, top + height);
    ctx.lineTo(x + height, top);
  }
  ctx.stroke();
  ctx.restore();
}

/** A dashed line at a level, with its label at the left edge. */
export function markLayer(mark: Mark): Layer {
  return (chart, { ink, ground, font }) => {
    const { bbox } = chart;
    const y = chart.valToPos(mark.value, mark.scale, true);
    if (y < bbox.top || y > bbox.top + bbox.height) return;
    clipped(chart, (ctx) => {
      ctx.strokeStyle = ink;
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.font = font;
      const padding = LABEL_PADDING * devicePixelRatio;
      const height = 16 * devicePixelRatio;
      const top = y - height < bbox.top ? y + 1 : y - height;
      ctx.fillStyle = ground;
      ctx.globalAlpha = 0.85;
      ctx.fillRect(bbox.left + padding, top, ctx.measureText(mark.label).width + 2 * padding, height);
      ctx.globalAlpha = 1;
      ctx.fillStyle = ink;
      ctx.textAlign = 'left';
      ctx.textBaseline = 'middle';
      ctx.fillText(mark.label, bbox.left + 2 * padding, top + height / 2);
    });
  };
}

/** Vertical lines at times, with their labels in the strip above the plot; a label without room is left out. */
export function timeMarkLayer(marks: readonly TimeMark[]): Layer {
  return (chart, { ink, font }) => {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = ink;
    ctx.lineWidth = devicePixelRatio;
    ctx.font = font;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    let free = 0;
    for (const { time, label } of marks) {
      const x = chart.valToPos(time, 'x', true);
      if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const wide = ctx.measureText(label).width;
      const left = Math.min(Math.max(x - wide / 2, 0), ctx.canvas.width - wide);
      if (left < free) continue;
      ctx.fillText(label, left, bbox.top - (STRIP_PX / 2) * devicePixelRatio);
      free = left + wide + 8 * devicePixelRatio;
    }
    ctx.restore();
  };
}
