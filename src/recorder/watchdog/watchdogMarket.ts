import type { RowTimes } from '../../schema/gap.ts';
import { LOPSIDED_MS } from '../../venues/polymarket/book/marketBook.ts';
import type { RecordedMarket } from '../recordedMarket.ts';

/** Over how long a market's rate of frames is averaged; one watched for less, over that, but never over less than this. */
const RATE_MS = 10_000;
const RATE_MS_MIN = 4_000;
/** A market with so many frames a second has never been silent for seconds by chance. */
const BUSY_FRAMES_PER_SECOND = 5;

/** What the watchdog knows of one subscribed market. Monotonic milliseconds unless said otherwise. */
export class WatchedMarket {
  readonly recorded: RecordedMarket;
  readonly group: string;
  readonly watchedAt: number;
  /** When a frame last named the token that has been silent for longer, to the tick. */
  heardAt: number;
  /** When the venue last answered that the book had not changed. */
  confirmedAt = Number.NEGATIVE_INFINITY;
  /** When an answer first said that ours lacks something; null once frames came after it. */
  aheadSince: number | null = null;
  /** The last answer said nothing about the book. */
  isBlind = false;
  /** The venue has no book of a token: settled. */
  isSettled = false;
  askedAt = Number.NEGATIVE_INFINITY;
  probedAt = Number.NEGATIVE_INFINITY;
  /** Since when the market is in a gap, as the watchdog saw it, and what it has done about it. */
  gapSince: number | null = null;
  renewedAt = Number.NEGATIVE_INFINITY;
  reconnectedAt = Number.NEGATIVE_INFINITY;
  /** The row a gap would have begun with at the last tick: good whatever went wrong since. */
  startAtTick: RowTimes | null = null;
  #rate = 0;
  #framesAtFirst = 0;
  #rateWhenHeard = 0;
  #framesAtGap: readonly [number, number] = [0, 0];
  readonly #frames: [number, number];
  readonly #heardAt: [number, number];

  constructor(recorded: RecordedMarket, options: { group: string; nowAt: number }) {
    const { yes, no } = recorded.book;
    this.recorded = recorded;
    this.group = options.group;
    this.watchedAt = this.heardAt = options.nowAt;
    this.#frames = [yes.frames, no.frames];
    this.#heardAt = [options.nowAt, options.nowAt];
  }

  get isBusy(): boolean {
    return this.#rateWhenHeard >= BUSY_FRAMES_PER_SECOND;
  }

  /** One token has been heard of, the other has not for longer than ever by chance. */
  get isLopsided(): boolean {
    return Math.abs(this.#heardAt[0] - this.#heardAt[1]) >= LOPSIDED_MS;
  }

  /** Both tokens have been named by frames since the gap was opened. */
  get isHeardInGap(): boolean {
    const { yes, no } = this.recorded.book;
    return yes.frames > this.#framesAtGap[0] && no.frames > this.#framesAtGap[1];
  }

  /** Takes note of the frames since the last tick, `elapsedMs` ago. */
  listen(nowAt: number, elapsedMs: number): void {
    const { yes, no } = this.recorded.book;
    const came = yes.frames + no.frames - this.#frames[0] - this.#frames[1];
    this.#rate = this.#rateNow({ frames: came / 2, watchedMs: nowAt - this.watchedAt, elapsedMs });
    if (came === 0) return;
    this.#rateWhenHeard = this.#rate;
    this.isSettled = false;
    this.#hear(0, yes.frames, nowAt);
    this.#hear(1, no.frames, nowAt);
    this.heardAt = Math.min(...this.#heardAt);
    this.aheadSince = this.aheadSince !== null && this.heardAt > this.aheadSince ? null : this.aheadSince;
  }

  /** Takes note of a gap that was opened; what is heard from now on counts for its repair. */
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

  #rateNow(heard: { frames: number; watchedMs: number; elapsedMs: number }): number {
    const { frames, watchedMs, elapsedMs } = heard;
    if (watchedMs <= RATE_MS) {
      this.#framesAtFirst += frames;
      return this.#framesAtFirst / (Math.max(watchedMs, RATE_MS_MIN) / 1000);
    }
    const weight = Math.min(1, elapsedMs / RATE_MS);
    return this.#rate + (frames / Math.max(elapsedMs / 1000, 0.001) - this.#rate) * weight;
  }

  #hear(token: 0 | 1, frames: number, nowAt: number): void {
    if (frames === this.#frames[token]) return;
    this.#frames[token] = frames;
    this.#heardAt[token] = nowAt;
  }
}
