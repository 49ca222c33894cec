import { HEAT_COLOURS, heatOpacity, heatStrength, UNPROVEN_SHARE } from './heatScale.ts';
import { clipped, type Layer } from './layers.ts';

/** Sizes at prices over time, in columns of equal length. */
export interface HeatGrid {
  /** Start of the first column and length of each, Unix seconds. */
  readonly from: number;
  readonly seconds: number;
  readonly columns: readonly (HeatColumn | null)[];
  /** Distance of two prices. */
  readonly tick: number;
  /** Largest size: the end of the colour scale. */
  readonly largest: number;
}

export interface HeatColumn {
  readonly bids: readonly HeatLevel[];
  readonly asks: readonly HeatLevel[];
  readonly isTrusted: boolean;
}

interface HeatLevel {
  readonly price: number;
  readonly size: number;
}

/** Draws the grid as an image, which is made once: a zoom only scales it. */
export function heatLayer(grid: HeatGrid, scale: string): Layer {
  const image = imageOf(grid);
  const { from, seconds, columns, tick } = grid;
  return (chart) => {
    if (image === null) return;
    clipped(chart, (ctx) => {
      const left = chart.valToPos(from, 'x', true);
      const right = chart.valToPos(from + seconds * columns.length, 'x', true);
      // A row is as high as a tick, with its price in the middle.
      const top = chart.valToPos(1 + tick / 2, scale, true);
      const bottom = chart.valToPos(-tick / 2, scale, true);
      ctx.imageSmoothingEnabled = false;
      ctx.drawImage(image, left, top, right - left, bottom - top);
    });
  };
}

function imageOf({ columns, tick, largest }: HeatGrid): OffscreenCanvas | null {
  if (columns.length === 0) return null;
  const rows = Math.round(1 / tick) + 1;
  const canvas = new OffscreenCanvas(columns.length, rows);
  const ctx = canvas.getContext('2d');
  if (ctx === null) return null;
  const pixels = ctx.createImageData(columns.length, rows);
  columns.forEach((column, x) => {
    if (column === null) return;
    for (const [levels, rgb] of [
      [column.bids, HEAT_COLOURS.bid],
      [column.asks, HEAT_COLOURS.ask],
    ] as const) {
      for (const { price, size } of levels) {
        const at = ((rows - 1 - Math.round(price / tick)) * columns.length + x) * 4;
        const opacity = heatOpacity(heatStrength(size, largest)) * (column.isTrusted ? 1 : UNPROVEN_SHARE);
        pixels.data.set([...rgb, Math.round(opacity * 255)], at);
      }
    }
  });
  ctx.putImageData(pixels, 0, 0);
  return canvas;
}
