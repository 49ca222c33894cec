import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import { type Market, TICKERS } from '../schema/market.ts';
import { BybitPoller } from '../venues/bybit/poller.ts';
import { HttpClient } from '../venues/http.ts';
import { ClobFeed } from '../venues/polymarket/clob/feed.ts';
import { GammaClient } from '../venues/polymarket/gamma/client.ts';
import { RtdsFeed } from '../venues/polymarket/rtds/feed.ts';
import { UnderlyingSource } from '../venues/underlying.ts';
import { FrameRouter } from './frameRouter.ts';
import { Lifecycle } from './lifecycle.ts';
import type { Recorder } from './recorder.ts';

interface Closable {
  close(): Promise<void> | void;
}

export interface CollectorOptions {
  venues: Config['venues'];
  recorder: Recorder;
  clock: Clock;
  random: () => number;
  log: Logger;
  metrics: Metrics;
}

/** Runs the live feeds into the recorder; one that is configured `off` is left out. */
export class Collector {
  readonly #parts: Closable[] = [];
  readonly #lifecycle: Lifecycle | null;

  constructor(options: CollectorOptions) {
    const { venues, recorder } = options;
    const common = {
      clock: options.clock,
      random: options.random,
      log: options.log,
      metrics: options.metrics,
    };
    if (venues.spotWsUrl !== null || venues.spotFallbackWsUrl !== null) {
      const onEvent = recorder.underlying.bind(recorder);
      this.#parts.push(new UnderlyingSource({ ...common, ...venues, tickers: TICKERS, onEvent }));
    }
    if (venues.rtdsUrl !== null) {
      const router = new FrameRouter(options);
      const onFrame = (frame: string, receivedTimeMs: number) =>
        router.route('polymarket.rtds', frame, receivedTimeMs);
      this.#parts.push(new RtdsFeed({ ...common, url: venues.rtdsUrl, tickers: TICKERS, onFrame }));
    }
    if (venues.perpUrl !== null) {
      const onEvent = recorder.perpDepth.bind(recorder);
      this.#parts.push(new BybitPoller({ ...common, url: venues.perpUrl, tickers: TICKERS, onEvent }));
    }
    this.#lifecycle = this.#polymarket(options);
  }

  /** @param known Markets an earlier run stored. */
  start(known: readonly Market[]): void {
    this.#lifecycle?.start(known);
  }

  /** Stops every feed; frames that were received have been recorded. */
  async close(): Promise<void> {
    this.#lifecycle?.stop();
    await Promise.all(this.#parts.map((part) => part.close()));
  }

  #polymarket({ venues, recorder, clock, random, log, metrics }: CollectorOptions): Lifecycle | null {
    if (venues.gammaUrl === null || venues.clobWsUrl === null) {
      log.warn('markets.off');
      return null;
    }
    const common = { clock, random, log, metrics };
    const http = new HttpClient({ ...common, feed: 'polymarket.gamma' });
    const clob = new ClobFeed({
      ...common,
      url: venues.clobWsUrl,
      onFrame: (frame, receivedTimeMs) => recorder.clobFrame(frame, receivedTimeMs),
      onDisconnect: (tokenIds, _cause, receivedTimeMs) => recorder.disconnect(tokenIds, receivedTimeMs),
    });
    this.#parts.push(http, clob);
    const listings = new GammaClient({ url: venues.gammaUrl, http });
    const lifecycle = new Lifecycle({ ...common, listings, clob, recorder });
    recorder.onResolved = (market) => lifecycle.resolved(market);
    return lifecycle;
  }
}
