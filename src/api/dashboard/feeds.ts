import { type Route, route } from '../../http/route.ts';
import type { FollowedMarkets } from '../../recorder/marketMemory.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { feedStatusShape } from '../../schema/api/accountResources.ts';
import type { Gap } from '../../schema/gap.ts';
import type { PriceSourceStatus } from '../../schema/priceSource.ts';
import { formatTime } from '../../schema/time.ts';

/** Characters of a venue's error message that the page has room for. */
const CAUSE_LENGTH = 200;

interface FeedDependencies {
  readonly live: {
    /** Gaps that are open now. */
    openGaps?(): readonly Gap[];
    /** Sources of deciding prices, best first. */
    priceSources?(): readonly PriceSourceStatus[];
    readonly followed: FollowedMarkets;
  };
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Whether each connection to a venue brings what it should. */
export function feedRoutes(parts: FeedDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/feeds',
      auth: 'operator',
      access: { feature: null, duringMaintenance: true },
      summary: 'Status of each venue connection and price source, and open gaps',
      description: 'Read from the memory of this process only.',
      response: feedStatusShape,
      handle: () => {
        const { live, metrics, clock } = parts;
        const gaps = (live.openGaps?.() ?? []).map((gap) => openGap(gap, live));
        const groups = gaps.map(({ ticker, event_type }) => `${ticker}-${event_type}`);
        const feeds = metrics.venueFeeds.rows().map((row) => ({
          ...{ feed: row.feed, group: row.group, kind: row.kind, connections: row.connections, up: row.up },
          last_message_at: timeOf(row.lastMessageMs),
          failures: row.failures,
          last_failure: row.lastFailure?.cause.slice(0, CAUSE_LENGTH) ?? null,
          last_failure_at: timeOf(row.lastFailure?.timeMs ?? null),
          gaps_open: gaps.filter(
            ({ feed }, at) => feed === row.feed && (row.group === null || row.group === groups[at]),
          ).length,
        }));
        gaps.sort((a, b) => (a.start < b.start ? -1 : 1));
        const unknown_versions = metrics.unknownVersions.rows().map((row) => ({
          ...{ where: row.where, version: row.version, markets: row.markets },
          newest_market: row.newestMarket,
          last_at: formatTime(row.lastTimeMs),
        }));
        const price_sources = (live.priceSources?.() ?? []).map(({ source, state, lastMs, missing }) => ({
          ...{ source, state, last_at: timeOf(lastMs), missing },
        }));
        const as_of = formatTime(clock.now());
        return { body: JSON.stringify({ as_of, feeds, gaps, unknown_versions, price_sources }) };
      },
    }),
  ];
}

function openGap({ gapId, marketId, startTimeMs, cause, feed }: Gap, live: FeedDependencies['live']) {
  const market = live.followed.market(marketId);
  return {
    ...{ gap_id: gapId, market_id: marketId, start: formatTime(startTimeMs), cause, feed },
    ticker: market?.ticker ?? null,
    event_type: market?.eventType ?? null,
  };
}

function timeOf(timeMs: number | null): string | null {
  return timeMs === null ? null : formatTime(timeMs);
}
