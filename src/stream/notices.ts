/** Messages of the streams, live and replayed, about a market between its books. */
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import { formatTime } from '../schema/time.ts';

/** The message for a gap that opens or closes. */
export function gapNotice({ marketId, gapId, cause, startTimeMs, endTimeMs }: Gap) {
  const state = endTimeMs === null ? 'open' : 'closed';
  const at = formatTime(endTimeMs ?? startTimeMs);
  return { type: 'gap', market_id: marketId, gap_id: gapId, state, cause, at };
}

export function statusNotice({ marketId, status, outcome }: Pick<Market, 'marketId' | 'status' | 'outcome'>) {
  return { type: 'market', market_id: marketId, status, outcome };
}
