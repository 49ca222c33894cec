import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Gap, GapCause } from '../../schema/gap.ts';
import { CLOB_FEED } from '../bookTrust.ts';
import type { Recorder } from '../recorder.ts';
import { type Answer, BookAudit, type BookSource } from './bookAudit.ts';
import { TurnLimiter } from './turnLimiter.ts';
import * as limit from './watchdogLimits.ts';
import { WatchdogMarket } from './watchdogMarket.ts';

/** The part of `ClobFeed` that the watchdog needs. A group is one series, such as `BTC-5m`. */
export interface WatchedFeed {
  subscribe(group: string, tokenIds: readonly string[]): void;
  unsubscribe(group: string, tokenIds: readonly string[]): void;
  resubscribe(group: string, tokenIds: readonly string[]): void;
  reconnect(group: string, cause: string): void;
  isUp(group: string): boolean;
  /** Whether the group has two connections and both are up. */
  isDoubled(group: string): boolean;
  silentForMs(group: string): number;
  /** See `ClobFeed`. */
  maintain(): boolean;
}

export interface WatchdogOptions {
  readonly recorder: Recorder;
  readonly feed: WatchedFeed;
  readonly rest: BookSource | null;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Whether rows are being dropped because neither journal nor engine accepts them. */
  readonly isDropping?: () => boolean;
}

/** Causes in the feed itself: only data from the feed can end such a gap. */
const FEED_CAUSES: readonly GapCause[] = [
  'silent_feed',
  'silent_market',
  'disconnected',
  'venue_restart',
  'process_down',
];
/** Time daemons slew small differences; a step of this size changes the order of receive times. */
const STEP_MS_MIN = 500;

/**
 * Watches every subscribed market and its feed, opens gaps where trust is lost, and repairs them. Silence alone
 * proves nothing: the watchdog asks the venue about a quiet market, and only an answer that contradicts our book (or
 * no answer at all) makes a gap.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #markets = new Map<string, WatchdogMarket>();
  readonly #audit: BookAudit;
  readonly #clockStepDetector: ClockStepDetector;
  readonly #silence;
  readonly #steps;
  readonly #renewals = new TurnLimiter<WatchdogMarket>(limit.LONG_RENEW_MS);
  readonly #reconnections = new TurnLimiter<string>(limit.LONG_RECONNECT_MS);
  readonly #revival = new FeedRevivalDetector();
  #timer: Timer | null = null;
  #tickedAt: number;
  #wasDropping = false;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    const { clock, metrics } = options;
    this.#audit = new BookAudit({ ...options, onAnswer: (answer) => this.#answered(answer) });
    this.#clockStepDetector = new ClockStepDetector(clock);
    this.#tickedAt = clock.monotonic();
    this.#silence = metrics.gauge(
      'underround_silence_seconds',
      'Longest time without a frame, by kind of market',
      ['kind'],
    );
    this.#steps = metrics.counter('underround_clock_steps_total', 'Steps of the wall clock');
  }

  start(): void {
    this.#timer = every(this.#options.clock, limit.TICK_MS, () => this.tick());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Subscribes tokens of a group and watches their markets. */
  subscribe(group: string, tokenIds: readonly string[]): void {
    const { clock, feed, recorder } = this.#options;
    feed.subscribe(group, tokenIds);
    for (const tokenId of tokenIds) {
      const recorded = recorder.ofToken(tokenId);
      if (recorded === null || this.#markets.has(recorded.market.marketId)) continue;
      const now = { group, nowAt: clock.monotonic() };
      this.#markets.set(recorded.market.marketId, new WatchdogMarket(recorded, now));
    }
  }

  unsubscribe(group: string, tokenIds: readonly string[]): void {
    this.#options.feed.unsubscribe(group, tokenIds);
    for (const tokenId of tokenIds) {
      const recorded = this.#options.recorder.ofToken(tokenId);
      if (recorded !== null) this.#markets.delete(recorded.market.marketId);
    }
  }

  /** Evaluates the clock, the store, the feed and every market once. */
  tick(): void {
    const { clock, recorder, feed } = this.#options;
    // First, because it delivers waiting frames before anything is judged by them.
    const isCurrent = feed.maintain();
    const [nowAt, nowMs] = [clock.monotonic(), clock.now()];
    if (isCurrent) recorder.trust.due(nowMs);
    this.#checkClock(nowMs);
    this.#checkStore(nowMs);
    if (isCurrent) this.#checkFeed(nowAt);
    this.#checkLags(nowMs);
    // A frame that waits may end what seems a silence, and prove what seems unproven.
    if (!isCurrent) return;
    const elapsedMs = nowAt - this.#tickedAt;
    this.#tickedAt = nowAt;
    for (const watched of this.#markets.values()) {
      watched.countFrames(nowAt, elapsedMs);
      const gap = recorder.gaps.of(watched.recorded.market.marketId);
      if (gap === null) this.#checkMarket(watched, nowAt, nowMs);
      else this.#repair(watched, gap, nowAt);
      watched.startAtTick = watched.recorded.gapStart;
    }
    this.#measure(nowAt, nowMs);
    this.#audit.tick();
  }

  /** Checks a market without a gap: whether it is silent, and whether the venue can explain it. */
  #checkMarket(watched: WatchdogMarket, nowAt: number, nowMs: number): void {
    if (watched.gapSince !== null) watched.leaveGap(nowAt);
    const { feed } = this.#options;
    const { market, unproven } = watched.recorded;
    const askMs = feed.isDoubled(watched.group) ? limit.UNPROVEN_ASK_TWIN_MS : limit.UNPROVEN_ASK_MS;
    if (unproven !== null && nowMs - unproven.sinceMs >= askMs) this.#requestBook(watched, nowAt);
    if (market.status === 'resolved' || watched.isSettled) return;
    if (nowMs >= market.endTimeMs) watched.overSince ??= nowAt;
    else if (watched.recorded.gapStart === null) {
      this.#renewUnanswered(watched, nowAt);
      return;
    }
    const { lastKnownAt, overSince } = watched;
    // Until something follows the end of the window, its last rows may have been lost.
    if (overSince !== null && lastKnownAt > overSince) return;
    if (watched.aheadSince !== null) {
      if (nowAt - watched.aheadSince >= limit.IN_FLIGHT_MS) this.#lost(watched);
      return;
    }
    const silentMs = nowAt - Math.max(lastKnownAt, overSince ?? lastKnownAt);
    const suspectMs = watched.isBusy ? limit.BUSY_SUSPECT_MS : limit.QUIET_SUSPECT_MS;
    if (silentMs < (overSince === null ? suspectMs : limit.END_SUSPECT_MS)) {
      if (nowAt - Math.max(watched.askedAt, watched.watchedAt) >= limit.AUDIT_PERIOD_MS)
        this.#requestBook(watched, nowAt);
      return;
    }
    this.#requestBook(watched, nowAt);
    if (silentMs < suspectMs) return;
    if (!this.#audit.isAvailable || watched.isBlind) this.#probe(watched, silentMs, nowAt);
  }

  /** Subscribes again to a market of which nothing has ever arrived: it has no row yet at which a gap could start. */
  #renewUnanswered(watched: WatchdogMarket, nowAt: number): void {
    if (!this.#options.feed.isUp(watched.group)) return;
    if (nowAt - Math.max(watched.watchedAt, watched.renewedAt) < limit.SNAPSHOT_PATIENCE_MS) return;
    if (!this.#renewals.claim(watched, nowAt)) return;
    watched.renewedAt = nowAt;
    this.#renew(watched);
  }

  /** Without answers from the venue, renews the subscription to find out whether the feed still works. */
  #probe(watched: WatchdogMarket, silentMs: number, nowAt: number): void {
    const againMs = watched.isBusy ? limit.BUSY_SUSPECT_MS : limit.PROBE_AGAIN_MS;
    if (watched.probedAt < watched.lastFrameAt && nowAt - watched.probedAt >= againMs) {
      watched.probedAt = nowAt;
      this.#renew(watched);
      return;
    }
    const isUnanswered = watched.probedAt > watched.lastFrameAt;
    const silenceMs = watched.isBusy ? limit.BUSY_SILENCE_MS : limit.QUIET_SILENCE_MS;
    if (isUnanswered && silentMs >= silenceMs) this.#lost(watched);
  }

  #answered({ recorded, verdict, books }: Answer): void {
    const watched = this.#markets.get(recorded.market.marketId);
    if (watched === undefined) return;
    const nowAt = this.#options.clock.monotonic();
    const isOver = this.#options.clock.now() >= recorded.market.endTimeMs;
    watched.isSettled = verdict === 'absent' && isOver;
    // The venue may have no book of an open market for a moment, as after its restart: it is asked again.
    if (verdict === 'absent' && !isOver) watched.confirmedAt = nowAt;
    watched.isBlind = verdict === 'behind' || verdict === 'unverified' || verdict === 'unusable';
    const isBook = verdict === 'equal' || verdict === 'differs';
    if (!isBook || recorded.book.waitingSinceMs !== null) return;
    const gap = this.#options.recorder.gaps.of(recorded.market.marketId);
    if (gap !== null || recorded.unproven !== null) {
      if (gap === null || this.#mayClose(watched, gap))
        this.#options.recorder.applyRequestedBooks(recorded, books);
      return;
    }
    if (verdict === 'equal') {
      watched.confirmedAt = nowAt;
      watched.aheadSince = null;
    } else watched.aheadSince ??= nowAt;
  }

  /** Frames were lost: opens a gap from the last one on, for the whole group if all of it is silent. */
  #lost(watched: WatchdogMarket): void {
    const { feed, clock, recorder } = this.#options;
    const { group } = watched;
    const silentForMs = feed.silentForMs(group);
    const isFeed = silentForMs >= clock.monotonic() - watched.lastFrameAt - limit.TICK_MS;
    const nowMs = clock.now();
    const lost = [...this.#markets.values()].filter(
      (one) => one === watched || (isFeed && one.group === group && one.recorded.market.endTimeMs > nowMs),
    );
    for (const { recorded } of lost) {
      recorder.lose(recorded, { cause: isFeed ? 'silent_feed' : 'silent_market', knownTimeMs: nowMs });
    }
  }

  /** Requests the books of a market in a gap, on the socket and over REST, until they are proven. */
  #repair(watched: WatchdogMarket, gap: Gap, nowAt: number): void {
    if (watched.gapSince === null) watched.enterGap(nowAt);
    const { recorder } = this.#options;
    if (gap.cause === 'store_down' && recorder.trust.isStoreDown) return;
    // While messages are late no answer helps. If prices were late, the book itself was never in doubt.
    const isLag = gap.cause === 'late_feed' || gap.cause === 'clock_step';
    if (isLag && recorder.lags?.lateFor(watched.recorded.market)) return;
    if (gap.cause === 'late_feed' && gap.feed !== CLOB_FEED) {
      recorder.reannounce(watched.recorded, this.#options.clock.now());
      if (!recorder.gaps.isOpen(gap.marketId)) return;
    }
    if (this.#mayClose(watched, gap)) this.#requestBook(watched, nowAt);
    const { feed, clock } = this.#options;
    // After its window the venue may close a market's connection repeatedly and rightly.
    if (gap.cause === 'clock_step' || clock.now() >= watched.recorded.market.endTimeMs) return;
    const sinceMs = nowAt - (watched.gapSince ?? nowAt);
    const isLong = sinceMs >= limit.LONG_GAP_MS && nowAt - this.#revival.at >= limit.RECONNECT_MS;
    const isSilent = gap.cause === 'silent_feed' || gap.cause === 'silent_market';
    const isFeedCause = FEED_CAUSES.includes(gap.cause);
    const isGroupSilent = feed.silentForMs(watched.group) >= limit.SNAPSHOT_PATIENCE_MS;
    const firstMs = gap.cause === 'silent_feed' ? 0 : limit.RECONNECT_MS;
    const mayReconnect = sinceMs >= firstMs && nowAt - watched.reconnectedAt >= limit.RECONNECT_MS;
    if (isGroupSilent && mayReconnect && (!isLong || this.#reconnections.claim(watched.group, nowAt))) {
      for (const one of this.#markets.values()) if (one.group === watched.group) one.reconnectedAt = nowAt;
      watched.renewedAt = nowAt;
      feed.reconnect(watched.group, `silent for ${Math.round(feed.silentForMs(watched.group))} ms`);
      return;
    }
    // Waits for data that is in flight or can be requested outside the feed.
    const isComing =
      feed.isUp(watched.group) &&
      !isSilent &&
      (isFeedCause || (this.#audit.isAvailable && !watched.isLopsided));
    const patienceMs = isComing ? limit.SNAPSHOT_PATIENCE_MS : 0;
    if (sinceMs < patienceMs || nowAt - watched.renewedAt < limit.RENEW_MS) return;
    if (isLong && !this.#renewals.claim(watched, nowAt)) return;
    watched.renewedAt = nowAt;
    this.#renew(watched);
  }

  /** Whether a requested book may end the gap: a failed feed must first deliver frames again. */
  #mayClose(watched: WatchdogMarket, gap: Gap): boolean {
    const { yes, no } = watched.recorded.book;
    // A gap keeps its first cause, even across restarts, so the feed may have gone down after it was opened.
    if (!yes.hasFramesSinceReset || !no.hasFramesSinceReset) return false;
    if (FEED_CAUSES.includes(gap.cause)) return watched.hasFramesInGap;
    if (watched.isLopsided) return false;
    const { rejectedTimeMs } = watched.recorded;
    if (gap.cause !== 'frame_rejected' || rejectedTimeMs === null) return true;
    return this.#options.clock.now() - rejectedTimeMs >= limit.REJECTION_QUIET_MS;
  }

  #requestBook(watched: WatchdogMarket, nowAt: number): void {
    if (nowAt - watched.askedAt < limit.ASK_AGAIN_MS) return;
    watched.askedAt = nowAt;
    this.#audit.request(watched.recorded);
  }

  #renew({ group, recorded }: WatchdogMarket): void {
    this.#options.feed.resubscribe(group, [recorded.market.yesTokenId, recorded.market.noTokenId]);
  }

  /** After a clock step, receive times before and after it cannot be compared. */
  #checkClock(nowMs: number): void {
    const stepMs = this.#clockStepDetector.measureStep();
    if (stepMs === 0) return;
    this.#steps.inc();
    this.#options.log.warn({ stepMs: Math.round(stepMs) }, 'clock.stepped');
    // The step came after the last tick: rows proven before that tick were received on the old clock.
    for (const { recorded, startAtTick: start } of this.#markets.values()) {
      if (recorded.market.endTimeMs <= nowMs || recorded.lastReceivedTimeMs === null) continue;
      const gap = { cause: 'clock_step', start, knownTimeMs: nowMs, feed: 'underround' } as const;
      this.#options.recorder.distrust(recorded, gap);
    }
  }

  #checkStore(nowMs: number): void {
    const { isDropping, recorder } = this.#options;
    const dropping = isDropping?.() ?? false;
    if (!dropping && !this.#wasDropping) return;
    this.#wasDropping = recorder.trust.isStoreDown = dropping;
    for (const { recorded, startAtTick: start } of this.#markets.values()) {
      const gap = recorder.gaps.of(recorded.market.marketId);
      // A row written after the last tick may have been dropped already.
      if (dropping && gap === null)
        recorder.trust.open(recorded, { cause: 'store_down', start, knownTimeMs: nowMs, feed: 'underround' });
      else if (dropping || gap === null) continue;
      // Publishes the book as untrusted now, or the whole book to a store that has missed rows in a gap of any cause.
      recorder.rewrite(recorded, nowMs);
    }
  }

  /** Opens a gap for markets with a late message, or a late price of their underlying, until all is on time again. */
  #checkLags(nowMs: number): void {
    const { recorder } = this.#options;
    const { lags } = recorder;
    if (lags === null) return;
    for (const { recorded } of this.#markets.values()) {
      const { market } = recorded;
      // The last rows of a window may arrive late, after its end. Where they did not, nothing is in doubt any more.
      const isDone = market.endTimeMs <= nowMs && !recorded.isInDoubt;
      const late = isDone ? null : lags.lateFor(market);
      const cause = late === null ? null : lags.causeOf(late);
      if (late === null || cause === null || recorder.gaps.isOpen(market.marketId)) continue;
      const feed = cause === 'late_feed' ? late.feed : 'underround';
      recorder.trust.open(recorded, { cause, feed, knownTimeMs: nowMs });
      recorder.reannounce(recorded, nowMs);
    }
  }

  #checkFeed(nowAt: number): void {
    const groups = new Set([...this.#markets.values()].map(({ group }) => group));
    const silentForMs = [...groups].map((group) => this.#options.feed.silentForMs(group));
    this.#revival.update(Math.min(...silentForMs), nowAt);
  }

  #measure(nowAt: number, nowMs: number): void {
    let [busy, quiet] = [0, 0];
    for (const { recorded, isBusy, lastFrameAt } of this.#markets.values()) {
      if (recorded.market.endTimeMs <= nowMs) continue;
      if (isBusy) busy = Math.max(busy, nowAt - lastFrameAt);
      else quiet = Math.max(quiet, nowAt - lastFrameAt);
    }
    this.#options.recorder.lags?.measure();
    this.#silence.set({ kind: 'busy' }, busy / 1000);
    this.#silence.set({ kind: 'quiet' }, quiet / 1000);
  }
}

/** Detects when the wall clock jumps against the monotonic one. */
export class ClockStepDetector {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.now() - clock.monotonic();
  }

  /** @returns The wall clock's step since the last call; 0 when smaller than a step. */
  measureStep(): number {
    const offsetMs = this.#clock.now() - this.#clock.monotonic();
    const stepMs = offsetMs - this.#offsetMs;
    this.#offsetMs = offsetMs;
    return Math.abs(stepMs) >= STEP_MS_MIN ? stepMs : 0;
  }
}

/** Detects a feed that delivers again after all of it was silent: every market in a gap is then retried at once. */
class FeedRevivalDetector {
  /** Monotonic time of the last revival. */
  at = Number.NEGATIVE_INFINITY;
  #isDelivering = true;

  /** @param silentForMs Silence of the part of the feed that delivered last. */
  update(silentForMs: number, nowAt: number): void {
    if (silentForMs >= limit.SNAPSHOT_PATIENCE_MS) this.#isDelivering = false;
    else if (!this.#isDelivering && silentForMs < limit.TICK_MS * 3) {
      this.#isDelivering = true;
      this.at = nowAt;
    }
  }
}
