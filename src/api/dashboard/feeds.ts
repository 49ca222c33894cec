import type { CollectorConnections } from '../../bus/recordStream.ts';
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

/** The connections of one process to the venues. */
interface VenueConnections extends CollectorConnections {
  /** Null: this process. */
  readonly name: string | null;
  readonly priceSources: readonly PriceSourceStatus[];
}

interface FeedDependencies {
  readonly live: {
    /** Gaps that are open now. */
    openGaps?(): readonly Gap[];
    /** Sources of deciding prices, best first. */
    priceSources?(): readonly PriceSourceStatus[];
    /** In a cluster, the connections of the collectors; left out: this process has its own. */
    collectors?(): readonly VenueConnections[];
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
      description:
        'Where collectors are processes of their own, each row names its `collector`, and is up to 5 s old.',
      response: feedStatusShape,
      handle: () => {
        const { live, clock } = parts;
        const gaps = (live.openGaps?.() ?? []).map((gap) => openGap(gap, live));
        const all = live.collectors?.() ?? [connectionsHere(parts)];
        const feeds = all.flatMap((one) => feedRows(one, gaps));
        const unknown_versions = all.flatMap(versionRows);
        const price_sources = all.flatMap(priceSourceRows);
        gaps.sort((a, b) => (a.start < b.start ? -1 : 1));
        const as_of = formatTime(clock.now());
        return { body: JSON.stringify({ as_of, feeds, gaps, unknown_versions, price_sources }) };
      },
    }),
  ];
}

function connectionsHere({ live, metrics }: FeedDependencies): VenueConnections {
  const { venueFeeds, unknownVersions } = metrics;
  const priceSources = live.priceSources?.() ?? [];
  return { name: null, feeds: venueFeeds.rows(), unknownVersions: unknownVersions.rows(), priceSources };
}

function feedRows({ name, feeds }: VenueConnections, gaps: readonly ReturnType<typeof openGap>[]) {
  const groups = gaps.map(({ ticker, event_type }) => `${ticker}-${event_type}`);
  return feeds.map((row) => ({
    ...collectorOf(name),
    ...{ feed: row.feed, group: row.group, kind: row.kind, connections: row.connections, up: row.up },
    last_message_at: timeOf(row.lastMessageMs),
    failures: row.failures,
    last_failure: row.lastFailure?.cause.slice(0, CAUSE_LENGTH) ?? null,
    last_failure_at: timeOf(row.lastFailure?.timeMs ?? null),
    gaps_open: gaps.filter(
      ({ feed }, at) => feed === row.feed && (row.group === null || row.group === groups[at]),
    ).length,
  }));
}

function versionRows({ name, unknownVersions }: VenueConnections) {
  return unknownVersions.map((row) => ({
    ...collectorOf(name),
    ...{ where: row.where, version: row.version, markets: row.markets },
    newest_market: row.newestMarket,
    last_at: formatTime(row.lastTimeMs),
  }));
}

function priceSourceRows({ name, priceSources }: VenueConnections) {
  return priceSources.map(({ source, state, lastMs, missing }) => ({
    ...collectorOf(name),
    ...{ source, state, last_at: timeOf(lastMs), missing },
  }));
}

function collectorOf(name: string | null): { collector?: string } {
  return name === null ? {} : { collector: name };
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
