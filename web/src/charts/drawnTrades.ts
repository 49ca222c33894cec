import type uPlot from 'uplot';

/** One point of a chart: Unix seconds, and a value of its first scale. */
interface Point {
  readonly time: number;
  readonly value: number;
}

/** A trade: where a position was opened and where it was closed. */
export interface DrawnTrade {
  readonly opened: Point;
  /** Null while the position is open. */
  readonly closed: Point | null;
  /** The position gains when the value rises; else when it falls. */
  readonly isUp: boolean;
  /** Null while unknown. */
  readonly isWon: boolean | null;
}

/** Half the width of a mark, pixels. */
const SIZE = 7;

/** Draws a triangle at the opening (pointing in the direction of gain), a ring at the close, and a line between. */
export function drawTrades(
  chart: uPlot,
  trades: readonly DrawnTrade[],
  { scale, won, lost, ink }: { scale: string; won: string; lost: string; ink: string },
): void {
  if (trades.length === 0) return;
  const { ctx, bbox } = chart;
  const place = ({ time, value }: Point) =>
    [chart.valToPos(time, 'x', true), chart.valToPos(value, scale, true)] as const;
  ctx.save();
  ctx.beginPath();
  // Half a mark wider, so that a mark on the edge is whole.
  ctx.rect(bbox.left - SIZE, bbox.top - SIZE, bbox.width + 2 * SIZE, bbox.height + 2 * SIZE);
  ctx.clip();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const { opened, closed, isUp, isWon } of trades) {
    const colour = isWon === null ? ink : isWon ? won : lost;
    ctx.strokeStyle = ctx.fillStyle = colour;
    const [x, y] = place(opened);
    if (closed !== null) {
      const [endX, endY] = place(closed);
      drawLine(ctx, [x, y], [endX, endY]);
      ctx.beginPath();
      ctx.arc(endX, endY, SIZE * 0.75 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.stroke();
    }
    drawTriangle(ctx, [x, y], isUp ? -1 : 1);
  }
  ctx.restore();
}

function drawLine(
  ctx: CanvasRenderingContext2D,
  from: readonly [number, number],
  to: readonly [number, number],
): void {
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawTriangle(ctx: CanvasRenderingContext2D, [x, y]: readonly [number, number], way: 1 | -1): void {
  const size = SIZE * devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, y + way * size);
  ctx.lineTo(x - size, y - way * size);
  ctx.lineTo(x + size, y - way * size);
  ctx.closePath();
  ctx.fill();
}
