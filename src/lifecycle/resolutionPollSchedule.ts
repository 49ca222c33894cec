import { OUTCOME_AWAITED_MS } from '../recorder/liveRecording.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';

/** The listing shows a strike 4-25 s after the window opens, for some markets never. */
const STRIKE_POLLS_MS = [5_000, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000, 90_000, 120_000];
interface Schedule {
  /** After the window's end. */
  readonly firstMs: readonly number[];
  /** Pause between later polls. */
  readonly periodMs: number;
}
/**
 * Polls while no source has named the winner. A market that a price or a candle decides is closed 15-52 s after its end
 * (at most 316 s seen), one that an average decides after 53-152 s, half of them by 55 s (100 windows of 2026-10-03). If
 * the listing is the only source, its answer must be known within 60 s; 40 s of them are the longest pause, the rest is
 * for the request.
 */
const OUTCOME_POLLS: Schedule = {
  firstMs: [15_000, 30_000, 45_000, 60_000, 70_000, 85_000, 100_000, 120_000, 140_000, 160_000],
  periodMs: 40_000,
};
/** Polls after another source has named the winner, for the listing to confirm it. */
const CONFIRMING_POLLS: Schedule = {
  firstMs: [15_000, 30_000, 45_000, 60_000, 90_000, 120_000, 180_000, 240_000, 300_000, 450_000],
  periodMs: 300_000,
};
const ALARM_AFTER_END_MS = 600_000;
/** The final price appears minutes after the resolution, for some markets never. */
const CLOSE_POLLS_MS = [240_000, 300_000, 360_000, 480_000, 600_000, 840_000];

interface Poll {
  market: Market;
  strikeStep: number;
  /** Time of the last poll for the outcome, after the window's end. */
  outcomeAskedMs: number;
  closeStep: number;
  alarmed: boolean;
  /** No poll is left; kept so that a later version of the record does not restart the polls. */
  done: boolean;
}

/**
 * Schedules the polls of the listing for each market: for the strike after the window opens, for the outcome after
 * its end until the listing confirms it, then for the final price for some minutes.
 */
export class ResolutionPollSchedule {
  readonly #polls = new Map<string, Poll>();
  readonly #log: Logger;
  readonly #late;

  constructor(options: { log: Logger; metrics: Metrics }) {
    this.#log = options.log;
    this.#late = options.metrics.counter(
      'underround_resolutions_late_total',
      'Markets without a confirmed outcome ten minutes after their end',
    );
  }

  /** Starts the polls of a market, or continues them with its newer record. */
  add(market: Market): void {
    const poll = this.#polls.get(market.slug);
    if (poll !== undefined) poll.market = market;
    else {
      const steps = { strikeStep: 0, outcomeAskedMs: 0, closeStep: 0 };
      this.#polls.set(market.slug, { market, ...steps, alarmed: false, done: false });
    }
  }

  /** Whether polls of the market remain. */
  has(slug: string): boolean {
    return this.#polls.get(slug)?.done === false;
  }

  forget(slug: string): void {
    this.#polls.delete(slug);
  }

  /** Slugs to poll now; each is returned once per poll of its schedule. */
  due(nowMs: number): string[] {
    const due: string[] = [];
    for (const [slug, poll] of this.#polls) {
      if (poll.done) continue;
      const sinceEndMs = nowMs - poll.market.endTimeMs;
      const isDue = sinceEndMs < 0 ? strikeDue(poll, nowMs) : this.#endDue(slug, poll, sinceEndMs);
      if (isDue) due.push(slug);
    }
    return due;
  }

  #endDue(slug: string, poll: Poll, sinceEndMs: number): boolean {
    const { market } = poll;
    if (market.confirmedTimeMs !== null) {
      const next = CLOSE_POLLS_MS[poll.closeStep];
      if (market.closeBasis === 'listing' || next === undefined) {
        poll.done = true;
        return false;
      }
      if (sinceEndMs < next) return false;
      while (sinceEndMs >= (CLOSE_POLLS_MS[poll.closeStep] ?? Number.POSITIVE_INFINITY)) poll.closeStep++;
      return true;
    }
    const schedule = market.status === 'resolved' ? CONFIRMING_POLLS : OUTCOME_POLLS;
    // The clock was set back after the last poll: the polls go on from the time that it shows now.
    poll.outcomeAskedMs = Math.min(poll.outcomeAskedMs, sinceEndMs);
    if (sinceEndMs < nextPollMs(schedule, poll.outcomeAskedMs)) return false;
    poll.outcomeAskedMs = sinceEndMs;
    if (sinceEndMs >= ALARM_AFTER_END_MS && !poll.alarmed) {
      poll.alarmed = true;
      this.#late.inc();
      const { outcome, resolvedBy } = market;
      this.#log.error({ slug, sinceEndMs, outcome, resolvedBy }, 'market.unresolved');
    }
    if (sinceEndMs >= OUTCOME_AWAITED_MS) poll.done = true;
    return true;
  }
}

function strikeDue(poll: Poll, nowMs: number): boolean {
  const { market } = poll;
  const sinceStartMs = nowMs - market.startTimeMs;
  // Polls before the start were of a clock that was set back since.
  if (sinceStartMs < 0) poll.strikeStep = 0;
  if (market.strikeBasis === 'listing' || sinceStartMs < 0) return false;
  const step = poll.strikeStep;
  while (sinceStartMs >= (STRIKE_POLLS_MS[poll.strikeStep] ?? Number.POSITIVE_INFINITY)) poll.strikeStep++;
  return poll.strikeStep > step;
}

/** The first poll of a schedule after this time. */
function nextPollMs({ firstMs, periodMs }: Schedule, sinceEndMs: number): number {
  return firstMs.find((pollMs) => pollMs > sinceEndMs) ?? sinceEndMs + periodMs;
}
