import { isLate } from '../core/lateness.ts';
import { parsePrice } from '../core/money.ts';
import type { Clock } from '../runtime/clock.ts';
import { VenueMessageError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { VenueDrift } from '../runtime/venueDrift.ts';
import type {
  BookChangeEvent,
  BookSnapshotEvent,
  ClobEvent,
  MarketResolvedEvent,
  PerpDepthEvent,
  TickSizeChangeEvent,
  UnderlyingEvent,
  UnknownVersionEvent,
} from '../schema/events.ts';
import type { GapCause, RowTimes } from '../schema/gap.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import type { RecordSink } from '../schema/records.ts';
import type { StoredBook } from '../store/queries/resume.ts';
import { MessageWatch, setAsideRefused } from '../venues/drift/messageWatch.ts';
import { PERP_FEEDS } from '../venues/perpVenue.ts';
import type { BookEvent, FinishedAction } from '../venues/polymarket/book/bookAction.ts';
import { CLOB_KINDS } from '../venues/polymarket/clob/knownKeys.ts';
import { mapClobFrame } from '../venues/polymarket/clob/mapper.ts';
import { type FoundVersion, reportUnknownVersion } from '../venues/polymarket/reportUnknownVersion.ts';
import { BookTrust, CLOB_FEED } from './bookTrust.ts';
import { GapTracker } from './gapTracker.ts';
import type { Adoption } from './import/unlistedMarketAdopter.ts';
import type { LiveRecording } from './liveRecording.ts';
import { marketOfLostFrame } from './lostFrame.ts';
import { withWinner } from './marketMerge.ts';
import { RecentSnapshotCounter } from './recentSnapshotCounter.ts';
import { RecordedMarket } from './recordedMarket.ts';
import { neverStored, SUBSCRIBED_AFTER_END_MS } from './recordedSpan.ts';
import { recorderCounters } from './recorderCounters.ts';
import { Sequence } from './sequence.ts';
import { UnderlyingPriceCache } from './underlyingPriceCache.ts';
import { WaitingActions } from './waitingActions.ts';
import { FeedLagMonitor, PRICE_FEEDS } from './watchdog/feedLagMonitor.ts';

interface RecorderOptions {
  sink: RecordSink;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** `receipt`: time passes by the frames (imports, history); `clock`: quiet actions also end by timer. */
  timeBy: 'receipt' | 'clock';
  /** Only a hash proves a book, never announced best prices: recordings of others may lack messages. */
  isProvenByHashOnly?: boolean;
}

/**
 * Turns venue data into stored records: raw frame -> action -> book -> records. Live feeds, imports and
 * generated history all pass through here.
 */
export class Recorder implements LiveRecording {
  isReceiving = true;
  knownToMs = Number.POSITIVE_INFINITY;
  readonly gaps: GapTracker;
  readonly trust: BookTrust;
  /** Null for recordings, whose clocks are unknown. */
  readonly lags: FeedLagMonitor | null;
  /** Differences from the known formats. */
  readonly drift: VenueDrift;
  /** Number of events that changed nothing: repeated, of unknown tokens or markets, or before the first book. */
  ignoredCount = 0;
  readonly recent = new RecentSnapshotCounter();
  /**
   * All frames received before this time have been delivered to this recorder. It decides how long an unfinished action
   * has been quiet; the clock does not, because further frames of the action may wait to be delivered.
   */
  deliveredToMs: () => number;
  /** Called with every price of an underlying and its feed, including repeated ones, unless it is late. */
  onUnderlying: ((event: UnderlyingEvent, feed: string) => void) | null = null;
  /** Called with late Chainlink points, which count only in averages over past seconds. */
  onLatePoint: ((event: UnderlyingEvent) => void) | null = null;
  /** Called with a market whose winner the venue's stream named, after its record is written. */
  onResolved: ((market: Market) => void) | null = null;
  /** Called at the end of each finished action, after its records. */
  onActionEnd: ((recorded: RecordedMarket, action: FinishedAction) => void) | null = null;
  readonly #options: RecorderOptions;
  readonly #sequence = new Sequence();
  readonly #prices = new UnderlyingPriceCache();
  readonly #markets = new Map<string, RecordedMarket>();
  readonly #byToken = new Map<string, RecordedMarket>();
  readonly #waiting: WaitingActions;
  readonly #perpUpdateIds = new Map<string, number>();
  readonly #watch: MessageWatch;
  readonly #counters;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { sink, clock, log, metrics } = options;
    this.gaps = new GapTracker({ sink, log, metrics, nextSeq: () => this.#nextSeq() });
    this.lags = options.timeBy === 'clock' ? new FeedLagMonitor(options) : null;
    const isLate = (market: Market) => this.lags !== null && this.lags.lateFor(market) !== null;
    this.trust = new BookTrust({ gaps: this.gaps, metrics, isLate, byHashOnly: options.isProvenByHashOnly });
    this.#waiting = new WaitingActions({
      clock,
      finish: (recorded) => this.#finishWaiting(recorded),
      onDue: () => this.finishQuiet(this.deliveredToMs()),
    });
    this.deliveredToMs = () => clock.now();
    this.#counters = recorderCounters(metrics);
    this.drift = metrics.venueDrift;
    this.#watch = new MessageWatch({ feed: CLOB_FEED, kinds: CLOB_KINDS, drift: this.drift });
  }

  /** Starts recording a market, or replaces its record with a newer version. Equal versions write nothing. */
  track(market: Market): void {
    const known = this.#markets.get(market.marketId);
    if (known !== undefined && JSON.stringify(known.market) === JSON.stringify(market)) return;
    if (known === undefined) this.#add(market);
    else known.market = market;
    this.#options.sink.market({ ...market, seq: this.#nextSeq() });
  }

  /**
   * Continues a market of an earlier run from its last stored book and last proven row. No row is written
   * again.
   */
  resume(market: Market, last: { book: StoredBook; proven: RowTimes | null } | null = null): void {
    if (this.#markets.has(market.marketId)) return;
    this.#add(market);
    if (last !== null) this.#markets.get(market.marketId)?.restore(last.book, last.proven);
  }

  /** Numbers every further record above those of an earlier run. */
  continueAfter(seq: number): void {
    this.#sequence.continueAfter(seq);
  }

  /** Writes the records of all followed markets again, because the store has lost some. */
  writeMarketsAgain(): void {
    for (const { market } of this.#markets.values())
      this.#options.sink.market({ ...market, seq: this.#nextSeq() });
  }

  /**
   * Opens a gap of every followed market for the time since `lastAliveTimeMs`, and makes their books untrusted. Each gap
   * starts at the market's last stored proven row: later rows may be lost with the process.
   */
  wasDown(lastAliveTimeMs: number, nowMs: number): void {
    for (const recorded of this.#markets.values()) {
      const { endTimeMs, status } = recorded.market;
      if (endTimeMs + SUBSCRIBED_AFTER_END_MS <= lastAliveTimeMs || status === 'resolved') continue;
      const start = recorded.gapStart ?? neverStored(recorded.market, lastAliveTimeMs);
      this.lose(recorded, { cause: 'process_down', start, knownTimeMs: nowMs, feed: 'underround' });
    }
  }

  /** Opens a gap of a market whose feed has lost data: its book waits for new snapshots. */
  lose(recorded: RecordedMarket, gap: Parameters<BookTrust['open']>[1]): void {
    // The completed part of the running action was received before the loss.
    this.#finishWaiting(recorded);
    this.trust.open(recorded, gap);
    this.#record(recorded, recorded.book.disconnect(gap.knownTimeMs));
  }

  /** Opens a gap of a market whose book may be wrong, until the next announced hashes verify. */
  distrust(recorded: RecordedMarket, gap: Parameters<BookTrust['open']>[1]): void {
    this.#finishWaiting(recorded);
    this.trust.open(recorded, gap);
    this.#record(recorded, recorded.book.distrust(gap.knownTimeMs));
  }

  /** Writes a full row of the market's newest book, in case earlier rows were dropped. */
  rewrite(recorded: RecordedMarket, nowMs: number): void {
    recorded.forgetQuote();
    this.#finishWaiting(recorded);
    this.#record(recorded, recorded.book.republish(nowMs));
  }

  /** Writes a row if the trust in the market's newest book has changed for a reason outside it. */
  reannounce(recorded: RecordedMarket, nowMs: number): void {
    this.#finishWaiting(recorded);
    this.#record(recorded, recorded.book.reannounce(nowMs));
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

  /** The market this token belongs to. */
  ofToken(tokenId: string): RecordedMarket | null {
    return this.#byToken.get(tokenId) ?? null;
  }

  /** Stops recording a market, after finishing its waiting action. */
  untrack(marketId: string): void {
    const recorded = this.#markets.get(marketId);
    if (recorded === undefined) return;
    this.#finishWaiting(recorded);
    this.#waiting.forget(recorded);
    this.trust.forget(recorded);
    this.#markets.delete(marketId);
    this.#byToken.delete(recorded.market.yesTokenId);
    this.#byToken.delete(recorded.market.noTokenId);
  }

  /**
   * Processes one text frame of the market channel: live, recorded or simulated. A malformed frame is set aside, counted
   * and logged, and opens a gap of the market that it names.
   * @param adopt Called for events of unlisted markets; returns the market to record once enough is known of it.
   * @returns Whether the frame was understood.
   */
  clobFrame(
    text: string,
    receivedTimeMs: number,
    adopt: ((event: ClobEvent) => Adoption | null) | null = null,
  ): boolean {
    let isUnderstood = true;
    try {
      const events = mapClobFrame(text, receivedTimeMs, this.#watch);
      // The receive time is when the frame was read: after a stall of ours, the rest of an action looks late.
      this.finishQuiet(receivedTimeMs, events[0]?.marketId);
      for (const event of events) {
        if (event.kind === 'unknown_version') isUnderstood = this.#refuseVersion(event, text);
        else this.#known(event, adopt);
      }
    } catch (error) {
      if (!(error instanceof VenueMessageError)) throw error;
      this.rejectFrame(CLOB_FEED, text, { error, receivedTimeMs });
      this.#lostTo(marketOfLostFrame(text), receivedTimeMs);
      isUnderstood = false;
    } finally {
      if (this.#options.timeBy === 'clock') this.#waiting.startTimer();
    }
    return isUnderstood;
  }

  /** Records an event of an archive that has no frames. @param adopt As in `clobFrame`. */
  archivedEvent(event: ClobEvent, adopt: (event: ClobEvent) => Adoption | null): void {
    this.finishQuiet(event.receivedTimeMs, event.marketId);
    this.#known(event, adopt);
  }

  #known(event: ClobEvent, adopt: ((event: ClobEvent) => Adoption | null) | null): void {
    if (adopt === null || this.#markets.has(event.marketId)) this.clobEvent(event);
    else this.#adopt(adopt(event));
  }

  /** Records a market without a listing, with the events that were held back until it was known. */
  #adopt(adoption: Adoption | null): void {
    if (adoption === null) return;
    const { marketId, yesTokenId } = adoption.market;
    this.#options.log.warn({ marketId, yesTokenId }, 'market.adopted_without_listing');
    this.track(adoption.market);
    for (const event of adoption.events) this.clobEvent(event);
  }

  /** Sets a frame aside that does not match the protocol. */
  rejectFrame(
    feed: string,
    text: string,
    { error, receivedTimeMs }: { error: VenueMessageError; receivedTimeMs: number },
  ): void {
    this.#counters.rejected.inc({ feed });
    setAsideRefused(this.drift, { feed, text, reason: error.message, receivedTimeMs });
    this.#options.log.warn(
      { feed, code: error.code, reason: error.message, frame: text.slice(0, 200) },
      'frame.rejected',
    );
  }

  clobEvent(event: ClobEvent): void {
    if (event.kind === 'new_market' || event.kind === 'unknown_version') return;
    const recorded = this.#markets.get(event.marketId);
    if (recorded === undefined) {
      this.#ignore('unknown_market');
      return;
    }
    recorded.received(event);
    if (recorded.market.noTokenId === UNKNOWN) this.#nameNoToken(recorded, event);
    this.#noteLag(recorded, event);
    if (event.kind === 'book_change') this.#change(recorded, event);
    else if (event.kind === 'book_snapshot') this.#snapshot(recorded, event);
    else if (event.kind === 'trade') {
      if (this.#byToken.get(event.tokenId) !== recorded) {
        this.#ignore('unknown_token');
        return;
      }
      recorded.unproven?.states.noteTrade(event.price);
      this.#apply(recorded, event);
      const record = recorded.tradeRecord(event, this.#nextSeq());
      if (record !== null) this.#options.sink.trade(record);
    } else if (event.kind === 'tick_size_change') this.#tickSize(recorded, event);
    else if (event.kind === 'market_resolved') this.#resolved(recorded.market, event);
  }

  /** The feed of these tokens is lost: their books are untrusted until the next snapshots. */
  disconnect(tokenIds: readonly string[], receivedTimeMs: number, cause: GapCause = 'disconnected'): void {
    for (const recorded of new Set(tokenIds.map((tokenId) => this.#byToken.get(tokenId)))) {
      if (recorded === undefined || recorded.lastReceivedTimeMs === null) continue;
      this.lose(recorded, { cause, knownTimeMs: receivedTimeMs });
    }
  }

  /** Applies a market's books from an answer of the venue; the caller has checked that they are newer. */
  applyRequestedBooks(recorded: RecordedMarket, books: readonly BookSnapshotEvent[]): void {
    for (const event of books) this.#apply(recorded, event, true);
    this.#finishWaiting(recorded, true);
  }

  /**
   * Writes a price point; a late one is not used for pricing or decisions. Of a point that several feeds bring, the
   * first to arrive is written; another price for it is counted.
   */
  underlying(event: UnderlyingEvent, feed = PRICE_FEEDS[event.source]): void {
    const isHistory = event.isHistory === true;
    const isLateNews = this.lags !== null && !isHistory && isLate(event);
    if (!isLateNews) this.onUnderlying?.(event, feed);
    else if (event.source === 'chainlink') this.onLatePoint?.(event);
    const news = this.#prices.update(event);
    if (news === 'differs') this.#counters.priceConflicts.inc({ source: event.source });
    if (news !== 'new') return;
    if (!isHistory) this.lags?.price(event, event.receivedTimeMs - event.eventTimeMs, feed);
    this.#options.sink.underlying({ ...event, seq: this.#nextSeq() });
  }

  /** Restores a price that an earlier run stored, without writing it; returns false if it was known. */
  resumePrice(event: UnderlyingEvent): boolean {
    // Old: no feed is alive because of it.
    this.onUnderlying?.({ ...event, isHistory: true }, PRICE_FEEDS[event.source]);
    return this.#prices.update(event) === 'new';
  }

  /** An unchanged update id of a venue means an unchanged book: no row. */
  perpDepth(event: PerpDepthEvent): void {
    const { venue, ticker, updateId } = event;
    const key = `${venue} ${ticker}`;
    if (this.#perpUpdateIds.get(key) === updateId) return;
    this.#perpUpdateIds.set(key, updateId);
    this.lags?.other(PERP_FEEDS[venue], event.receivedTimeMs - event.eventTimeMs);
    this.#options.sink.perpDepth({ ...event, seq: this.#nextSeq() });
  }

  /** Ends the actions of all markets but one that are quiet long enough at `nowMs`; Infinity ends all. */
  finishQuiet(nowMs: number, butMarketId?: string): void {
    this.#waiting.finishQuiet(nowMs, butMarketId);
    if (nowMs !== Number.POSITIVE_INFINITY) this.trust.due(nowMs);
  }

  close(): void {
    this.#waiting.stopTimer();
    this.finishQuiet(Number.POSITIVE_INFINITY);
    // A live feed's next start detects the loss; a recording has no further frames.
    if (this.#options.timeBy === 'receipt') this.trust.due(Number.POSITIVE_INFINITY);
  }

  #change(recorded: RecordedMarket, event: BookChangeEvent): void {
    recorded.unproven?.states.noteChanges(event, recorded.book.recent);
    this.#apply(recorded, event);
  }

  #snapshot(recorded: RecordedMarket, event: BookSnapshotEvent): void {
    const { book, market } = recorded;
    this.#apply(recorded, event);
    if (!book.recipeRefuted) return;
    const { hash, tokenId, receivedTimeMs } = event;
    const subject = { category: 'hash_recipe', feed: CLOB_FEED, kind: 'book', key: market.marketId } as const;
    this.drift.note(subject, receivedTimeMs, () => ({ slug: market.slug, tokenId, hash }));
  }

  #nameNoToken(recorded: RecordedMarket, event: ClobEvent): void {
    const named =
      event.kind === 'book_change'
        ? event.changes.map(({ tokenId }) => tokenId)
        : 'tokenId' in event
          ? [event.tokenId]
          : [];
    const other = named.find((tokenId) => tokenId !== recorded.market.yesTokenId);
    if (other === undefined) return;
    this.#byToken.set(other, recorded);
    this.track(recorded.nameNoToken(other));
  }

  #tickSize(recorded: RecordedMarket, event: TickSizeChangeEvent): void {
    const { market } = recorded;
    this.#apply(recorded, event);
    const ticks = parsePrice(event.tickSize);
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
    const recorded = new RecordedMarket(market);
    recorded.isNew = this.#options.timeBy === 'clock';
    this.#markets.set(market.marketId, recorded);
    this.#byToken.set(market.yesTokenId, recorded);
    if (market.noTokenId !== UNKNOWN) this.#byToken.set(market.noTokenId, recorded);
  }

  /**
   * Counts new data only: a repetition of known data is always late, and harmless. A change with the time of the newest
   * state is part of it; a trade has the time of the change that it causes, and often follows it.
   */
  #noteLag(recorded: RecordedMarket, event: ClobEvent): void {
    if (this.lags === null || (event.kind !== 'book_change' && event.kind !== 'trade')) return;
    const { market, book } = recorded;
    const sinceStateMs = event.eventTimeMs - book.eventTimeMs;
    const isNew = event.kind === 'trade' ? sinceStateMs >= 0 && !recorded.hasTrade(event) : sinceStateMs > 0;
    if (isNew) this.lags.book(market, event.receivedTimeMs - event.eventTimeMs);
  }

  #nextSeq(): number {
    return this.#sequence.next(this.#options.clock.now());
  }

  /** @param asked The event is a book that we requested. */
  #apply(recorded: RecordedMarket, event: BookEvent, asked = false): void {
    const { book } = recorded;
    this.#record(recorded, book.finishBefore(event), asked);
    const { outcome, finished } = book.apply(event);
    this.#record(recorded, finished, asked);
    if (outcome !== 'applied') this.#ignore(outcome);
    this.#waiting.add(recorded);
  }

  #ignore(why: string): void {
    this.ignoredCount++;
    this.#counters.ignored.inc({ why });
  }

  #finishWaiting(recorded: RecordedMarket, asked = false): void {
    this.#record(recorded, recorded.book.finishQuiet(), asked);
  }

  /** Writes the records of a finished action, before the book changes again. */
  #record(recorded: RecordedMarket, finished: FinishedAction | null, asked = false): void {
    if (finished === null) return;
    const trusted = this.trust.finished(recorded, finished, asked);
    const action = trusted === finished.trusted ? finished : { ...finished, trusted };
    this.#counters.actions.inc({ end: action.end, trusted: String(trusted) });
    if (trusted && recorded.market.recordedSinceMs === null && recorded.isNew)
      this.track({ ...recorded.market, recordedSinceMs: action.receivedTimeMs });
    const tickSize = trusted ? recorded.provenTickSize() : null;
    if (tickSize !== null) this.track({ ...recorded.market, tickSize });
    const underlyingPrice = this.#prices.at(recorded.market.ticker, action.receivedTimeMs);
    const { sink } = this.#options;
    const quote = recorded.quoteRecord(action, { seq: this.#nextSeq(), underlyingPrice });
    if (trusted && (quote !== null || action.changed)) recorded.proved(action);
    if (quote !== null) sink.quote(quote);
    // A change of trust alone is a quote, not a book: every book row is a change of levels.
    if (action.changed) {
      sink.book(recorded.bookRecord(action, { seq: this.#nextSeq(), underlyingPrice }));
      this.recent.add(action.receivedTimeMs);
    }
    this.onActionEnd?.(recorded, action);
  }

  /** Sets aside a message of an unknown protocol version, whose content is lost to its market. @returns False. */
  #refuseVersion(event: UnknownVersionEvent, text: string): false {
    const { marketId: market, version, receivedTimeMs: timeMs } = event;
    this.#counters.rejected.inc({ feed: CLOB_FEED });
    const reason = `protocol version ${version}`;
    setAsideRefused(this.drift, { feed: CLOB_FEED, text, reason, receivedTimeMs: timeMs });
    this.reportVersion({ where: 'frame', market, version, timeMs });
    this.#lostTo(market, timeMs);
    return false;
  }

  /** Counts and logs a protocol version that this service does not know. */
  reportVersion(found: FoundVersion): void {
    reportUnknownVersion(this.#options, found);
  }

  /** Opens a gap for an unreadable frame of a market's book or trades, whose content is lost. */
  #lostTo(marketId: string | null, receivedTimeMs: number): void {
    const recorded = this.#markets.get(marketId ?? '');
    if (recorded === undefined || recorded.lastReceivedTimeMs === null) return;
    this.distrust(recorded, { cause: 'frame_rejected', knownTimeMs: receivedTimeMs });
    recorded.rejectedTimeMs = receivedTimeMs;
  }
}
