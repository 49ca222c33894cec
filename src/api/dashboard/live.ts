import { midOf, TICKS_PER_USDC, UNITS_PER_SHARE } from '../../core/money.ts';
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
import type { MarketOutlook } from '../../signals/liveBoard.ts';
import type { SignalReaders } from '../../signals/signals.ts';

interface LiveDependencies extends FollowedAssets {
  readonly live: StoreLag & { ready(): ReadinessReport; readonly followed: FollowedMarkets };
  readonly signals: Pick<SignalReaders, 'board'>;
  readonly clock: Clock;
}

/** Levels of each side in an answer. */
const LEVELS = 3;

/** What the pages Live and Operator show first. It stays right while the store is behind or away. */
export function liveRoutes({ live, signals, clock, tickers }: LiveDependencies): Route[] {
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
      summary: 'Current and next windows with their best levels and the model’s value',
      description: 'Read from the memory of this process only.',
      response: liveWindowsShape,
      handle: () => {
        const nowMs = clock.now();
        const windows = [...live.followed.markets()]
          .filter(({ status, endTimeMs }) => status === 'open' && endTimeMs > nowMs)
          .sort((a, b) => a.endTimeMs - b.endTimeMs)
          .map((market) => liveWindow(market, live.followed, signals.board.outlook(market.marketId)));
        return { body: JSON.stringify({ as_of: formatTime(nowMs), windows }) };
      },
    }),
  ];
}

function liveWindow(
  market: Market,
  followed: FollowedMarkets,
  outlook: MarketOutlook | null,
): LiveWindowBody {
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
    model: outlook && modelBody(outlook),
  };
}

function modelBody({ spot, sigmaAnnual, distance, yesProb, fee }: MarketOutlook): LiveWindowBody['model'] {
  const { rate, exponent, base, decimals, rounding } = fee;
  return {
    ...{ spot, sigma_annual: sigmaAnnual, yes_prob: yesProb },
    distance: distance !== null && Number.isFinite(distance) ? distance : null,
    fee: { rate, exponent, base, decimals, rounding },
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
    ...{ yes_bids: levelsOf(yes.bids), yes_asks: levelsOf(yes.asks) },
    ...{ no_bids: levelsOf(no.bids), no_asks: levelsOf(no.asks) },
  };
}

function levelsOf({ count, prices, sizes }: SideView): [price: number, shares: number][] {
  return Array.from({ length: Math.min(count, LEVELS) }, (_, at) => [
    (prices[at] ?? 0) / TICKS_PER_USDC,
    (sizes[at] ?? 0) / UNITS_PER_SHARE,
  ]);
}

function bestTicks({ count, prices }: SideView): number | null {
  return count === 0 ? null : (prices[0] ?? null);
}

function bestPrice(side: SideView): number | null {
  const ticks = bestTicks(side);
  return ticks === null ? null : ticks / TICKS_PER_USDC;
}
