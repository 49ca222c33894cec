import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Level, Market, Snapshot } from '../../api/schema.ts';
import type { Band } from '../../charts/band.ts';
import { useChartGroup, useShared } from '../../charts/chartGroup.ts';
import type { Line } from '../../charts/chartOptions.ts';
import { HeatLegend } from '../../charts/HeatLegend.tsx';
import { type HeatColumn, type HeatGrid, heatLayer } from '../../charts/heatLayer.ts';
import { TimeChart } from '../../charts/TimeChart.tsx';
import { useServiceTime } from '../../live/useServiceClock.ts';
import { cents } from '../../ui/format.ts';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { lastBefore, secondsOf, usePolling } from './data.ts';
import { PROBABILITY, timeMarksOf } from './MidCharts.tsx';

const COLUMNS = 240;
/** Two prices of one row of the image are at most so far apart; a row of a finer tick would be thinner than a pixel. */
const ROW_MIN = 0.005;
/** Delay after a zoom before its books are loaded. */
const SETTLE_MS = 250;

/** Shares at each price over time, aligned with the charts of its group; a zoom loads finer columns. */
export function HeatMap({
  market,
  bands,
  onPick,
}: {
  market: Market;
  bands: readonly Band[];
  onPick: (timeMs: number) => void;
}): ReactNode {
  const span = useMemo(() => secondsOf(market), [market]);
  const timeMarks = useMemo(() => timeMarksOf(market), [market]);
  const zoom = useShared(useChartGroup('time').zoom);
  const [{ from, to }] = useDebouncedValue(zoom ?? span, SETTLE_MS);
  const seconds = Math.max(Math.ceil(((to - from) * 1000) / COLUMNS), 10) / 1000;
  const nowSeconds = useServiceTime() / 1000;
  // Columns begin at multiples of their length, as the service's intervals do.
  const first = Math.floor(from / seconds) * seconds;
  const last = Math.min(to, Math.max(nowSeconds, from));
  const query = {
    ...{ market_id: market.market_id, start: isoOf(first), end: isoOf(to), depth: 100 },
    ...{ interval_ms: Math.round(seconds * 1000), limit: COLUMNS + 10 },
  };
  const books = useApi('GET /v1/snapshots', { query }, { ...usePolling(market), keep: true });
  const before = useApi('GET /v1/snapshots', { query: lastBefore(market, isoOf(first)) }, { keep: true });
  const grid = useMemo(() => {
    const known = books.data?.snapshots ?? [];
    const inForce = before.data?.snapshots[0];
    return gridOf(known, inForce, { from: first, to: last, seconds, tick: market.tick_size });
  }, [books.data, before.data, first, last, seconds, market.tick_size]);
  const under = useMemo(() => [heatLayer(grid, 'price')], [grid]);
  const shown = useMemo(() => bestPrices(grid), [grid]);
  if (books.isPending || before.isPending) return <Loading rows={6} />;
  const answer = lastAnswer(books);
  if (answer === undefined) return <RequestFailure of={books} />;
  // Without the book in force at the left edge, the first columns are empty.
  const failure = <RequestFailure of={books.error === null ? before : books} />;
  if (grid.largest === 0) {
    return (
      <>
        {failure}
        <Empty title="No books recorded in this time" />
      </>
    );
  }
  return (
    <>
      {failure}
      <TimeChart
        label={`Depth over time: ${answer.count} books, prices from 0 to 100 cents`}
        times={shown.times}
        lines={shown.lines}
        span={span}
        gaps={bands}
        timeMarks={timeMarks}
        under={under}
        ranges={PROBABILITY}
        height={280}
        onPick={(time) => onPick(time * 1000)}
      />
      <HeatLegend largest={grid.largest} />
    </>
  );
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** @param inForce The book at the left edge, if one was recorded by then. */
function gridOf(
  books: readonly Snapshot[],
  inForce: Snapshot | undefined,
  { from, to, seconds, tick }: { from: number; to: number; seconds: number; tick: number },
): HeatGrid {
  const row = Math.max(tick, ROW_MIN);
  const count = Math.max(Math.ceil((to - from) / seconds), 0);
  const columns: (HeatColumn | null)[] = [];
  let next = 0;
  let current = inForce === undefined ? null : columnOf(inForce, row);
  for (let index = 0; index < count; index++) {
    const end = from + (index + 1) * seconds;
    for (; next < books.length; next++) {
      const book = books[next] as Snapshot;
      if (Date.parse(book.ts) / 1000 >= end) break;
      current = columnOf(book, row);
    }
    columns.push(current);
  }
  const sizes = new Set(columns);
  let largest = 0;
  for (const column of sizes) {
    for (const { size } of [...(column?.bids ?? []), ...(column?.asks ?? [])])
      largest = Math.max(largest, size);
  }
  return { from, seconds, columns, tick: row, largest };
}

function columnOf({ yes_bids, yes_asks, trusted }: Snapshot, row: number): HeatColumn {
  return { bids: inRows(yes_bids, row), asks: inRows(yes_asks, row), isTrusted: trusted };
}

/** Levels of one row of the image are one, with all their shares. */
function inRows(levels: readonly Level[], row: number): Level[] {
  const sums = new Map<number, number>();
  for (const { price, size } of levels) {
    const index = Math.round(price / row);
    sums.set(index, (sums.get(index) ?? 0) + size);
  }
  return [...sums].map(([index, size]) => ({ price: index * row, size }));
}

/** The best prices of each column, drawn as lines over the shares. */
function bestPrices({ from, seconds, columns }: HeatGrid): { times: number[]; lines: Line[] } {
  const best = (levels: readonly { price: number }[], pick: (...prices: number[]) => number) =>
    levels.length === 0 ? null : pick(...levels.map(({ price }) => price));
  const shared = { scale: 'price', kind: 'step', print: cents } as const;
  return {
    times: columns.map((_, index) => from + index * seconds),
    lines: [
      {
        ...{ ...shared, label: 'Best bid, Up', colour: '--up' },
        values: columns.map((column) => best(column?.bids ?? [], Math.max)),
      },
      {
        ...{ ...shared, label: 'Best ask, Up', colour: '--down' },
        values: columns.map((column) => best(column?.asks ?? [], Math.min)),
      },
    ],
  };
}
