import type { Clock, Timer } from '../clock.ts';
import { ACTION_QUIET_MS, type Applied, type FinishedAction } from '../core/marketBook.ts';
import { parsePrice } from '../core/money.ts';
import { VenueMessageError } from '../errors.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type {
  BookSnapshotEvent,
  ClobEvent,
  MarketResolvedEvent,
  PerpDepthEvent,
  TickSizeChangeEvent,
  UnderlyingEvent,
} from '../schema/events.ts';
import type { GapCause } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { RecordSink } from '../schema/records.ts';
import type { StoredBook } from '../store/markets.ts';
import { mapClobFrame } from '../venues/polymarket/clob/mapper.ts';
import { BookTrust, CLOB_FEED } from './bookTrust.ts';
import { Gaps } from './gaps.ts';
import { marketOfLostFrame } from './lostFrame.ts';
import { withWinner } from './marketMerge.ts';
import { RecentSnapshots } from './recentSnapshots.ts';
import { RecordedMarket } from './recordedMarket.ts';
import { recorderCounters } from './recorderCounters.ts';
import { Sequence } from './sequence.ts';
import { UnderlyingPrices } from './underlyingPrices.ts';

export interface RecorderOptions {
  sink: RecordSink;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** `receipt`: time passes as frames say (imports, history); `clock`: quiet actions also end by timer. */
  timeBy: 'receipt' | 'clock';
}

/**
 * Turns what venues send into what is stored: raw frame -> action -> book -> records. Live feeds, imports and
 * generated history all pass through here.
 */
export class Recorder {
  readonly gaps: Gaps;
  readonly trust: BookTrust;
  readonly recent = new RecentSnapshots();
  /** Told of every price of an underlying, repeated ones too. */
  onUnderlying: ((event: UnderlyingEvent) => void) | null = null;
  /** Told of a market whose winner the venue's stream named; its record is written already. */
  onResolved: ((market: Market) => void) | null = null;
  readonly #options: RecorderOptions;
  readonly #sequence = new Sequence();
  readonly #prices = new UnderlyingPrices();
  readonly #markets = new Map<string, RecordedMarket>();
  readonly #byToken = new Map<string, RecordedMarket>();
  readonly #waiting = new Set<RecordedMarket>();
  readonly #perpUpdateIds = new Map<string, number>();
  #timer: Timer | null = null;
  /** A book we asked for is being applied. */
  #asked = false;
  readonly #counters;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { sink, log, metrics } = options;
    this.gaps = new Gaps({ sink, log, metrics, nextSeq: () => this.#nextSeq() });
    this.trust = new BookTrust({ gaps: this.gaps, metrics });
    this.#counters = recorderCounters(metrics);
  }

  /** Starts recording a market, or takes over a newer version of its record. Equal versions write nothing. */
  track(market: Market): void {
    const known = this.#markets.get(market.marketId);
    if (known !== undefined && JSON.stringify(known.market) === JSON.stringify(market)) return;
    if (known === undefined) this.#add(market);
    else known.market = market;
    this.#options.sink.market({ ...market, seq: this.#nextSeq() });
  }

  /** Takes over a market an earlier run stored, with the last book it stored: nothing of it is written again. */
  resume(market: Market, lastBook: StoredBook | null = null): void {
    if (this.#markets.has(market.marketId)) return;
    this.#add(market);
    if (lastBook !== null) this.#markets.get(market.marketId)?.restore(lastBook);
  }

  /** The process was not there since `lastAliveTimeMs`: a gap of every market it followed, and their trust is gone. */
  wasDown(lastAliveTimeMs: number, nowMs: number): void {
    for (const recorded of this.#markets.values()) {
      const { market, book } = recorded;
      if (market.endTimeMs <= lastAliveTimeMs || market.status === 'resolved') continue;
      const gap = { cause: 'process_down', startTimeMs: lastAliveTimeMs, feed: 'underround' } as const;
      this.trust.open(recorded, { ...gap, knownTimeMs: nowMs });
      book.disconnect(nowMs);
    }
  }

  market(marketId: string): Market | null {
    return this.#markets.get(marketId)?.market ?? null;
  }

  /** The records of all markets followed. */
  *markets(): IterableIterator<Market> {
    for (const { market } of this.#markets.values()) yield market;
  }

  recorded(marketId: string): RecordedMarket | null {
    return this.#markets.get(marketId) ?? null;
  }

  /** The market one of whose outcomes this token is. */
  ofToken(tokenId: string): RecordedMarket | null {
    return this.#byToken.get(tokenId) ?? null;
  }

  /** Stops recording a market; what waits is finished first. */
  untrack(marketId: string): void {
    const recorded = this.#markets.get(marketId);
    if (recorded === undefined) return;
    recorded.book.finishQuiet();
    this.#waiting.delete(recorded);
    this.trust.forget(recorded);
    this.#markets.delete(marketId);
    this.#byToken.delete(recorded.market.yesTokenId);
    this.#byToken.delete(recorded.market.noTokenId);
  }

  /** One text frame of the market channel. What is not understood is set aside, counted and logged. */
  clobFrame(text: string, receivedTimeMs: number): void {
    try {
      const events = mapClobFrame(text, receivedTimeMs);
      // Receipt is when we came to read the frame: after a stall of ours the rest of an action looks late.
      this.finishQuiet(receivedTimeMs, events[0]?.marketId);
      for (const event of events) this.clobEvent(event);
    } catch (error) {
      if (!(error instanceof VenueMessageError)) throw error;
      this.rejectFrame(CLOB_FEED, text, error);
      this.#lostTo(text, receivedTimeMs);
    }
    this.#armTimer();
  }

  rejectFrame(feed: string, text: string, error: VenueMessageError): void {
    this.#counters.rejected.inc({ feed });
    this.#options.log.warn(
      { feed, code: error.code, reason: error.message, frame: text.slice(0, 200) },
      'frame.rejected',
    );
  }

  clobEvent(event: ClobEvent): void {
    if (event.kind === 'new_market') return;
    const recorded = this.#markets.get(event.marketId);
    if (recorded === undefined) {
      this.#ignore('unknown_market');
      return;
    }
    recorded.lastReceivedTimeMs = event.receivedTimeMs;
    const { book } = recorded;
    if (event.kind === 'book_change') this.#applied(recorded, book.applyChanges(event));
    else if (event.kind === 'book_snapshot') this.#applied(recorded, book.applySnapshot(event));
    else if (event.kind === 'trade') {
      if (this.#byToken.get(event.tokenId) !== recorded) {
        this.#ignore('unknown_token');
        return;
      }
      book.applyTrade(event);
      const record = recorded.tradeRecord(event, this.#nextSeq());
      if (record !== null) this.#options.sink.trade(record);
    } else if (event.kind === 'tick_size_change') this.#tickSize(recorded, event);
    else if (event.kind === 'market_resolved') this.#resolved(recorded.market, event);
  }

  /** The feed of these tokens is gone: their books are untrusted until the next snapshots. */
  disconnect(tokenIds: readonly string[], receivedTimeMs: number, cause: GapCause = 'disconnected'): void {
    for (const recorded of new Set(tokenIds.map((tokenId) => this.#byToken.get(tokenId)))) {
      if (recorded === undefined || recorded.lastReceivedTimeMs === null) continue;
      this.trust.open(recorded, { cause, knownTimeMs: receivedTimeMs });
      recorded.book.disconnect(receivedTimeMs);
    }
  }

  /** Takes over a market's books as the venue answered them when asked; the caller has judged that they are newer. */
  askedBooks(recorded: RecordedMarket, books: readonly BookSnapshotEvent[]): void {
    this.#asked = true;
    for (const event of books) this.#applied(recorded, recorded.book.applySnapshot(event));
    recorded.book.finishQuiet();
    this.#asked = false;
  }

  underlying(event: UnderlyingEvent): void {
    if (this.resumePrice(event)) this.#options.sink.underlying({ ...event, seq: this.#nextSeq() });
  }

  /** Takes note of a price that is not to be written, as one an earlier run stored; false where it was known. */
  resumePrice(event: UnderlyingEvent): boolean {
    this.onUnderlying?.(event);
    return this.#prices.update(event);
  }

  /** An equal update id means that nothing changed: no row. */
  perpDepth(event: PerpDepthEvent): void {
    if (this.#perpUpdateIds.get(event.ticker) === event.updateId) return;
    this.#perpUpdateIds.set(event.ticker, event.updateId);
    this.#options.sink.perpDepth({ ...event, seq: this.#nextSeq() });
  }

  /** Ends the actions that have been quiet long enough at `nowMs`, of all markets but one; Infinity ends all. */
  finishQuiet(nowMs: number, butMarketId?: string): void {
    for (const recorded of this.#waiting) {
      if (recorded.market.marketId === butMarketId) continue;
      const since = recorded.book.waitingSinceMs;
      if (since !== null && nowMs - since < ACTION_QUIET_MS) continue;
      recorded.book.finishQuiet();
      this.#waiting.delete(recorded);
    }
    if (nowMs !== Number.POSITIVE_INFINITY) this.trust.due(nowMs);
  }

  close(): void {
    this.#timer?.cancel();
    this.finishQuiet(Number.POSITIVE_INFINITY);
  }

  #tickSize({ market, book }: RecordedMarket, { tickSize, receivedTimeMs }: TickSizeChangeEvent): void {
    book.applyTickSize(tickSize, receivedTimeMs);
    const ticks = parsePrice(tickSize);
    if (ticks !== null && ticks !== market.tickSize) this.track({ ...market, tickSize: ticks });
  }

  #resolved(market: Market, { winningTokenId, eventTimeMs }: MarketResolvedEvent): void {
    if (market.status === 'resolved') return;
    const resolved = withWinner(market, { tokenId: winningTokenId, timeMs: eventTimeMs, by: 'stream' });
    if (resolved === null) {
      this.#options.log.error({ marketId: market.marketId, winningTokenId }, 'market.winner_unknown');
      return;
    }
    this.track(resolved);
    this.onResolved?.(resolved);
  }

  #add(market: Market): void {
    const recorded = new RecordedMarket(market, (at, action) => this.#finished(at, action));
    recorded.isNew = this.#options.timeBy === 'clock';
    this.#markets.set(market.marketId, recorded);
    this.#byToken.set(market.yesTokenId, recorded);
    this.#byToken.set(market.noTokenId, recorded);
  }

  #nextSeq(): number {
    return this.#sequence.next(this.#options.clock.now());
  }

  #applied(recorded: RecordedMarket, result: Applied): void {
    if (result !== 'applied') this.#ignore(result);
    if (recorded.book.waitingSinceMs !== null) this.#waiting.add(recorded);
  }

  #ignore(why: string): void {
    this.#counters.ignored.inc({ why });
  }

  #finished(recorded: RecordedMarket, finished: FinishedAction): void {
    const trusted = this.trust.finished(recorded, finished, this.#asked);
    const action = trusted === finished.trusted ? finished : { ...finished, trusted };
    this.#counters.actions.inc({ end: action.end, trusted: String(trusted) });
    if (trusted && recorded.market.recordedSinceMs === null && recorded.isNew)
      this.track({ ...recorded.market, recordedSinceMs: action.receivedTimeMs });
    const underlyingPrice = this.#prices.at(recorded.market.ticker, action.receivedTimeMs);
    const { sink } = this.#options;
    const quote = recorded.quoteRecord(action, { seq: this.#nextSeq(), underlyingPrice });
    if (quote !== null) sink.quote(quote);
    // A change of trust alone is a quote, not a book: every book row is a change of its levels.
    if (!action.changed) return;
    sink.book(recorded.bookRecord(action, { seq: this.#nextSeq(), underlyingPrice }));
    this.recent.add(action.receivedTimeMs);
  }

  /** A frame of a market's book or trades could not be read: what it said is lost. */
  #lostTo(text: string, receivedTimeMs: number): void {
    const recorded = this.#markets.get(marketOfLostFrame(text) ?? '');
    if (recorded === undefined || recorded.lastReceivedTimeMs === null) return;
    this.trust.open(recorded, { cause: 'frame_rejected', knownTimeMs: receivedTimeMs });
    recorded.rejectedTimeMs = receivedTimeMs;
    recorded.book.distrust(receivedTimeMs);
  }

  #armTimer(): void {
    const { clock, timeBy } = this.#options;
    if (timeBy !== 'clock' || this.#timer !== null || this.#waiting.size === 0) return;
    this.#timer = clock.after(ACTION_QUIET_MS, () => {
      // One turn later: what lies in the sockets already is read first.
      this.#timer = clock.after(0, () => {
        this.#timer = null;
        this.finishQuiet(clock.now());
        this.#armTimer();
      });
    });
  }
}
