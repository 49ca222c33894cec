import type { WebSocket } from 'ws';
import { OpenPrices } from '../../src/lifecycle/openPrices.ts';
import { PriceSources } from '../../src/lifecycle/priceSources.ts';
import { StrikeFinder } from '../../src/lifecycle/strikeFinder.ts';
import { FrameRouter } from '../../src/recorder/import/frameRouter.ts';
import { every, type Timer } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Secret } from '../../src/runtime/secret.ts';
import type { Market } from '../../src/schema/market.ts';
import { cryptoPriceReply } from '../../src/simulator/cryptoPriceRoute.ts';
import { DelayedFrameQueue } from '../../src/simulator/delayedFrameQueue.ts';
import { PolyboltSocketServer, SIMULATED_CREDENTIALS } from '../../src/simulator/polyboltSocketServer.ts';
import { RelaySocketServer } from '../../src/simulator/relaySocketServer.ts';
import type { OpenPriceQuery } from '../../src/venues/polymarket/cryptoPrice/client.ts';
import { PolyboltFeed } from '../../src/venues/polymarket/polybolt/feed.ts';
import { RtdsFeed } from '../../src/venues/polymarket/rtds/feed.ts';
import { DirectSocketDriver } from '../../src/venues/venueSocket.ts';
import { WatchedVenue, type WatchedVenueOptions } from './watchedVenue.ts';

const RTDS_URL = 'ws://venue/rtds';
const POLYBOLT_URL = 'ws://venue/polybolt';
const TICKERS = ['BTC'] as const;
const VENUE_TICK_MS = 20;
const REVIEW_MS = 1_000;

export interface PricedVenueOptions extends Pick<WatchedVenueOptions, 'startMs' | 'v2FromMs'> {
  readonly seed: string;
  readonly polybolt: boolean;
  readonly cryptoPrice: boolean;
}

/** A watched venue whose price streams are read too, and which finds strikes as the lifecycle does. */
export class PricedVenue {
  readonly venue: WatchedVenue;
  readonly sources: PriceSources;
  /** The first version of each market with a strike, and how long after the open it was known. */
  readonly strikes = new Map<string, { market: Market; afterMs: number }>();
  readonly #strikeFinder: StrikeFinder;
  readonly #timers: readonly Timer[];
  #rtds: RtdsFeed | null = null;
  #polybolt: PolyboltFeed | null = null;

  private constructor({ polybolt, cryptoPrice, ...options }: PricedVenueOptions) {
    let relay: RelaySocketServer | null = null;
    let bolts: PolyboltSocketServer | null = null;
    const accept = (socket: WebSocket, url: string) =>
      url === RTDS_URL ? relay?.accept(socket) : bolts?.accept(socket);
    this.venue = new WatchedVenue({
      ...{ ...options, eventTypes: ['5m', '15m'], density: 0.02 },
      ...{ accept, sink: { relay: (atMs, point) => relay?.deliver(atMs, point) } },
    });
    const { clock, model, faults, recorder, metrics } = this.venue;
    relay = new RelaySocketServer(model, faults);
    const server = new PolyboltSocketServer(model, faults);
    bolts = server;
    const late = new DelayedFrameQueue(clock);
    const runtime = { clock, random: () => 0.5, log: silentLogger, metrics };
    const source = { openPrice: (query: OpenPriceQuery) => this.#openPrice(query) };
    const openPrices = cryptoPrice ? new OpenPrices({ ...runtime, source }) : null;
    this.#strikeFinder = new StrikeFinder({ ...runtime, candles: null, openPrices });
    this.sources = new PriceSources(clock, {
      ...{ polybolt: () => this.#polybolt?.state ?? null, lacksCredentials: !polybolt },
      ...{ hasRtds: true, openPrices },
    });
    recorder.onUnderlying = (event, feed) => {
      this.sources.price(event, feed);
      this.#strikeFinder.price(event);
    };
    recorder.onLatePoint = (event) => this.#strikeFinder.latePoint(event);
    this.#timers = [
      every(clock, VENUE_TICK_MS, () => server.deliver((batch) => late.send(faults.lateMs.polybolt, batch))),
      every(clock, REVIEW_MS, () => this.#review()),
    ];
  }

  /** Connects the feeds once the venue runs: before its first step it has no price of the present second. */
  static async start(options: PricedVenueOptions): Promise<PricedVenue> {
    const priced = new PricedVenue(options);
    const { clock, recorder, metrics } = priced.venue;
    await clock.advance(VENUE_TICK_MS);
    const router = new FrameRouter({ recorder, log: silentLogger });
    const runtime = { clock, random: () => 0.5, log: silentLogger, metrics };
    const common = { ...runtime, sockets: new DirectSocketDriver(clock), tickers: TICKERS };
    priced.#rtds = new RtdsFeed({
      ...{ ...common, url: RTDS_URL },
      onFrame: (frame, timeMs) => router.route('polymarket.rtds', frame, timeMs),
    });
    if (!options.polybolt) return priced;
    const credentials = {
      apiKey: new Secret(SIMULATED_CREDENTIALS.apiKey),
      secret: new Secret(SIMULATED_CREDENTIALS.secret),
      passphrase: new Secret(SIMULATED_CREDENTIALS.passphrase),
    };
    priced.#polybolt = new PolyboltFeed({
      ...{ ...common, url: POLYBOLT_URL, credentials },
      onFrame: (frame, timeMs) => router.route('polymarket.polybolt', frame, timeMs),
    });
    return priced;
  }

  /** RTDS exists no more, from a time on. */
  removeRtds(atMs: number): void {
    this.venue.faults.relayRemovedAtMs = atMs;
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    await Promise.all([this.#rtds?.close(), this.#polybolt?.close()]);
    await this.venue.stop();
  }

  #review(): void {
    const { recorder, clock } = this.venue;
    const strikes = this.#strikeFinder;
    for (const market of recorder.markets()) {
      const reviewed = strikes.review(market, clock.now());
      if (reviewed === market) continue;
      recorder.track(reviewed);
      strikes.note(market, reviewed);
      const { slug, strikePrice, strikeSource, startTimeMs } = reviewed;
      if (strikePrice === null || strikeSource === 'estimated' || this.strikes.has(slug)) continue;
      this.strikes.set(slug, { market: reviewed, afterMs: clock.now() - startTimeMs });
    }
  }

  async #openPrice({ ticker, startTimeMs, eventType }: OpenPriceQuery): Promise<number | null> {
    const query = new URLSearchParams({
      ...{ symbol: ticker, eventStartTime: new Date(startTimeMs).toISOString() },
      ...{ variant: eventType === '5m' ? 'fiveminute' : 'fifteen' },
      ...{ twapEnabled: 'true', twapLookbackSeconds: '60' },
    });
    const path = '/api/crypto/crypto-price';
    const reply = cryptoPriceReply(this.venue.model, { path, query, nowMs: this.venue.clock.now() });
    return JSON.parse(reply?.body ?? '{}').openPrice;
  }
}
