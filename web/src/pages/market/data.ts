import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import type { Gap, Market, TimeseriesPoint, Trade } from '../../api/schema.ts';
import type { Band } from '../../charts/chartOptions.ts';

/** Rows per request: the service's maximum. */
const PAGE_SIZE = 10_000;
/** Most points of one market on a page; of a busy day the newest are shown. */
const POINTS_MAX = 100_000;
/** A market is shown from this long before its window, because its book is recorded from then on. */
const BEFORE_MS = 300_000;
const OPEN_REFETCH_MS = 15_000;

/** The requested range: the window and some time before it. */
export function spanOf(market: Market): { start: string; end: string; fromMs: number; toMs: number } {
  const toMs = Date.parse(market.end_time);
  const length = toMs - Date.parse(market.start_time);
  const fromMs = toMs - length - Math.min(BEFORE_MS, length);
  return { start: new Date(fromMs).toISOString(), end: new Date(toMs).toISOString(), fromMs, toMs };
}

/** The same in seconds, for charts. */
export function secondsOf(market: Market): Band {
  const { fromMs, toMs } = spanOf(market);
  return { from: fromMs / 1000, to: toMs / 1000 };
}

export function useMidpoints(market: Market): { points: TimeseriesPoint[] | undefined; error: Error | null } {
  const { start, end } = spanOf(market);
  const found = useQuery({
    queryKey: ['midpoints', market.market_id],
    queryFn: ({ signal }) => allPoints({ marketId: market.market_id, start, end, signal }),
    ...(market.status === 'open' ? { refetchInterval: OPEN_REFETCH_MS } : {}),
  });
  return { points: found.data, error: found.error };
}

async function allPoints({
  marketId,
  start,
  end,
  signal,
}: {
  marketId: string;
  start: string;
  end: string;
  signal: AbortSignal;
}): Promise<TimeseriesPoint[]> {
  const points: TimeseriesPoint[] = [];
  let cursor: string | null = null;
  do {
    const query = {
      start,
      end,
      order: 'desc',
      limit: PAGE_SIZE,
      ...(cursor === null ? {} : { cursor }),
    } as const;
    const page: Awaited<ReturnType<typeof call<'GET /v1/markets/{market_id}/timeseries'>>> = await call(
      'GET /v1/markets/{market_id}/timeseries',
      { path: { market_id: marketId }, query },
      signal,
    );
    points.push(...page.snapshots);
    cursor = page.next_cursor;
  } while (cursor !== null && points.length < POINTS_MAX);
  return points.reverse();
}

export function useTrades(market: Market): Trade[] | undefined {
  const query = { market_id: market.market_id, order: 'desc', limit: 5000 } as const;
  const refetch = market.status === 'open' ? { refetchMs: OPEN_REFETCH_MS } : {};
  const { data } = useApi('GET /v1/trades', { query }, refetch);
  return useMemo(() => data?.trades.toReversed(), [data]);
}

/** Untrusted time ranges of the market; an open one ends with the chart. */
export function useGaps(market: Market): { gaps: readonly Gap[]; bands: readonly Band[] } {
  const { data } = useApi('GET /v1/gaps', { query: { market_id: market.market_id, limit: 1000 } });
  return useMemo(() => {
    const gaps = data?.gaps ?? [];
    const toMs = Date.parse(market.end_time);
    const bands = gaps.map(({ start, end }) => ({
      from: Date.parse(start) / 1000,
      to: (end === null ? toMs : Date.parse(end)) / 1000,
    }));
    return { gaps, bands };
  }, [data, market.end_time]);
}

export interface MarketSearch {
  /** Time of the displayed book, Unix ms. */
  readonly at?: number | undefined;
  /** A backtest or a paper strategy whose trades are drawn. */
  readonly backtest?: string | undefined;
  readonly paper?: string | undefined;
}
