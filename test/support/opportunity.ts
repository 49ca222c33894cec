import type { Opportunity } from '../../src/schema/opportunity.ts';
import { formatTime } from '../../src/schema/time.ts';

/** An opportunity of a separate market, as the detectors publish it. */
export function opportunity(
  at: { nowMs: number; n?: number },
  facts: Partial<Opportunity> = {},
): Opportunity {
  const n = at.n ?? 0;
  return {
    ...{ type: 'opportunity', tier: 'logical', ticker: 'BTC', event_type: '5m' },
    ...{ market_id: `0x${n.toString(16).padStart(64, '0')}`, polymarket_slug: `btc-updown-5m-${n}` },
    ...{ direction: 'BUY_BOTH', fill_price: 0.95, fill_spread: 0.06, expected_pnl_per_share: 0.015091 },
    ...{ est_fee_per_share: 0.034909, tau_minutes: 60, confidence: 'stable', model_yes_prob: 0.49 },
    detected_at: formatTime(at.nowMs),
    polymarket_url: `https://polymarket.com/event/btc-updown-5m-${n}`,
    ...facts,
  };
}
