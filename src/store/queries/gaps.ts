import type { GapBody } from '../../schema/api/resources.ts';
import type { StoreReader } from '../reader.ts';
import { isoTime, storedTime, timeParam, where } from './sql.ts';

export interface GapQuery {
  readonly marketId: string;
  /** Selects gaps that overlap [startMs, endMs), or end at its start. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** Ids of gaps to exclude. */
  readonly except?: readonly string[];
  readonly limit: number;
  readonly after: { readonly startTimeMs: number; readonly gapId: string } | null;
}

/** Oldest first; at most `limit` rows. */
export function listGaps(store: StoreReader, query: GapQuery, signal: AbortSignal): Promise<GapBody[]> {
  const { conditions, params } = selected(query);
  if (query.after) {
    conditions.push(`(t.start_time, t.gap_id) > (${timeParam('after_ms')}, {after_id:String})`);
    Object.assign(params, { after_ms: query.after.startTimeMs, after_id: query.after.gapId });
  }
  return store.rows<GapBody>(
    `SELECT t.gap_id AS gap_id, ${isoTime('t.start_time')} AS start, ${isoTime('t.end_time')} AS end,
       ${isoTime('ifNull(t.start_received, t.start_time)')} AS start_received,
       ${isoTime('ifNull(t.end_received, t.end_time)')} AS end_received,
       t.cause AS cause, t.feed AS feed, t.repaired_by AS repaired_by
     FROM gaps AS t FINAL ${where(conditions)} ORDER BY t.start_time, t.gap_id LIMIT {limit:UInt32}`,
    { ...params, limit: query.limit },
    { signal },
  );
}

export async function countGaps(store: StoreReader, query: GapQuery, signal: AbortSignal): Promise<number> {
  const { conditions, params } = selected(query);
  const [row] = await store.rows<{ total: number }>(
    `SELECT toUInt32(count()) AS total FROM gaps AS t FINAL ${where(conditions)}`,
    params,
    { signal },
  );
  return row?.total ?? 0;
}

function selected({ marketId, startMs, endMs, except = [] }: GapQuery): {
  conditions: string[];
  params: Record<string, string | number | readonly string[]>;
} {
  const conditions = ['t.market_id = {market_id:String}'];
  const params: Record<string, string | number | readonly string[]> = { market_id: marketId };
  if (except.length > 0) {
    conditions.push('t.gap_id NOT IN {except:Array(String)}');
    params.except = except;
  }
  if (startMs !== null) {
    // A gap includes its end: of rows with that time, those received earlier are untrusted.
    conditions.push(`(t.end_time IS NULL OR t.end_time >= ${timeParam('range_start')})`);
    params.range_start = storedTime(Math.ceil(startMs));
  }
  if (endMs !== null) {
    conditions.push(`t.start_time < ${timeParam('range_end')}`);
    params.range_end = storedTime(Math.ceil(endMs));
  }
  return { conditions, params };
}
