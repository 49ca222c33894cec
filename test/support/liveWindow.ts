import type { LiveWindow } from '../../web/src/api/schema.ts';

const MINUTE_MS = 60_000;
export const FEE = { rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' } as const;

/** A window of BTC in play two minutes after its begin, as the service answers it, with these members replaced. */
export function liveWindow(nowMs: number, part: Partial<LiveWindow> = {}): LiveWindow {
  const time = (minutes: number) =>
    new Date(nowMs + minutes * MINUTE_MS).toISOString().replace('Z', '+00:00');
  return {
    ...{ market_id: '0xa', ticker: 'BTC', market_type: '5m', gap: null },
    ...{ strike_price: 100_000, strike_source: 'relayed', start_time: time(-2), end_time: time(3) },
    book: {
      ...{ ts: time(0), yes_bid: 0.5, yes_ask: 0.52, no_bid: 0.48, no_ask: 0.5, mid_yes: 0.51 },
      ...{ trusted: true, yes_bids: [[0.5, 10]], yes_asks: [[0.52, 20]] },
      ...{ no_bids: [[0.48, 20]], no_asks: [[0.5, 10]] },
    },
    model: {
      ...{ spot: 100_100, sigma_annual: 0.5, distance: 1.2, yes_prob: 0.6 },
      fee: FEE,
    },
    ...part,
  };
}
