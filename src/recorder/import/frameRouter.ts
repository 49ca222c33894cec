import { DataGapError, UnderroundError, VenueMessageError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { UnderlyingEvent } from '../../schema/events.ts';
import { type Market, TICKERS, type Ticker, UNKNOWN } from '../../schema/market.ts';
import { binanceMessageOf, mapBinanceFrame } from '../../venues/binance/mapper.ts';
import { BINANCE_KINDS } from '../../venues/binance/messages.ts';
import { BybitDepthBook, bybitSymbol, mapBybitAnswer } from '../../venues/bybit/mapper.ts';
import { mapCoinbaseFrame } from '../../venues/coinbase/mapper.ts';
import { COINBASE_KINDS } from '../../venues/coinbase/messages.ts';
import { MessageWatch } from '../../venues/drift/messageWatch.ts';
import { mapHyperliquidBook } from '../../venues/hyperliquid/mapper.ts';
import type { FrameOrigin } from '../../venues/identify.ts';
import { parseJson } from '../../venues/json.ts';
import { mapGammaEvent, mapGammaMarket } from '../../venues/polymarket/gamma/mapper.ts';
import { setAsideListing } from '../../venues/polymarket/gamma/setAsideListing.ts';
import { mapPolyboltFrame } from '../../venues/polymarket/polybolt/mapper.ts';
import { POLYBOLT_KINDS } from '../../venues/polymarket/polybolt/messages.ts';
import { mapRtdsFrame } from '../../venues/polymarket/rtds/mapper.ts';
import { RTDS_KINDS } from '../../venues/polymarket/rtds/messages.ts';
import { notAhead } from '../../venues/venueTime.ts';
import { mergeListing } from '../marketMerge.ts';
import type { Recorder } from '../recorder.ts';
import type { ArchivedEvent } from './archives/archiveItem.ts';
import { BinanceFutures } from './binanceFutures.ts';
import { UnlistedMarketAdopter } from './unlistedMarketAdopter.ts';

/** How long after a window's end to search for the prices that decide it. */
const REVIEWED_AFTER_END_MS = 480_000;

/** Finds strikes and closes in the prices of a recording. */
interface PriceReviewer {
  price(event: UnderlyingEvent): void;
  /** @returns The market with the strike and close that the prices so far decide; the same object when nothing is new. */
  review(market: Market, nowMs: number): Market;
  note(before: Market | null, after: Market): void;
}

export type RoutedFeed = FrameOrigin | 'polymarket.gamma';

/** Routes recorded or simulated frames of any venue to the recorder, in order. */
export class FrameRouter {
  /** Number of frames by feed. */
  readonly counts = new Map<RoutedFeed, number>();
  rejected = 0;
  readonly #recorder: Recorder;
  readonly #log: Logger;
  readonly #strikes: PriceReviewer | null;
  readonly #tickers: ReadonlySet<Ticker>;
  readonly #rtds: MessageWatch;
  readonly #polybolt: MessageWatch;
  readonly #coinbase: MessageWatch;
  readonly #spot: MessageWatch;
  #reviewedSecond = 0;
  readonly #unlisted = new UnlistedMarketAdopter();
  /** Markets recorded without a listing. */
  readonly #adopted = new Set<string>();
  readonly #bybit = new Map<Ticker, BybitDepthBook>();
  readonly #futures = new BinanceFutures();

  /**
   * @param options.strikes Finds strikes and closes in the frames as time passes, where no other source exists.
   * @param options.tickers Relayed prices of other assets are dropped: a feed may deliver more than its subscription names.
   */
  constructor(options: {
    recorder: Recorder;
    log: Logger;
    strikes?: PriceReviewer;
    tickers?: readonly Ticker[];
  }) {
    const { recorder, log, strikes = null, tickers = TICKERS } = options;
    this.#tickers = new Set(tickers);
    this.#recorder = recorder;
    this.#log = log;
    this.#strikes = strikes;
    const { drift } = recorder;
    this.#rtds = new MessageWatch({ feed: 'polymarket.rtds', kinds: RTDS_KINDS, drift });
    this.#polybolt = new MessageWatch({ feed: 'polymarket.polybolt', kinds: POLYBOLT_KINDS, drift });
    this.#coinbase = new MessageWatch({ feed: 'coinbase', kinds: COINBASE_KINDS, drift });
    this.#spot = new MessageWatch({ feed: 'binance', kinds: BINANCE_KINDS, drift });
    if (strikes !== null) recorder.onUnderlying = (event) => strikes.price(event);
  }

  /** @param receivedTimeMs Unix milliseconds; waiting actions end by this time. */
  route(feed: RoutedFeed, frame: string, receivedTimeMs: number): void {
    this.counts.set(feed, (this.counts.get(feed) ?? 0) + 1);
    // For frames of the market channel the recorder ends quiet actions itself.
    if (feed !== 'polymarket.clob') this.#recorder.finishQuiet(receivedTimeMs);
    try {
      this.#dispatch(feed, frame, receivedTimeMs);
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      this.#refuse(feed, frame, error, receivedTimeMs);
    }
    this.#review(receivedTimeMs);
  }

  /** Records what an archive has instead of frames. */
  archived(item: ArchivedEvent): void {
    const { receivedTimeMs } = item.event;
    if (item.kind === 'clob') {
      this.#recorder.archivedEvent(item.event, (event) => {
        const adoption = this.#unlisted.observe(event, item.isYes);
        if (adoption !== null) this.#adopted.add(adoption.market.marketId);
        return adoption;
      });
    } else {
      this.#recorder.finishQuiet(receivedTimeMs);
      if (item.kind === 'perp_depth') this.#recorder.perpDepth(item.event);
      else this.#recorder.underlying(item.event);
    }
    this.#review(receivedTimeMs);
  }

  /**
   * Ends the recording. Markets without a listing are recorded as seen, even with one token's book alone, and their
   * window is the span of the recording.
   */
  finish(): void {
    for (const { market, events } of this.#unlisted.adoptOneSided()) {
      this.#adopted.add(market.marketId);
      this.#recorder.track(market);
      for (const event of events) this.#recorder.clobEvent(event);
    }
    this.#recorder.finishQuiet(Number.POSITIVE_INFINITY);
    for (const marketId of this.#adopted) {
      const recorded = this.#recorder.recorded(marketId);
      const lastMs = Math.max(recorded?.lastReceivedTimeMs ?? 0, recorded?.rejectedTimeMs ?? 0);
      if (recorded === null || recorded.market.slug !== UNKNOWN || lastMs <= recorded.market.endTimeMs)
        continue;
      this.#recorder.track({ ...recorded.market, endTimeMs: lastMs });
    }
  }

  /** Runs once per second of recorded time; skips windows that ended long ago or have not opened. */
  #review(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (this.#strikes === null || second === this.#reviewedSecond) return;
    this.#reviewedSecond = second;
    for (const market of this.#recorder.markets()) {
      if (nowMs < market.startTimeMs || nowMs > market.endTimeMs + REVIEWED_AFTER_END_MS) continue;
      this.#track(market, this.#strikes.review(market, nowMs));
    }
  }

  #track(before: Market | null, after: Market): void {
    if (before === after) return;
    this.#recorder.track(after);
    this.#strikes?.note(before, after);
  }

  #dispatch(feed: RoutedFeed, frame: string, receivedTimeMs: number): void {
    const recorder = this.#recorder;
    if (feed === 'polymarket.clob') this.#clob(frame, receivedTimeMs);
    else if (feed === 'polymarket.gamma') this.#gamma(parseJson(frame), receivedTimeMs);
    else if (feed === 'polymarket.rtds') this.#relayed(mapRtdsFrame(frame, receivedTimeMs, this.#rtds), feed);
    else if (feed === 'polymarket.polybolt')
      this.#relayed(mapPolyboltFrame(frame, receivedTimeMs, this.#polybolt), feed);
    else if (feed === 'coinbase')
      mapCoinbaseFrame(frame, receivedTimeMs, this.#coinbase).forEach((e) => void recorder.underlying(e));
    else if (feed === 'bybit.rest')
      recorder.perpDepth(mapBybitAnswer(parseJson(frame), { receivedTimeMs, roundTripMs: null }));
    else if (feed === 'hyperliquid.rest')
      recorder.perpDepth(mapHyperliquidBook(parseJson(frame), { receivedTimeMs, roundTripMs: null }));
    else if (feed === 'bybit.ws') this.#bybitStream(frame, receivedTimeMs);
    else if (feed === 'binance') this.#binanceFrame(frame, receivedTimeMs);
    else throw new VenueMessageError('no venue sends frames of this shape');
  }

  #clob(frame: string, receivedTimeMs: number): void {
    const isUnderstood = this.#recorder.clobFrame(frame, receivedTimeMs, (event) => {
      const adoption = this.#unlisted.observe(event);
      if (adoption !== null) this.#adopted.add(adoption.market.marketId);
      return adoption;
    });
    if (!isUnderstood) this.rejected++;
  }

  /** Listed events, or markets that contain their event. */
  #gamma(raw: unknown, receivedTimeMs: number): void {
    for (const item of Array.isArray(raw) ? raw : [raw]) {
      const isEvent = typeof item === 'object' && item !== null && 'markets' in item;
      const results = isEvent ? mapGammaEvent(item, receivedTimeMs) : [mapGammaMarket(item, receivedTimeMs)];
      for (const result of results) {
        if (result.ok) {
          const known = this.#recorder.market(result.market.marketId);
          this.#track(known, mergeListing(known, result.market));
        } else {
          this.rejected++;
          setAsideListing(this.#recorder.drift, { listed: item, refusal: result, receivedTimeMs });
          const { slug, reason, detail } = result;
          if (reason === 'version_unknown')
            this.#recorder.reportVersion({
              where: 'gamma',
              market: slug ?? '',
              version: detail,
              timeMs: receivedTimeMs,
            });
          else this.#log.warn({ slug, reason, detail }, 'listing.market_refused');
        }
      }
    }
  }

  #relayed(events: readonly UnderlyingEvent[], feed: RoutedFeed): void {
    // Only a recording may have another clock than the venue.
    if (this.#recorder.lags !== null) for (const event of events) notAhead(event);
    for (const event of events) {
      if (this.#tickers.has(event.ticker)) this.#recorder.underlying(event, feed);
    }
  }

  /** Order books of the perpetuals; frames of other symbols and topics are ignored. */
  #bybitStream(frame: string, receivedTimeMs: number): void {
    for (const ticker of TICKERS) {
      const book = this.#bybit.get(ticker) ?? new BybitDepthBook(bybitSymbol(ticker));
      this.#bybit.set(ticker, book);
      const depth = book.apply(frame, ticker, receivedTimeMs);
      if (depth !== null) this.#recorder.perpDepth(depth);
    }
  }

  /** Spot trades become prices of the underlying, futures books perpetual depth; other messages are ignored. */
  #binanceFrame(frame: string, receivedTimeMs: number): void {
    const message = binanceMessageOf(frame) as Readonly<Record<string, unknown>> | null;
    if (message === null || typeof message !== 'object') return;
    // Only spot trades have this field; futures trades are not spot prices.
    if ('M' in message)
      for (const event of mapBinanceFrame(frame, receivedTimeMs, this.#spot))
        this.#recorder.underlying(event);
    for (const depth of this.#futures.apply(frame, message, receivedTimeMs)) this.#recorder.perpDepth(depth);
  }

  #refuse(feed: RoutedFeed, frame: string, error: UnderroundError, receivedTimeMs: number): void {
    this.rejected++;
    if (error instanceof VenueMessageError)
      this.#recorder.rejectFrame(feed, frame, { error, receivedTimeMs });
    else if (error instanceof DataGapError) {
      const { expectedId, receivedId } = error;
      this.#log.warn({ feed, code: error.code, expectedId, receivedId }, 'depth.chain_broken');
    } else this.#log.warn({ feed, code: error.code, reason: error.message }, 'frame.refused');
  }
}
