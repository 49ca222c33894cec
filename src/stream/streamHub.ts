import type { LiveKeys } from '../accounts/keys/liveKeys.ts';
import type { Subscriber } from '../bus/bus.ts';
import type { LiveRecording } from '../recorder/liveRecording.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { ConnectionRegistry } from './connectionRegistry.ts';
import type { SharedStream } from './marketClient.ts';
import { type LiveBooks, MarketStream } from './marketStream.ts';
import { OpportunityStream } from './opportunityStream.ts';
import { StreamMetrics } from './streamMetrics.ts';

interface StreamsOptions extends FollowedAssets {
  /** Names this run of the service in cursors, where it is the only process: 12 random hex digits. */
  readonly run: string;
  /** In a cluster: every process keeps all changes, for clients of the others. Default: this is the only process. */
  readonly shared?: SharedStream | null;
  readonly bus: Subscriber;
  readonly books: LiveBooks;
  readonly liveKeys: Pick<LiveKeys, 'watch'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The live streams of one process, and their connections. */
export class StreamHub {
  readonly markets: MarketStream;
  readonly opportunities: OpportunityStream;
  readonly connections: ConnectionRegistry;

  constructor(options: StreamsOptions) {
    const metrics = new StreamMetrics(options.metrics);
    this.markets = new MarketStream({ ...options, metrics });
    this.opportunities = new OpportunityStream(options.bus);
    this.connections = new ConnectionRegistry({ ...options, metrics });
  }

  /** Closes all client connections and refuses new ones. */
  async close(): Promise<void> {
    await this.connections.close();
    this.markets.close();
    this.opportunities.close();
  }
}

/** A recording as the books of the streams. */
export function recordedBooks(
  recording: Pick<LiveRecording, 'markets' | 'market' | 'recorded' | 'gaps'>,
): LiveBooks {
  return {
    markets: () => recording.markets(),
    market: (marketId) => recording.market(marketId),
    book: (marketId) => recording.recorded(marketId)?.liveBook() ?? null,
    gap: (marketId) => recording.gaps.of(marketId),
  };
}
