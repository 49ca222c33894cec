import type { Receiving } from '../bus/topics.ts';
import type { SignalTier } from '../core/signals/signal.ts';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { FanOut, type Served } from '../runtime/fanOut.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Gap } from '../schema/gap.ts';
import { type Market, TICKERS, type Ticker } from '../schema/market.ts';
import type { BookRecord, QuoteRecord } from '../schema/records.ts';
import { type Detection, detectionOf } from './detection.ts';
import type { ExecutableFill } from './executable.ts';
import { FillTracker } from './fillTracker.ts';
import { type FirstDetection, type OpenOpportunity, OpportunityTracker } from './opportunityTracker.ts';
import { type PricePoint, TickerPrices } from './tickerPrices.ts';
import { WatchedMarket } from './watchedMarket.ts';

/** How often to re-evaluate every market: endgame ranges, price freshness and market ends expire without an event. */
const SWEEP_MS = 1_000;
/** A market is forgotten this long after its end. */
const FORGET_AFTER_MS = 60_000;
/** Pause before a market is evaluated again after a row could not be written. */
const REFUSED_PAUSE_MS = 1_000;
/** Detection timestamps may run at most this far ahead of the wall clock; if the clock was set back further, use it. */
const DETECTION_AHEAD_MAX_MS = 100;

/**
 * Markets evaluated in one turn of the event loop if time or a price requires all of them: some tenths of a
 * millisecond. With the venue's fifteen series this covers all markets of a ticker.
 */
const MARKETS_AT_ONCE = 32;

/** A market's newest published book. */
export interface ShownBook extends Pick<BookRecord, 'yes' | 'no' | 'trusted'> {
  /**
   * Receive time of the last change of a best price or of the trust: all four prices have been unchanged since then.
   */
  readonly quotedTimeMs: number;
}

/** The columns of an audit row that the board uses. */
export type WrittenDetection = Pick<Detection, 'detectedMs' | 'direction'>;

/** Receives detections before they are published. */
export interface DetectionSink {
  /**
   * Resolves when the row is written and published, with the row's content: another process may have written it first.
   * Null if it could not be written. Never rejects.
   */
  detected(detection: Detection): Promise<WrittenDetection | null>;
  /** Never rejects. */
  executable(detection: Detection, fills: readonly ExecutableFill[]): Promise<void>;
}

interface DetectorHostOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly sink: DetectionSink;
  /** For a market without a change since the start. Null: it has no book yet; `unfinished`: call again later. */
  readonly bookOf?: (marketId: string) => ShownBook | 'unfinished' | null;
  /** First detections by an earlier run, of markets that have not ended. */
  readonly known?: readonly Omit<KnownDetection, 'auditId'>[];
}

/** A row written by an earlier run or by another process. */
export type KnownDetection = WrittenDetection & Pick<Detection, 'auditId' | 'marketId' | 'tier'>;

/** One market and its detections. */
interface Watch extends Served {
  readonly watched: WatchedMarket;
  readonly tracker: OpportunityTracker;
  readonly fills: FillTracker;
  /** First detections by kind: written, or being written. */
  readonly first: Map<SignalTier, FirstDetection>;
  pausedUntilMs: number;
  /** Receive time of the event that scheduled the evaluation. */
  evaluateMs: number;
}

/**
 * Runs the detectors on the recorder's output: on each trusted book change of a market, and on each price of its
 * underlying. Calls return at once; detections go to the sink first.
 */
export class DetectorHost {
  readonly #options: DetectorHostOptions;
  readonly #prices = Object.fromEntries(
    TICKERS.map((ticker): [Ticker, TickerPrices] => [ticker, new TickerPrices()]),
  ) as Readonly<Record<Ticker, TickerPrices>>;
  readonly #watches = new Map<string, Watch>();
  readonly #byTicker = new Map<Ticker, Set<Watch>>(TICKERS.map((ticker) => [ticker, new Set()]));
  readonly #known = new Map<string, Map<SignalTier, FirstDetection>>();
  readonly #detectionClock = new DetectionClock();
  readonly #rounds = new FanOut(MARKETS_AT_ONCE);
  readonly #sweep: Timer;
  #isClosed = false;
  #isReceiving = true;
  readonly #found;

  constructor(options: DetectorHostOptions) {
    const { clock, metrics } = options;
    this.#options = options;
    this.#found = metrics.counter(
      'underround_signals_found_total',
      'First detections, one per market and kind',
      ['tier'],
    );
    for (const { marketId, tier, detectedMs, direction } of options.known ?? []) {
      const first = this.#known.get(marketId) ?? new Map<SignalTier, FirstDetection>();
      this.#known.set(marketId, first.set(tier, { detectedMs, direction, isAudited: true }));
    }
    this.#sweep = every(clock, SWEEP_MS, () => this.evaluateAll(clock.now()));
  }

  /** Applies a new or changed record of a market. */
  onMarket(market: Market): void {
    const nowMs = this.#options.clock.now();
    const watch = this.#watches.get(market.marketId);
    if (watch !== undefined) {
      watch.watched.applyRecord(market, nowMs);
      if (market.status !== 'open') watch.tracker.clear();
      return;
    }
    if (market.status === 'resolved' || market.endTimeMs <= nowMs) return;
    const watched = WatchedMarket.of(market, nowMs);
    if (watched !== null) this.#add(watched);
  }

  /** Applies a change of levels. */
  onBook(record: BookRecord): void {
    const watch = this.#watches.get(record.marketId);
    if (watch === undefined) return;
    const { watched } = watch;
    watch.fills.advanceTo(record.receivedTimeMs);
    watched.copyBook(record);
    watched.isProven = record.trusted;
    this.#bookShown(watch, record.receivedTimeMs);
  }

  /** Applies a change of best prices or their trust; the levels behind them arrive as `book`. */
  onQuote(record: QuoteRecord): void {
    const watch = this.#watches.get(record.marketId);
    if (watch === undefined) return;
    const { watched } = watch;
    if (!watched.hasBook) this.#firstBook(watch);
    if (record.trusted === watched.isProven) return;
    watch.fills.advanceTo(record.receivedTimeMs);
    watched.isProven = record.trusted;
    // Trusted again: the levels may follow shortly, so only the next change is evaluated.
    if (watched.trusted) watched.priceAge.update(watched, record.receivedTimeMs);
    else this.#distrust(watch);
  }

  onGap(gap: Gap): void {
    const watch = this.#watches.get(gap.marketId);
    if (watch === undefined) return;
    const { watched, fills } = watch;
    if (gap.endReceivedMs !== null) {
      if (!watched.openGaps.has(gap.gapId)) return;
      // Until now the gap was open: an order that was due meanwhile filled nothing.
      fills.advanceTo(gap.endReceivedMs);
      watched.openGaps.delete(gap.gapId);
      if (watched.trusted) watched.priceAge.update(watched, gap.endReceivedMs);
      return;
    }
    fills.advanceTo(this.#options.clock.now());
    watched.openGaps.add(gap.gapId);
    this.#distrust(watch);
  }

  /** While no records arrive, and until those that arrive are new, nothing is detected. */
  onReceiving({ isReceiving }: Receiving): void {
    this.#isReceiving = isReceiving;
    for (const watch of this.#watches.values()) {
      // The books by then are not known here: these fills are read from the store later.
      watch.fills.forget();
      this.#distrust(watch);
      if (isReceiving) this.#firstBook(watch);
    }
  }

  /** Applies a price of an underlying: only the markets on it change in value. */
  onPrice(point: PricePoint & { readonly ticker: Ticker }): void {
    this.#prices[point.ticker].push(point);
    this.#evaluateEach(this.#byTicker.get(point.ticker) ?? [], point.receivedTimeMs);
  }

  /** Applies a row that another process wrote. */
  onWritten({ marketId, tier, ...written }: Omit<KnownDetection, 'auditId'>): void {
    const watch = this.#watches.get(marketId);
    if (watch !== undefined && watch.first.get(tier)?.isAudited !== true) this.#written(watch, tier, written);
  }

  /** Loads prices from before the start, oldest first. */
  prime(points: readonly (PricePoint & { readonly ticker: Ticker })[]): void {
    for (const point of points) this.#prices[point.ticker].push(point);
  }

  /**
   * The opportunities that are still open at `nowMs`, audited or not yet. A reader neither begins nor ends one: both
   * would change the audit.
   */
  *openOpportunities(nowMs: number): IterableIterator<{
    watched: WatchedMarket;
    opportunity: OpenOpportunity;
    prices: TickerPrices;
  }> {
    for (const { watched, tracker } of this.#watches.values()) {
      if (tracker.open.length === 0) continue;
      const prices = this.#prices[watched.ticker];
      watched.price(prices, nowMs);
      for (const opportunity of tracker.openIn(watched)) yield { watched, opportunity, prices };
    }
  }

  /** A market priced now; null if it is not watched. */
  priced(marketId: string): WatchedMarket | null {
    const watched = this.#watches.get(marketId)?.watched ?? null;
    watched?.price(this.#prices[watched.ticker], this.#options.clock.now());
    return watched;
  }

  close(): void {
    this.#isClosed = true;
    this.#sweep.cancel();
    for (const { fills } of this.#watches.values()) fills.forget();
  }

  #add(watched: WatchedMarket): void {
    const { marketId } = watched.market;
    const watch: Watch = {
      ...{ watched, tracker: new OpportunityTracker(), fills: new FillTracker(this.#options.clock, watched) },
      first: this.#known.get(marketId) ?? new Map<SignalTier, FirstDetection>(),
      ...{ pausedUntilMs: 0, evaluateMs: 0, isWoken: false },
      deliver: () => this.#evaluate(watch, watch.evaluateMs),
    };
    this.#known.delete(marketId);
    this.#watches.set(marketId, watch);
    this.#byTicker.get(watched.ticker)?.add(watch);
    this.#firstBook(watch);
  }

  /** Copies the book published before this host subscribed; it may stay unchanged until the window ends. */
  #firstBook({ watched }: Watch): void {
    const book = this.#options.bookOf?.(watched.market.marketId) ?? null;
    if (book === null || book === 'unfinished') return;
    watched.copyBook(book);
    watched.isProven = book.trusted;
    if (watched.trusted) watched.priceAge.update(watched, book.quotedTimeMs);
  }

  #bookShown(watch: Watch, receivedTimeMs: number): void {
    if (!watch.watched.trusted || !this.#isReceiving) {
      this.#distrust(watch);
      return;
    }
    watch.watched.priceAge.update(watch.watched, receivedTimeMs);
    this.#evaluate(watch, receivedTimeMs);
  }

  #distrust({ watched, tracker }: Watch): void {
    watched.priceAge.reset();
    tracker.clear();
  }

  #evaluate(watch: Watch, receivedMs: number): void {
    const { watched, tracker } = watch;
    if (!watched.trusted || !this.#isReceiving || this.#isClosed) return;
    // The winner may be known before the window's end, while orders remain in the book.
    if (watched.market.status !== 'open') {
      tracker.clear();
      return;
    }
    watched.price(this.#prices[watched.ticker], receivedMs);
    for (const opportunity of tracker.update(watched)) this.#begun(watch, opportunity, receivedMs);
  }

  #begun(watch: Watch, opportunity: OpenOpportunity, receivedMs: number): void {
    const { first, watched } = watch;
    const nowMs = this.#options.clock.now();
    const { tier, signal } = opportunity;
    opportunity.first = first.get(tier) ?? null;
    if (opportunity.first !== null) return;
    if (nowMs < watch.pausedUntilMs) {
      watch.tracker.drop(tier);
      return;
    }
    const datedMs = [...first.values()].map((dated) => dated.detectedMs);
    const detectedMs = this.#detectionClock.next(datedMs, nowMs);
    opportunity.first = { detectedMs, direction: signal.direction, isAudited: false };
    first.set(tier, opportunity.first);
    this.#found.inc({ tier });
    void this.#audit(watch, detectionOf(watched, signal, { tier, detectedMs, receivedMs }));
  }

  async #audit(watch: Watch, detection: Detection): Promise<void> {
    const { sink } = this.#options;
    const { legs, detectedMs, tier } = detection;
    const writing = sink.detected(detection);
    const done = async (fills: readonly ExecutableFill[]) => {
      // The row of another process has another time, and other fills.
      if ((await writing)?.detectedMs === detectedMs) await sink.executable(detection, fills);
    };
    watch.fills.add({ detectedMs, legs, fee: watch.watched.fee, done: (fills) => void done(fills) });
    const written = await writing;
    if (written !== null) {
      this.#written(watch, tier, written);
      return;
    }
    watch.first.delete(tier);
    watch.tracker.drop(tier);
    watch.pausedUntilMs = this.#options.clock.now() + REFUSED_PAUSE_MS;
  }

  #written(watch: Watch, tier: SignalTier, { detectedMs, direction }: WrittenDetection): void {
    const first = { detectedMs, direction, isAudited: true };
    watch.first.set(tier, first);
    // The episode that made the row may have ended meanwhile, and another of its kind begun.
    for (const open of watch.tracker.open) if (open.tier === tier) open.first = first;
  }

  /** Evaluates every market at `nowMs`, and forgets markets that are over. */
  evaluateAll(nowMs: number): void {
    for (const [marketId, watch] of this.#watches) {
      if (!watch.watched.hasBook) this.#firstBook(watch);
      const { endTimeMs } = watch.watched.market;
      if (nowMs <= endTimeMs + FORGET_AFTER_MS || !watch.fills.isIdle) continue;
      this.#watches.delete(marketId);
      this.#byTicker.get(watch.watched.ticker)?.delete(watch);
    }
    this.#evaluateEach(this.#watches.values(), nowMs);
  }

  /** Evaluates the first markets at once; the others take turns with new events, so as not to delay them. */
  #evaluateEach(watches: Iterable<Watch>, receivedMs: number): void {
    let atOnce = MARKETS_AT_ONCE;
    for (const watch of watches) {
      if (atOnce-- > 0) this.#evaluate(watch, receivedMs);
      else {
        watch.evaluateMs = receivedMs;
        this.#rounds.wake(watch);
      }
    }
  }
}

/**
 * Dates detections. Those of one market have distinct times, and all together are in the order of detection, which is
 * that of the audit's rows.
 */
export class DetectionClock {
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param datedMs The times of this market's earlier detections. */
  next(datedMs: Iterable<number>, nowMs: number): number {
    const taken = new Set(datedMs);
    let momentMs = this.#lastMs - nowMs > DETECTION_AHEAD_MAX_MS ? nowMs : Math.max(nowMs, this.#lastMs);
    while (taken.has(momentMs)) momentMs++;
    this.#lastMs = momentMs;
    return momentMs;
  }
}
