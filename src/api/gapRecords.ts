/** Reads a market's gaps. Gaps in memory are newer than their stored versions; all others come from the store. */

import type { MarketLookup } from '../http/marketLookup.ts';
import type { GapBody } from '../schema/api/resources.ts';
import type { Gap } from '../schema/gap.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import { countGaps, type GapQuery, listGaps } from '../store/queries/gaps.ts';

/** Oldest first; at most `limit`. */
export async function gapRecords(
  parts: MarketLookup,
  query: GapQuery,
  signal: AbortSignal,
): Promise<GapBody[]> {
  const { limit, after } = query;
  const { selected, except } = inMemory(parts, query);
  const stored = await listGaps(parts.store, { ...query, except }, signal);
  const known = selected.filter((gap) => after === null || isBefore(after, gap)).map(gapBody);
  if (known.length === 0) return stored;
  return [...stored, ...known].sort((a, b) => (isBefore(placeOf(a), placeOf(b)) ? -1 : 1)).slice(0, limit);
}

export async function countGapRecords(
  parts: MarketLookup,
  query: GapQuery,
  signal: AbortSignal,
): Promise<number> {
  const { selected, except } = inMemory(parts, query);
  return selected.length + (await countGaps(parts.store, { ...query, except }, signal));
}

/**
 * Gaps in memory within the range, and ids that the store query must exclude. All ids in memory are excluded, because a
 * stored version may still be open.
 */
function inMemory(
  { live }: Pick<MarketLookup, 'live'>,
  { marketId, startMs, endMs }: GapQuery,
): { selected: Gap[]; except: string[] } {
  const gaps = live.followed.gaps(marketId);
  const selected = gaps.filter(
    ({ startTimeMs, endTimeMs }) =>
      (startMs === null || endTimeMs === null || endTimeMs >= startMs) &&
      (endMs === null || startTimeMs < endMs),
  );
  return { selected, except: gaps.map(({ gapId }) => gapId) };
}

/** Formats a gap as the store's query does. */
function gapBody(gap: Gap): GapBody {
  const { gapId, startTimeMs, endTimeMs, startReceivedMs, endReceivedMs, cause, feed, repairedBy } = gap;
  return {
    gap_id: gapId,
    start: formatTime(startTimeMs),
    end: formatTimeOrNull(endTimeMs),
    start_received: formatTime(startReceivedMs),
    end_received: formatTimeOrNull(endReceivedMs),
    cause,
    feed,
    repaired_by: repairedBy,
  };
}

type Place = NonNullable<GapQuery['after']>;

function placeOf({ start, gap_id: gapId }: GapBody): Place {
  return { startTimeMs: Date.parse(start), gapId };
}

function isBefore(a: Place, b: Place): boolean {
  return a.startTimeMs === b.startTimeMs ? a.gapId < b.gapId : a.startTimeMs < b.startTimeMs;
}
