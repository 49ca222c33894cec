/** What a replayed stream says between books. */
import { formatTime } from '../../schema/time.ts';
import type { StoreReader } from '../reader.ts';
import type { ReplayMarket, ReplayRange } from './replay.ts';

/** A gap or a resolution. */
export interface ReplayNotice {
  readonly atMs: number;
  readonly message: Readonly<Record<string, unknown>>;
}

interface GapRow {
  readonly market_id: string;
  readonly gap_id: string;
  readonly cause: string;
  readonly startMs: number;
  readonly endMs: number | null;
  readonly knownMs: number | null;
}

/** Gaps as they came to be known, and resolutions, oldest first; of those before the range the gaps still open in it. */
export async function noticesOf(
  store: StoreReader,
  markets: readonly ReplayMarket[],
  { fromMs, toMs }: ReplayRange,
  signal: AbortSignal,
): Promise<ReplayNotice[]> {
  const params = { ids: markets.map(({ marketId }) => marketId) };
  const [gaps, resolved] = await Promise.all([
    store.rows<GapRow>(
      `SELECT t.market_id AS market_id, t.gap_id AS gap_id, t.cause AS cause,
       toUnixTimestamp64Milli(t.start_time) AS startMs, toUnixTimestamp64Milli(t.end_time) AS endMs,
       toUnixTimestamp64Milli(t.known_time) AS knownMs
       FROM gaps AS t FINAL WHERE t.market_id IN {ids:Array(String)}`,
      params,
      { signal },
    ),
    store.rows<{ market_id: string; outcome: string | null; atMs: number }>(
      `SELECT t.market_id AS market_id, t.outcome AS outcome, toUnixTimestamp64Milli(assumeNotNull(t.resolved_time)) AS atMs
       FROM markets AS t FINAL WHERE t.market_id IN {ids:Array(String)} AND t.status = 'resolved' AND t.resolved_time IS NOT NULL`,
      params,
      { signal },
    ),
  ]);
  const notices = [
    ...gaps.flatMap(gapNotices),
    ...resolved.map(({ market_id, outcome, atMs }) => ({
      ...{ atMs, endsAtMs: atMs },
      message: { type: 'market', market_id, status: 'resolved', outcome },
    })),
  ];
  return notices
    .filter(({ atMs, endsAtMs }) => endsAtMs >= fromMs && atMs < toMs)
    .sort((a, b) => a.atMs - b.atMs);
}

/** @returns Each with the moment from which it means nothing any more. */
function gapNotices({ market_id, gap_id, cause, startMs, endMs, knownMs }: GapRow) {
  const of = (state: string, at: number) => ({
    ...{ type: 'gap', market_id, gap_id, state, cause },
    at: formatTime(at),
  });
  const atMs = knownMs ?? startMs;
  const open = { atMs, endsAtMs: endMs ?? Number.POSITIVE_INFINITY, message: of('open', startMs) };
  if (endMs === null) return [open];
  return [open, { atMs: Math.max(endMs, atMs), endsAtMs: endMs, message: of('closed', endMs) }];
}
