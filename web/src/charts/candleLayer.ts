import type { Candle } from './candles.ts';
import { clipped, type Layer } from './layers.ts';

const WICK_PX = 1;

/** Filled bodies that rose, hollow ones that fell: the direction shows without colour, too. */
export function candleLayer(
  candles: readonly Candle[],
  { scale, seconds }: { scale: string; seconds: number },
): Layer {
  return (chart, { colour, ground }) =>
    clipped(chart, (ctx) => {
      const place = (value: number) => chart.valToPos(value, scale, true);
      const wide = Math.max(
        Math.abs(chart.valToPos(seconds, 'x', true) - chart.valToPos(0, 'x', true)) * 0.7,
        1,
      );
      ctx.lineWidth = WICK_PX * devicePixelRatio;
      for (const { time, open, high, low, close } of candles) {
        const isUp = close >= open;
        const x = chart.valToPos(time + seconds / 2, 'x', true);
        ctx.strokeStyle = colour(isUp ? '--up' : '--down');
        ctx.beginPath();
        ctx.moveTo(x, place(high));
        ctx.lineTo(x, place(low));
        ctx.stroke();
        const top = place(Math.max(open, close));
        const tall = Math.max(place(Math.min(open, close)) - top, devicePixelRatio);
        ctx.fillStyle = isUp ? colour('--up') : ground;
        ctx.fillRect(x - wide / 2, top, wide, tall);
        ctx.strokeRect(x - wide / 2, top, wide, tall);
      }
    });
}
