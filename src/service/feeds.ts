import type { Publisher } from '../bus/bus.ts';
import type { Config } from '../config.ts';
import { Collector } from '../lifecycle/collector.ts';
import { ReceptionDelay } from '../recorder/receptionDelay.ts';
import type { Recorder } from '../recorder/recorder.ts';
import { silentFeeds } from '../recorder/watchdog/silentFeeds.ts';
import type { Market } from '../schema/market.ts';
import { DriftKeeper } from '../venues/drift/driftKeeper.ts';
import { ReceiveThread } from '../venues/receiveThread.ts';
import type { NodeOptions } from './nodeOptions.ts';

/** The venues' live feeds into a recorder. */
export interface Feeds {
  readonly collector: Collector;
  /** Connects every feed. @param known Markets of earlier runs that are still open or unresolved. */
  start(known: readonly Market[]): void;
  /** Age of the oldest frame that was received and not recorded yet, in milliseconds; 0 without one. */
  lagMs(): number;
  /** Why this process is not ready; empty when it is. */
  reasons(): string[];
  /** Feeds that are late or silent, and whether the recording is behind. */
  degraded(): string[];
  /** Ends every feed after recording the frames already received. */
  stop(): Promise<void>;
}

export interface FeedOptions extends NodeOptions {
  readonly recorder: Recorder;
  /** Null where nothing follows the recorder in its own process. */
  readonly bus: Publisher | null;
  /** Whether rows are being dropped because nothing accepts them. */
  readonly isDropping: () => boolean;
}

/** Prepares the feeds, without connecting any. */
export async function openFeeds(options: FeedOptions): Promise<Feeds> {
  const { config, recorder, bus, isDropping, clock, random, log, metrics } = options;
  const { dataDir, venues, tickers, polymarketCredentials: credentials, outboundProxyUrl: proxyUrl } = config;
  const sockets = new ReceiveThread({ clock, random, log, metrics, proxyUrl });
  // It loads while the recording of earlier runs is read.
  if (hasSockets(config)) sockets.start();
  const feeds = { venues, tickers, credentials, proxyUrl, sockets, recorder, isDropping };
  const collector = new Collector({ ...feeds, clock, random, log, metrics });
  const drift = new DriftKeeper({ dataDir, clock, log, metrics });
  await drift.start();
  const lagMs = () => sockets.lagMs;
  const delay = new ReceptionDelay({ recorder, bus, lagMs, clock, log });
  return {
    collector,
    start: (known) => collector.start(known),
    lagMs,
    reasons: () => delay.reasons(),
    degraded: () => [
      ...(recorder.lags?.degraded() ?? []),
      ...delay.degraded(),
      // While frames wait, a feed is silent only if it was before them.
      ...silentFeeds(metrics.venueFeeds, recorder.deliveredToMs()),
    ],
    stop: async () => {
      delay.close();
      await collector.close();
      await sockets.close();
      recorder.close();
      await drift.close();
    },
  };
}

/** Whether any feed uses a WebSocket. */
function hasSockets({ venues, polymarketCredentials }: Config): boolean {
  const { clobWsUrl, rtdsUrl, spotWsUrl, spotFallbackWsUrl } = venues;
  const polyboltUrl = polymarketCredentials && venues.polyboltUrl;
  return [clobWsUrl, rtdsUrl, polyboltUrl, spotWsUrl, spotFallbackWsUrl].some((url) => url !== null);
}
