/** What streams say of a market between its books, live and replayed. */
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import { formatTime } from '../schema/time.ts';

/** What is told of a gap when it opens, and when it is closed. */
export function gapNotice({ marketId, gapId, cause, startTimeMs, endTimeMs }: Gap) {
  const state = endTimeMs === null ? 'open' : 'closed';
  const at = formatTime(endTimeMs ?? startTimeMs);
  return { type: 'gap', market_id: marketId, gap_id: gapId, state, cause, at };
}

export function statusNotice({ marketId, status, outcome }: Pick<Market, 'marketId' | 'status' | 'outcome'>) {
  return { type: 'market', market_id: marketId, status, outcome };
}
