import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { VenueMessageError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { UnderlyingEvent } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';
import { BinanceFeed } from './binance/feed.ts';
import { mapBinanceFrame } from './binance/mapper.ts';
import { BINANCE_KINDS } from './binance/messages.ts';
import { CoinbaseFeed } from './coinbase/feed.ts';
import { coinbaseProduct, mapCoinbaseFrame } from './coinbase/mapper.ts';
import { COINBASE_KINDS } from './coinbase/messages.ts';
import { MessageWatch } from './drift/messageWatch.ts';
import type { SocketDriver } from './venueSocket.ts';
import { notAhead } from './venueTime.ts';

/** The primary counts as lost after this long without a price, even if its socket is open. */
const PRIMARY_SILENCE_LIMIT_MS = 5_000;
/** The primary must deliver prices this long before the fallback stops, or a flapping primary would toggle it. */
const PRIMARY_STABLE_AFTER_MS = 5_000;
const CHECK_PERIOD_MS = 1_000;

type PriceMapper = (frame: string, receivedTimeMs: number, watch: MessageWatch) => readonly UnderlyingEvent[];

export interface UnderlyingSourceOptions {
  /** Binance base URL; null turns it off, and then the fallback runs alone. */
  readonly spotWsUrl: string | null;
  /** Coinbase URL; null turns it off. */
  readonly spotFallbackWsUrl: string | null;
  readonly tickers: readonly Ticker[];
  readonly sockets: SocketDriver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly onEvent: (event: UnderlyingEvent) => void;
  /** Receives every frame before it is mapped. */
  readonly onFrame?: (frame: string, receivedTimeMs: number) => void;
}

/** Prices of the underlying: from Binance, and from Coinbase while Binance delivers none. Both overlap at a switch. */
export class UnderlyingSource {
  readonly #options: UnderlyingSourceOptions;
  readonly #rejected;
  readonly #watches: Readonly<Record<'binance' | 'coinbase', MessageWatch>>;
  readonly #primary: BinanceFeed | null;
  readonly #watch: Timer;
  #fallback: CoinbaseFeed | null = null;
  #lastPrimaryAt: number;
  /** Since when the primary has delivered prices without a pause; null while it delivers none. */
  #primarySince: number | null = null;

  constructor(options: UnderlyingSourceOptions) {
    this.#options = options;
    const { clock, spotWsUrl, metrics } = options;
    this.#rejected = metrics.counter(
      'underround_frames_rejected_total',
      'Frames set aside as not understood',
      ['feed'],
    );
    const { venueDrift: drift } = metrics;
    this.#watches = {
      binance: new MessageWatch({ feed: 'binance', kinds: BINANCE_KINDS, drift }),
      coinbase: new MessageWatch({ feed: 'coinbase', kinds: COINBASE_KINDS, drift }),
    };
    this.#lastPrimaryAt = clock.monotonic();
    this.#primary =
      spotWsUrl === null
        ? null
        : new BinanceFeed({ ...options, url: spotWsUrl, onFrame: this.#mapped('binance', mapBinanceFrame) });
    this.#watch = every(clock, CHECK_PERIOD_MS, () => this.#checkPrimary());
    if (!this.#primary) this.#startFallback('the primary is off');
  }

  async close(): Promise<void> {
    this.#watch.cancel();
    await Promise.all([this.#primary?.close(), this.#fallback?.close()]);
    this.#fallback = null;
  }

  #checkPrimary(): void {
    if (!this.#primary) return;
    // A price that waits ends the silence.
    if (!this.#options.sockets.receiveWaiting()) return;
    const now = this.#options.clock.monotonic();
    if (now - this.#lastPrimaryAt >= PRIMARY_SILENCE_LIMIT_MS) {
      this.#primarySince = null;
      this.#startFallback(`no price of the primary for ${PRIMARY_SILENCE_LIMIT_MS} ms`);
    } else if (this.#primarySince !== null && now - this.#primarySince >= PRIMARY_STABLE_AFTER_MS) {
      this.#stopFallback();
    }
  }

  #startFallback(cause: string): void {
    const { spotFallbackWsUrl, tickers, log } = this.#options;
    const isOffered = tickers.some((ticker) => coinbaseProduct(ticker) !== null);
    if (this.#fallback || spotFallbackWsUrl === null || !isOffered) return;
    log.warn({ feed: 'coinbase', cause }, 'underlying fallback started');
    const firstPending = new Set<Ticker>();
    const map: PriceMapper = (...frame) =>
      mapCoinbaseFrame(...frame).map((event) =>
        firstPending.delete(event.ticker) ? { ...event, isHistory: true } : event,
      );
    // The first message of each product answers the subscription with the last trade, however old.
    const onConnect = () => this.#options.tickers.forEach((ticker) => void firstPending.add(ticker));
    const onFrame = this.#mapped('coinbase', map);
    this.#fallback = new CoinbaseFeed({ ...this.#options, url: spotFallbackWsUrl, onFrame, onConnect });
  }

  #stopFallback(): void {
    if (!this.#fallback) return;
    this.#options.log.info({ feed: 'coinbase' }, 'underlying fallback stopped: the primary is back');
    void this.#fallback.close();
    this.#fallback = null;
  }

  /** Maps a feed's frames; frames that do not match the protocol are set aside and counted. */
  #mapped(feed: 'binance' | 'coinbase', map: PriceMapper): (frame: string, receivedTimeMs: number) => void {
    const { clock, log, onEvent, onFrame } = this.#options;
    const watch = this.#watches[feed];
    return (frame, receivedTimeMs) => {
      onFrame?.(frame, receivedTimeMs);
      let events: readonly UnderlyingEvent[];
      try {
        events = map(frame, receivedTimeMs, watch).map(notAhead);
      } catch (error) {
        if (!(error instanceof VenueMessageError)) throw error;
        this.#rejected.inc({ feed });
        watch.refused(frame, { reason: error.message, receivedTimeMs });
        log.warn({ feed, err: error }, 'frame set aside');
        return;
      }
      if (feed === 'binance' && events.length > 0) {
        this.#lastPrimaryAt = clock.monotonic();
        this.#primarySince ??= this.#lastPrimaryAt;
      }
      for (const event of events) onEvent(event);
    };
  }
}
