import type { SignalTier } from '../core/signals/signal.ts';
import { venuePageUrl } from '../schema/market.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import { formatTime } from '../schema/time.ts';
import type { Detection } from './detection.ts';

/** An opportunity of any kind; only some kinds are pushed. */
type PublishedOpportunity = Omit<Opportunity, 'tier'> & { readonly tier: SignalTier };

/**
 * The published form of a detection: the same fields for sockets and webhooks, and, with further fields, for the board.
 */
export function opportunityOf(detection: Detection): PublishedOpportunity {
  return {
    type: 'opportunity',
    tier: detection.tier,
    ticker: detection.ticker,
    event_type: detection.eventType,
    market_id: detection.marketId,
    polymarket_slug: detection.slug,
    direction: detection.direction,
    fill_price: detection.fillPrice,
    fill_spread: detection.fillSpread,
    expected_pnl_per_share: detection.evPerShare,
    est_fee_per_share: detection.feePerShare,
    tau_minutes: detection.tauSeconds / 60,
    confidence: detection.confidence,
    model_yes_prob: detection.modelYesProb,
    detected_at: formatTime(detection.detectedMs),
    polymarket_url: venuePageUrl(detection.slug),
  };
}
