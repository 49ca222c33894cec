import type { Config, PolymarketCredentials } from '../config.ts';
import { FrameRouter } from '../recorder/import/frameRouter.ts';
import type { Recorder } from '../recorder/recorder.ts';
import { WatchedClob } from '../recorder/watchdog/watchedClob.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { PERP_VENUES } from '../schema/events.ts';
import type { Market, Ticker } from '../schema/market.ts';
import { KlinesClient } from '../venues/binance/klines.ts';
import { HttpClient } from '../venues/http.ts';
import type { FrameOrigin } from '../venues/identify.ts';
import { PerpPoller } from '../venues/perpPoller.ts';
import { PERP_VENUE_BY_NAME } from '../venues/perpVenues.ts';
import { ClobRest } from '../venues/polymarket/clob/rest.ts';
import { CryptoPriceClient } from '../venues/polymarket/cryptoPrice/client.ts';
import { DataApi } from '../venues/polymarket/dataApi/resolutions.ts';
import { GammaClient } from '../venues/polymarket/gamma/client.ts';
import { PolyboltFeed } from '../venues/polymarket/polybolt/feed.ts';
import { RtdsFeed } from '../venues/polymarket/rtds/feed.ts';
import { UnderlyingSource } from '../venues/underlying.ts';
import type { SocketDriver } from '../venues/venueSocket.ts';
import { CandleCache } from './candleCache.ts';
import { Lifecycle } from './lifecycle.ts';
import { OpenPrices } from './openPrices.ts';
import { PriceSources } from './priceSources.ts';
import { StrikeFinder } from './strikeFinder.ts';

/** A slower book request is repeated: its answer would be outdated. */
const AUDIT_TIMEOUT_MS = 3_000;
/** Turns, of 50 ms at most, in which the frames received before the end are recorded. */
const LAST_TURNS_MAX = 100;

interface Closable {
  close(): Promise<void> | void;
}

interface CollectorOptions {
  /** The followed assets. */
  tickers: readonly Ticker[];
  venues: Config['venues'];
  /** Null: PolyBolt is not opened. */
  credentials: PolymarketCredentials | null;
  /** Proxy of the requests; null: none. */
  proxyUrl?: string | null;
  /** Opens and reads the feeds' connections; its creator closes it. */
  sockets: SocketDriver;
  recorder: Recorder;
  clock: Clock;
  random: () => number;
  log: Logger;
  metrics: Metrics;
  /** Whether rows are being dropped because the store accepts none. */
  isDropping?: () => boolean;
}

/** Runs the live feeds into the recorder, except those configured as `off`. */
export class Collector {
  readonly #options: CollectorOptions;
  /** The sources of the prices that decide windows, and whether they deliver. */
  readonly priceSources: PriceSources;
  readonly #parts: Closable[] = [];
  readonly #strikes: StrikeFinder;
  readonly #lifecycle: Lifecycle | null;
  #polybolt: PolyboltFeed | null = null;

  constructor(options: CollectorOptions) {
    this.#options = options;
    const { venues, credentials, recorder, sockets, clock, log, metrics } = options;
    const openPrices = this.#openPrices(options);
    this.#strikes = new StrikeFinder({ log, metrics, candles: this.#candles(options), openPrices });
    this.priceSources = new PriceSources(clock, {
      polybolt: () => this.#polybolt?.state ?? null,
      lacksCredentials: venues.polyboltUrl !== null && credentials === null,
      hasRtds: venues.rtdsUrl !== null,
      openPrices,
    });
    recorder.onUnderlying = (event, feed) => {
      this.priceSources.price(event, feed);
      this.#strikes.price(event);
    };
    recorder.deliveredToMs = () => clock.now() - sockets.lagMs;
    recorder.onLatePoint = (event) => this.#strikes.latePoint(event);
    this.#lifecycle = this.#polymarket(options);
  }

  /**
   * Connects every feed. The recorder has already resumed the data of an earlier run, so it recognises repeated data.
   * @param known Markets stored by an earlier run.
   */
  start(known: readonly Market[]): void {
    this.#startPrices(this.#options);
    this.#lifecycle?.start(known);
  }

  /** Stops every feed after recording the frames already received. */
  async close(): Promise<void> {
    const { sockets } = this.#options;
    // What a process with too little CPU has not recorded by then becomes a gap, as what it receives after its end.
    for (let turn = 0; turn < LAST_TURNS_MAX && !sockets.receiveWaiting(); turn++);
    this.#lifecycle?.stop();
    await Promise.all(this.#parts.map((part) => part.close()));
  }

  #startPrices(options: CollectorOptions): void {
    const { venues, recorder, tickers } = options;
    const common = {
      sockets: options.sockets,
      clock: options.clock,
      random: options.random,
      log: options.log,
      metrics: options.metrics,
    };
    if (venues.spotWsUrl !== null || venues.spotFallbackWsUrl !== null) {
      const onEvent = recorder.underlying.bind(recorder);
      this.#parts.push(new UnderlyingSource({ ...common, ...venues, tickers, onEvent }));
    }
    const router = new FrameRouter(options);
    const routed = (feed: FrameOrigin) => (frame: string, receivedTimeMs: number) =>
      router.route(feed, frame, receivedTimeMs);
    if (venues.rtdsUrl !== null) {
      const onFrame = routed('polymarket.rtds');
      this.#parts.push(new RtdsFeed({ ...common, url: venues.rtdsUrl, tickers, onFrame }));
    }
    const { credentials } = options;
    if (venues.polyboltUrl !== null && credentials !== null) {
      const onFrame = routed('polymarket.polybolt');
      const feed = { url: venues.polyboltUrl, credentials, tickers, onFrame };
      this.#polybolt = new PolyboltFeed({ ...common, ...feed });
      this.#parts.push(this.#polybolt);
    }
    const onEvent = recorder.perpDepth.bind(recorder);
    for (const name of PERP_VENUES) {
      const url = venues.perpUrls[name];
      const venue = PERP_VENUE_BY_NAME[name];
      const listed = tickers.filter((ticker) => venue.symbols[ticker] !== null);
      // A venue that lists none of the tickers would count as a silent feed.
      if (url !== null && listed.length > 0)
        this.#parts.push(
          new PerpPoller({
            ...common,
            proxyUrl: options.proxyUrl ?? null,
            venue,
            url,
            tickers: listed,
            onEvent,
          }),
        );
    }
  }

  #polymarket(options: CollectorOptions): Lifecycle | null {
    const { venues, tickers, recorder, clock, random, log, metrics } = options;
    if (venues.gammaUrl === null || venues.clobWsUrl === null) {
      log.warn('markets.off');
      return null;
    }
    const common = { clock, random, log, metrics };
    const http = this.#http(options, { feed: 'polymarket.gamma' });
    const clob = new WatchedClob({ ...options, wsUrl: venues.clobWsUrl, rest: this.#audited(options) });
    this.#parts.push(clob);
    const listings = new GammaClient({ url: venues.gammaUrl, http, log });
    const sources = { exchange: this.#exchange(options), payouts: this.#payouts(options) };
    const followed = { tickers, listings, clob, recorder, strikes: this.#strikes };
    const lifecycle = new Lifecycle({ ...common, ...sources, ...followed });
    recorder.onResolved = (market) => lifecycle.resolved(market);
    return lifecycle;
  }

  #candles(options: CollectorOptions): CandleCache | null {
    const { venues, clock, random, log } = options;
    const { spotRestUrl: spot, futuresRestUrl: futures } = venues;
    if (spot === null && futures === null) return null;
    const http = this.#http(options, { feed: 'binance.rest' });
    const candles = new KlinesClient({ urls: { spot, futures }, http });
    return new CandleCache({ candles, clock, random, log });
  }

  #openPrices(options: CollectorOptions): OpenPrices | null {
    const { venues, clock, random, log } = options;
    if (venues.cryptoPriceUrl === null) return null;
    const http = this.#http(options, { feed: 'polymarket.crypto_price' });
    const source = new CryptoPriceClient({ url: venues.cryptoPriceUrl, http });
    return new OpenPrices({ source, clock, random, log });
  }

  #exchange(options: CollectorOptions): ClobRest | null {
    const { venues, log, metrics } = options;
    if (venues.clobUrl === null) return null;
    const http = this.#http(options, { feed: 'polymarket.clob.rest' });
    return new ClobRest({ url: venues.clobUrl, http, log, metrics });
  }

  #payouts(options: CollectorOptions): DataApi | null {
    const { venues } = options;
    if (venues.dataApiUrl === null) return null;
    const http = this.#http(options, { feed: 'polymarket.data' });
    return new DataApi({ url: venues.dataApiUrl, http });
  }

  #http(
    { clock, random, log, metrics, proxyUrl = null }: CollectorOptions,
    asking: { feed: string; timeoutMs?: number },
  ): HttpClient {
    const http = new HttpClient({ clock, random, log, metrics, proxyUrl, ...asking });
    this.#parts.push(http);
    return http;
  }

  /** A separate client from the one for settlement: a slow answer to one must not delay the other. */
  #audited(options: CollectorOptions): ClobRest | null {
    const { venues, log, metrics } = options;
    if (venues.clobUrl === null) return null;
    const asking = { feed: 'polymarket.clob.audit', timeoutMs: AUDIT_TIMEOUT_MS };
    const http = this.#http(options, asking);
    return new ClobRest({ url: venues.clobUrl, http, log, metrics });
  }
}
