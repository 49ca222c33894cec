import type { Config } from '../config.ts';
import { Collector } from '../lifecycle/collector.ts';
import type { Recorder } from '../recorder/recorder.ts';
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
  /** Ends every feed after recording the frames already received. */
  stop(): Promise<void>;
}

export interface FeedOptions extends NodeOptions {
  readonly recorder: Recorder;
  /** Whether rows are being dropped because nothing accepts them. */
  readonly isDropping: () => boolean;
}

/** Prepares the feeds, without connecting any. */
export async function openFeeds(options: FeedOptions): Promise<Feeds> {
  const { config, recorder, isDropping, clock, random, log, metrics } = options;
  const { dataDir, venues, tickers, polymarketCredentials: credentials, outboundProxyUrl: proxyUrl } = config;
  const sockets = new ReceiveThread({ clock, random, log, metrics, proxyUrl });
  // It loads while the recording of earlier runs is read.
  if (hasSockets(config)) sockets.start();
  const feeds = { venues, tickers, credentials, proxyUrl, sockets, recorder, isDropping };
  const collector = new Collector({ ...feeds, clock, random, log, metrics });
  const drift = new DriftKeeper({ dataDir, clock, log, metrics });
  await drift.start();
  return {
    collector,
    start: (known) => collector.start(known),
    lagMs: () => sockets.lagMs,
    stop: async () => {
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
