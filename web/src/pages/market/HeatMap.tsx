import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Market, Snapshot } from '../../api/schema.ts';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { spanOf } from './data.ts';

const COLUMNS = 240;
const HEIGHT = 220;
/** Prices in cents, one row each. */
const ROWS = 100;
const [BID, ASK] = ['18, 184, 134', '230, 73, 128'];

/** Shares at each price over time, as a heat map. */
export function HeatMap({ market }: { market: Market }): ReactNode {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme('light');
  const { start, end, fromMs, toMs } = spanOf(market);
  const interval = Math.max(1000, Math.ceil((toMs - fromMs) / COLUMNS));
  const query = { ...{ market_id: market.market_id, start, end, depth: 100 }, interval_ms: interval };
  const books = useApi('GET /v1/snapshots', { query: { ...query, limit: COLUMNS + 10 } });
  // biome-ignore lint/correctness/useExhaustiveDependencies: redrawn for another width or colour scheme
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context && books.data !== undefined && width > 0)
      draw(context, books.data.snapshots, { fromMs, toMs });
  }, [books.data, fromMs, toMs, width, scheme]);
  if (books.isPending) return <Loading rows={6} />;
  if (books.isError) return <Failure error={books.error} retry={() => void books.refetch()} />;
  if (books.data.count === 0) return <Empty title="No books recorded in this window" />;
  return (
    <div ref={ref}>
      <canvas
        ref={canvas}
        width={Math.max(Math.round(width * devicePixelRatio), 1)}
        height={HEIGHT * devicePixelRatio}
        style={{ width: '100%', height: HEIGHT }}
        role="img"
        aria-label={`Depth over time: ${books.data.count} books, prices from 0 to 100 cents`}
      />
    </div>
  );
}

function draw(
  context: CanvasRenderingContext2D,
  books: readonly Snapshot[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): void {
  const { width, height } = context.canvas;
  context.clearRect(0, 0, width, height);
  const typical = typicalSize(books);
  const xOf = (timeMs: number) => ((timeMs - fromMs) / (toMs - fromMs)) * width;
  books.forEach((book, index) => {
    const left = Math.max(0, xOf(Date.parse(book.ts)));
    const next = books[index + 1];
    const right = next === undefined ? Math.min(width, left + width / COLUMNS) : xOf(Date.parse(next.ts));
    for (const [levels, colour] of [[book.yes_bids, BID] as const, [book.yes_asks, ASK] as const]) {
      for (const { price, size } of levels) {
        const strength = Math.min(1, Math.sqrt(size / typical));
        context.fillStyle = `rgba(${colour}, ${(strength * (book.trusted ? 0.95 : 0.4)).toFixed(3)})`;
        context.fillRect(
          left,
          (1 - price) * height - height / ROWS / 2,
          right - left + 0.5,
          height / ROWS + 0.5,
        );
      }
    }
  });
}

/** A size that few levels exceed, so that one giant order does not pale all others. */
function typicalSize(books: readonly Snapshot[]): number {
  const sizes = books.flatMap((book) => [...book.yes_bids, ...book.yes_asks].map(({ size }) => size));
  return sizes.sort((a, b) => a - b)[Math.floor(sizes.length * 0.95)] ?? 1;
}
