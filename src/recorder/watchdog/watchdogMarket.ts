import type { RowTimes } from '../../schema/gap.ts';
import { LOPSIDED_MS } from '../../venues/polymarket/book/actionFrames.ts';
import type { RecordedMarket } from '../recordedMarket.ts';

/** Averaging period of a market's frame rate; for a newer market, its age, but at least `RATE_MS_MIN`. */
const RATE_MS = 10_000;
const RATE_MS_MIN = 4_000;
/** A market with this many frames a second has never been silent for seconds by chance. */
const BUSY_FRAMES_PER_SECOND = 5;

/** The watchdog's state of one subscribed market. Times are monotonic milliseconds unless stated otherwise. */
export class WatchdogMarket {
  readonly recorded: RecordedMarket;
  readonly group: string;
  readonly watchedAt: number;
  /** Time of the last frame for the token that has been silent longer, to the tick. */
  lastFrameAt: number;
  /** Time of the venue's last answer that the book is unchanged, or that it has none of an open market. */
  confirmedAt = Number.NEGATIVE_INFINITY;
  /** Time of the first answer that shows data we lack; null once frames arrived after it. */
  aheadSince: number | null = null;
  /** The last answer proved nothing about the book. */
  isBlind = false;
  /** The window is over and the venue has no book of a token: the market is settled. */
  isSettled = false;
  /** Since when its window has been over; null before. */
  overSince: number | null = null;
  askedAt = Number.NEGATIVE_INFINITY;
  probedAt = Number.NEGATIVE_INFINITY;
  /** Since when the watchdog has seen the market in a gap, and its last repair attempts. */
  gapSince: number | null = null;
  renewedAt = Number.NEGATIVE_INFINITY;
  reconnectedAt = Number.NEGATIVE_INFINITY;
  /** The start of a gap as of the last tick: valid whatever has gone wrong since. */
  startAtTick: RowTimes | null = null;
  #rate = 0;
  #framesAtFirst = 0;
  #rateAtLastFrame = 0;
  #framesAtGap: readonly [number, number] = [0, 0];
  readonly #frames: [number, number];
  readonly #lastFrameAt: [number, number];

  constructor(recorded: RecordedMarket, options: { group: string; nowAt: number }) {
    const { yes, no } = recorded.book;
    this.recorded = recorded;
    this.group = options.group;
    this.watchedAt = this.lastFrameAt = options.nowAt;
    this.#frames = [yes.frames, no.frames];
    this.#lastFrameAt = [options.nowAt, options.nowAt];
  }

  get isBusy(): boolean {
    return this.#rateAtLastFrame >= BUSY_FRAMES_PER_SECOND;
  }

  /** One token has had frames, the other none for longer than ever by chance. */
  get isLopsided(): boolean {
    return Math.abs(this.#lastFrameAt[0] - this.#lastFrameAt[1]) >= LOPSIDED_MS;
  }

  /** Time of the last frame or of the venue's last answer that does not contradict the book. */
  get lastKnownAt(): number {
    return Math.max(this.lastFrameAt, this.confirmedAt);
  }

  /** Both tokens have been named by frames since the gap was opened. */
  get hasFramesInGap(): boolean {
    const { yes, no } = this.recorded.book;
    return yes.frames > this.#framesAtGap[0] && no.frames > this.#framesAtGap[1];
  }

  /** Counts the frames since the last tick, `elapsedMs` ago. */
  countFrames(nowAt: number, elapsedMs: number): void {
    const { yes, no } = this.recorded.book;
    const came = yes.frames + no.frames - this.#frames[0] - this.#frames[1];
    this.#rate = this.#rateNow({ frames: came / 2, watchedMs: nowAt - this.watchedAt, elapsedMs });
    if (came === 0) return;
    this.#rateAtLastFrame = this.#rate;
    this.isSettled = false;
    this.#noteFrames(0, yes.frames, nowAt);
    this.#noteFrames(1, no.frames, nowAt);
    this.lastFrameAt = Math.min(...this.#lastFrameAt);
    this.aheadSince = this.aheadSince !== null && this.lastFrameAt > this.aheadSince ? null : this.aheadSince;
  }

  /** Records that a gap was opened; frames received from now on count for its repair. */
  enterGap(nowAt: number): void {
    const { yes, no } = this.recorded.book;
    this.gapSince = nowAt;
    this.#framesAtGap = [yes.frames, no.frames];
    this.aheadSince = null;
    this.askedAt = Number.NEGATIVE_INFINITY;
  }

  leaveGap(nowAt: number): void {
    this.gapSince = null;
    this.confirmedAt = nowAt;
    this.renewedAt = this.reconnectedAt = Number.NEGATIVE_INFINITY;
  }

  #rateNow(counted: { frames: number; watchedMs: number; elapsedMs: number }): number {
    const { frames, watchedMs, elapsedMs } = counted;
    if (watchedMs <= RATE_MS) {
      this.#framesAtFirst += frames;
      return this.#framesAtFirst / (Math.max(watchedMs, RATE_MS_MIN) / 1000);
    }
    const weight = Math.min(1, elapsedMs / RATE_MS);
    return this.#rate + (frames / Math.max(elapsedMs / 1000, 0.001) - this.#rate) * weight;
  }

  #noteFrames(token: 0 | 1, frames: number, nowAt: number): void {
    if (frames === this.#frames[token]) return;
    this.#frames[token] = frames;
    this.#lastFrameAt[token] = nowAt;
  }
}
