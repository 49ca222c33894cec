import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/client.ts';
import { pollingMs, useApi } from '../../api/hooks.ts';
import type { Gap, Market, Snapshot, TimeseriesPoint, Trade, UnderlyingPoint } from '../../api/schema.ts';
import type { Band } from '../../charts/chartOptions.ts';
import { useClockAhead } from '../../live/useServiceClock.ts';
import { lastAnswer } from '../../ui/RequestFailure.tsx';

/** Rows per request: the service's maximum. */
const PAGE_SIZE = 10_000;
const GAPS_PAGE_SIZE = 1_000;
/** Most points that a page loads one by one; a market with more is sampled. */
const POINTS_MAX = 40_000;
const SAMPLES = 4_000;
/** The model's volatility is that of the last ten minutes. */
const VOLATILITY_MS = 600_000;
/** A market is shown from this long before its window. Its book is recorded earlier, from its listing on. */
const BEFORE_MS = 300_000;
/** Why a page has no charts yet. */
export const SHOWN_FROM =
  'The charts of a market begin five minutes before its window. Exports have the books recorded before that.';
/** How often an open market is requested again. */
export const OPEN_REFETCH_MS = 15_000;
/** The last rows of a market may be stored this long after its end. */
const LAST_STORED_MS = 60_000;
const SETTLED_MS = 1_200_000;

/** How often the rows of a market are requested again: until its last ones are stored. */
export function usePolling({ status, end_time }: Market): { refetchMs: number; isFinal: () => boolean } {
  const finalMs = Date.parse(end_time) + LAST_STORED_MS - (useClockAhead() ?? 0);
  return { refetchMs: OPEN_REFETCH_MS, isFinal: () => status !== 'open' && Date.now() > finalMs };
}

/** Nothing of a market changes any more: the venue's final price appears within 14 minutes of the end, or never. */
export function isSettled({ status, end_time }: Market, nowMs: number): boolean {
  return status === 'resolved' && nowMs > Date.parse(end_time) + SETTLED_MS;
}

/** The requested range: the window and some time before it. */
export function spanOf(market: Market): { start: string; end: string; fromMs: number; toMs: number } {
  const toMs = Date.parse(market.end_time);
  const length = toMs - Date.parse(market.start_time);
  const fromMs = toMs - length - Math.min(BEFORE_MS, length);
  return { start: new Date(fromMs).toISOString(), end: new Date(toMs).toISOString(), fromMs, toMs };
}

/** The market's charts begin in the future: everything recorded so far is earlier than the range they show. */
export function isBeforeShown(market: Market, nowMs: number): boolean {
  return spanOf(market).fromMs > nowMs;
}

/** The same in seconds, for charts. */
export function secondsOf(market: Market): Band {
  const { fromMs, toMs } = spanOf(market);
  return { from: fromMs / 1000, to: toMs / 1000 };
}

/** Recorded points, and prices of the underlying before the first one. */
interface RecordedPoints {
  readonly points: TimeseriesPoint[];
  readonly earlier: UnderlyingPoint[];
}

export function useRecordedPoints(market: Market): UseQueryResult<RecordedPoints, Error> {
  const { refetchMs, isFinal } = usePolling(market);
  return useQuery({
    queryKey: ['recorded-points', market.market_id],
    queryFn: ({ signal }) => recordedPoints(market, signal),
    refetchInterval: ({ state: { error } }) => !isFinal() && pollingMs(error, refetchMs),
  });
}

async function recordedPoints(market: Market, signal: AbortSignal): Promise<RecordedPoints> {
  const [inForce, points] = await Promise.all([stateInForce(market, signal), allPoints(market, signal)]);
  const all = [...inForce, ...points];
  const [first] = all;
  return { points: all, earlier: first === undefined ? [] : await pricesBefore(market, first.ts, signal) };
}

/** The last state before the chart, in force at its left edge; none if the recording began later. */
async function stateInForce(market: Market, signal: AbortSignal): Promise<TimeseriesPoint[]> {
  const { start } = spanOf(market);
  const { snapshots } = await call('GET /v1/snapshots', { query: lastBefore(market, start) }, signal);
  return snapshots.map((book) => ({ ...pointOf(book), ts: start }));
}

/** The query of the last book before a time; its answer is empty where a lookup of the time would be an error. */
export function lastBefore({ market_id }: Market, time: string) {
  return { market_id, end: time, order: 'desc', limit: 1, depth: 100 } as const;
}

/** Every change of the best prices; of a market with very many the last state of each of `SAMPLES` intervals. */
async function allPoints(market: Market, signal: AbortSignal): Promise<TimeseriesPoint[]> {
  const { start, end } = spanOf(market);
  const points: TimeseriesPoint[] = [];
  let cursor: string | null = null;
  do {
    const query = { start, end, limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
    const page: Awaited<ReturnType<typeof call<'GET /v1/markets/{market_id}/timeseries'>>> = await call(
      'GET /v1/markets/{market_id}/timeseries',
      { path: { market_id: market.market_id }, query },
      signal,
    );
    if (page.total > POINTS_MAX) return sampledPoints(market, signal);
    points.push(...page.snapshots);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return points;
}

async function sampledPoints(market: Market, signal: AbortSignal): Promise<TimeseriesPoint[]> {
  const { start, end, fromMs, toMs } = spanOf(market);
  const interval_ms = Math.ceil((toMs - fromMs) / SAMPLES);
  const query = { market_id: market.market_id, start, end, depth: 1, interval_ms, limit: SAMPLES + 2 };
  return (await call('GET /v1/snapshots', { query }, signal)).snapshots.map(pointOf);
}

function pointOf({ ts, yes_bids, yes_asks, underlying_price, trusted }: Snapshot): TimeseriesPoint {
  const [bid, ask] = [yes_bids[0]?.price, yes_asks[0]?.price];
  const isKnown = trusted && bid !== undefined && ask !== undefined;
  return {
    ...{ ts, underlying_price },
    mid_yes: isKnown ? (bid + ask) / 2 : null,
    spread_yes: isKnown ? ask - bid : null,
  };
}

async function pricesBefore(market: Market, time: string, signal: AbortSignal): Promise<UnderlyingPoint[]> {
  const { ticker } = market;
  if (ticker === 'unknown') return [];
  const start = new Date(Date.parse(time) - VOLATILITY_MS).toISOString();
  const query = {
    ticker,
    source: 'binance_spot',
    start,
    end: time,
    order: 'desc',
    limit: PAGE_SIZE,
  } as const;
  // Without them the volatility is known later; nothing else depends on them.
  const found = await call('GET /v1/underlying', { query }, signal).catch(() => null);
  return found?.points.toReversed() ?? [];
}

/** The newest trades of the market, oldest first; undefined until they are loaded, and if they cannot be loaded. */
export interface Tape {
  readonly trades: readonly Trade[] | undefined;
  /** There are older ones than one answer has. */
  readonly isCut: boolean;
  readonly request: UseQueryResult<unknown, Error>;
}

export function useTape(market: Market): Tape {
  const query = { market_id: market.market_id, order: 'desc', limit: PAGE_SIZE } as const;
  const request = useApi('GET /v1/trades', { query }, usePolling(market));
  const known = lastAnswer(request);
  const trades = useMemo(() => known?.trades.toReversed(), [known]);
  return { trades, isCut: known !== undefined && known.next_cursor !== null, request };
}

interface KnownGaps {
  /** Undefined until they are loaded, and if they cannot be loaded. */
  readonly gaps: readonly Gap[] | undefined;
  readonly bands: readonly Band[];
  readonly request: UseQueryResult<unknown, Error>;
}

/** Untrusted time ranges of the market; an open one ends with the chart. */
export function useGaps(market: Market): KnownGaps {
  const { refetchMs, isFinal } = usePolling(market);
  const request = useQuery({
    queryKey: ['all-gaps', market.market_id],
    queryFn: ({ signal }) => allGaps(market, signal),
    refetchInterval: ({ state: { error } }) => !isFinal() && pollingMs(error, refetchMs),
  });
  const gaps = lastAnswer(request);
  const bands = useMemo(() => {
    const toMs = Date.parse(market.end_time);
    return (gaps ?? []).map(({ start, end }) => ({
      from: Date.parse(start) / 1000,
      to: (end === null ? toMs : Date.parse(end)) / 1000,
    }));
  }, [gaps, market.end_time]);
  return { gaps, bands, request };
}

/** A market may have more gaps than one answer: one that is left out would be a time that looks proven. */
async function allGaps({ market_id }: Market, signal: AbortSignal): Promise<Gap[]> {
  const gaps: Gap[] = [];
  let cursor: string | null = null;
  do {
    const query = { market_id, limit: GAPS_PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
    const page: Awaited<ReturnType<typeof call<'GET /v1/gaps'>>> = await call(
      'GET /v1/gaps',
      { query },
      signal,
    );
    gaps.push(...page.gaps);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return gaps;
}

export interface MarketSearch {
  /** Time of the displayed book, Unix ms. */
  readonly at?: number | undefined;
  /** A backtest or a paper strategy whose trades are drawn. */
  readonly backtest?: string | undefined;
  readonly paper?: string | undefined;
}
