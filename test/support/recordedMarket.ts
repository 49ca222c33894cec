import type {
  Gap,
  Market,
  Snapshot,
  TimeseriesPoint,
  Trade,
  UnderlyingPoint,
} from '../../web/src/api/schema.ts';

/** A made-up recording of one market, as the service would answer it: the same at every run. */
export interface MarketRecording {
  readonly market: Market;
  readonly books: readonly Snapshot[];
  readonly trades: readonly Trade[];
  readonly underlying: readonly UnderlyingPoint[];
  readonly gaps: readonly Gap[];
}

const WINDOW_SECONDS = { '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400, daily_up_down: 86_400 } as const;
type EventType = keyof typeof WINDOW_SECONDS;
const STRIKE = 90_000;
/** Changes of a recording, whatever its length. */
const CHANGES = 600;
const LEVELS = 12;

/**
 * @param start Of the window, ISO text. The recording begins as much before it as a page shows.
 */
export function recordedMarket(eventType: EventType, start: string): MarketRecording {
  const seconds = WINDOW_SECONDS[eventType];
  const startMs = Date.parse(start);
  const endMs = startMs + seconds * 1000;
  const firstMs = startMs - Math.min(seconds, 300) * 1000;
  const isoOf = (timeMs: number) => new Date(timeMs).toISOString().replace('Z', '+00:00');
  const market: Market = {
    ...{ market_id: `0x${eventType.length}${seconds}`, event_id: 'ev', slug: `btc-${eventType}` },
    ...{ question: `Bitcoin Up or Down, ${eventType}`, market_type: eventType, ticker: 'BTC' },
    ...{ status: 'resolved', start_time: isoOf(startMs), end_time: isoOf(endMs) },
    ...{ strike_price: STRIKE, strike_source: 'official', close_price: STRIKE + 120, outcome: 'Up' },
    ...{ payout_yes: 1, coverage: 1, resolved_at: isoOf(endMs + 60_000), resolved_at_source: 'stream' },
    ...{ volume: 50_000, liquidity: null, tick_size: 0.01, taker_fee_rate: 0.07, taker_delay_ms: 150 },
    polymarket_url: null,
  };
  const stepMs = (endMs - firstMs) / CHANGES;
  const timesMs = Array.from({ length: CHANGES }, (_, index) => Math.round(firstMs + index * stepMs));
  const priceAt = (index: number) => STRIKE + 150 * Math.sin(index / 45) + 40 * Math.sin(index / 7);
  return {
    market,
    books: timesMs.map((timeMs, index) => bookAt(isoOf(timeMs), index, priceAt(index))),
    trades: timesMs
      .filter((_, index) => index % 9 === 0)
      .map((timeMs, index) => ({
        ...{ ts: isoOf(timeMs + 1), trade_id: `t${index}`, size: 1 + ((index * 37) % 400) },
        ...{ side: (['BUY_YES', 'SELL_YES', 'BUY_NO', 'SELL_NO'] as const)[index % 4] ?? 'BUY_YES' },
        price: index % 4 < 2 ? centsOf(index * 9) / 100 : 1 - centsOf(index * 9) / 100,
      })),
    underlying: Array.from({ length: 600 }, (_, index) => ({
      ts: isoOf((timesMs[0] as number) - 600_000 + index * 1000),
      price: priceAt(index - 600),
    })),
    gaps: [],
  };
}

/** Best bid of Up in cents at a change. */
function centsOf(index: number): number {
  return Math.round(50 + 38 * Math.sin(index / 45));
}

function bookAt(ts: string, index: number, price: number): Snapshot {
  const bid = centsOf(index);
  const levels = (best: number, way: 1 | -1) =>
    Array.from({ length: LEVELS }, (_, level) => ({
      price: (best + way * level) / 100,
      size: 10 + ((index * 13 + level * 101) % 900) * (level + 1),
    })).filter((one) => one.price > 0 && one.price < 1);
  const mirrored = (side: { price: number; size: number }[]) =>
    side.map((one) => ({ price: (100 - Math.round(one.price * 100)) / 100, size: one.size }));
  const [bids, asks] = [levels(bid, -1), levels(bid + 1 + (index % 3), 1)];
  return {
    ...{ ts, yes_bids: bids, yes_asks: asks, no_bids: mirrored(asks), no_asks: mirrored(bids) },
    ...{ underlying_price: price, underlying_ticker: 'BTC', trusted: true },
  };
}

/** The point of a chart that a book is. */
export function pointOf({ ts, yes_bids, yes_asks, underlying_price }: Snapshot): TimeseriesPoint {
  const [bid, ask] = [yes_bids[0]?.price ?? 0, yes_asks[0]?.price ?? 0];
  return { ts, mid_yes: (bid + ask) / 2, spread_yes: ask - bid, underlying_price };
}
