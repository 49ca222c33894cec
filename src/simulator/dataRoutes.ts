/** The Data API: the outcomes of markets by condition id. */
import { json, type Reply } from './httpReply.ts';
import type { SimulatedMarket } from './markets.ts';
import type { VenueModel } from './model.ts';

const CONDITIONS_MAX = 20;
const MICRO_USDC = 1_000_000;
/** A market is resolved on the chain moments before Gamma closes it. */
const BLOCK_MS = 2_000;

/** @param path Below `/data`. @returns Null when the venue has no such route. */
export function dataReply(
  model: VenueModel,
  { path, query, nowMs }: { path: string; query: URLSearchParams; nowMs: number },
): Reply | null {
  if (path !== '/v2/resolutions') return null;
  const ids = (query.get('condition') ?? '').split(',');
  if (ids.length > CONDITIONS_MAX || !ids.every((id) => /^0x[0-9a-f]{64}$/.test(id))) {
    const error = `condition must be 1 to ${CONDITIONS_MAX} ids of 0x and 64 hex digits`;
    return json({ error, code: 'invalid_request', retryable: false, parameter: 'condition' }, 400);
  }
  const markets = ids.map((id) => model.registry.byId(id)).filter((market) => market !== null);
  const data = markets.map((market) => resolutionRow(market, nowMs));
  return json({ data, pagination: { limit: 100, offset: 0, has_more: false, next_cursor: null } });
}

function resolutionRow({ facts, fate }: SimulatedMarket, nowMs: number): Record<string, unknown> {
  const resolvedMs = facts.window.endTimeMs + facts.habits.closedDelayMs - BLOCK_MS;
  const isResolved = fate.payoutUp !== null && nowMs >= resolvedMs;
  const common = {
    ...{ condition_id: facts.conditionId, status: isResolved ? 'resolved' : 'active', was_disputed: false },
    ...{ extended_review: false, new_version_q: false, transaction_hash: '', log_index: '' },
  };
  if (!isResolved || fate.payoutUp === null) return common;
  const up = fate.payoutUp * MICRO_USDC;
  const time = `${new Date(resolvedMs).toISOString().slice(0, 19)}Z`;
  return {
    ...common,
    ...{ market_type: 'BINARY', payouts: [up, MICRO_USDC - up], was_arbitrated: false },
    ...{
      resolution_source: 'reported',
      reporter: 'CHAINLINK',
      resolved_at: time,
      last_update_timestamp: time,
    },
  };
}
