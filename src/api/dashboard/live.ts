import { midOf, TICKS_PER_USDC } from '../../core/money.ts';
import type { StoreLag } from '../../http/lifecycle.ts';
import { type Route, route } from '../../http/route.ts';
import { historyLines } from '../../ops/historyProgress.ts';
import type { ReadinessReport } from '../../ops/readiness.ts';
import type { FollowedMarkets, NewestBook } from '../../recorder/marketMemory.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type LiveWindowBody, liveWindowsShape, serviceStateShape } from '../../schema/api/liveResources.ts';
import type { FollowedAssets, Market } from '../../schema/market.ts';
import type { SideView } from '../../schema/records.ts';
import { formatTime } from '../../schema/time.ts';

interface LiveDependencies extends FollowedAssets {
  readonly live: StoreLag & { ready(): ReadinessReport; readonly followed: FollowedMarkets };
  readonly clock: Clock;
}

/** What the pages Live and Operator show first. It stays right while the store is behind or away. */
export function liveRoutes({ live, clock, tickers }: LiveDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/state',
      auth: 'session',
      access: { feature: null, duringMaintenance: true },
      summary: 'Storage lag and readiness of the service',
      description: 'Read from the memory of this process only.',
      response: serviceStateShape,
      handle: () => {
        const { ok, reasons, degraded } = live.ready();
        const lagSeconds = Math.round(live.storeLagMs() / 100) / 10;
        const history = live.history?.() ?? null;
        // The history has its own field here, so its lines are removed.
        const late = degraded.filter((line) => !historyLines(history).includes(line));
        const state = { store_lag_seconds: lagSeconds, ready: ok, reasons, degraded: late, history };
        return { body: JSON.stringify({ as_of: formatTime(clock.now()), tickers, ...state }) };
      },
    }),
    route({
      method: 'GET',
      path: '/app/live',
      auth: 'session',
      access: { feature: 'market_data' },
      summary: 'Current and next windows with their best prices',
      description: 'Read from the memory of this process only.',
      response: liveWindowsShape,
      handle: () => {
        const nowMs = clock.now();
        const windows = [...live.followed.markets()]
          .filter(({ status, endTimeMs }) => status === 'open' && endTimeMs > nowMs)
          .sort((a, b) => a.endTimeMs - b.endTimeMs)
          .map((market) => liveWindow(market, live.followed));
        return { body: JSON.stringify({ as_of: formatTime(nowMs), windows }) };
      },
    }),
  ];
}

function liveWindow(market: Market, followed: FollowedMarkets): LiveWindowBody {
  const { marketId } = market;
  const gap = followed.gaps(marketId).find(({ endTimeMs }) => endTimeMs === null) ?? null;
  return {
    market_id: marketId,
    ticker: market.ticker,
    market_type: market.eventType,
    start_time: formatTime(market.startTimeMs),
    end_time: formatTime(market.endTimeMs),
    strike_price: market.strikePrice,
    strike_source: market.strikeSource,
    gap: gap?.cause ?? null,
    book: bookBody(followed.book(marketId), gap !== null),
  };
}

function bookBody(newest: NewestBook | null, isInGap: boolean): LiveWindowBody['book'] {
  if (newest === null) return null;
  const { yes, no } = newest;
  const trusted = newest.trusted && !isInGap;
  return {
    ts: formatTime(newest.eventTimeMs),
    yes_bid: bestPrice(yes.bids),
    yes_ask: bestPrice(yes.asks),
    no_bid: bestPrice(no.bids),
    no_ask: bestPrice(no.asks),
    mid_yes: trusted ? midOf(bestTicks(yes.bids), bestTicks(yes.asks)) : null,
    trusted,
  };
}

function bestTicks({ count, prices }: SideView): number | null {
  return count === 0 ? null : (prices[0] ?? null);
}

function bestPrice(side: SideView): number | null {
  const ticks = bestTicks(side);
  return ticks === null ? null : ticks / TICKS_PER_USDC;
}
