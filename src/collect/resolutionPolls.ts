import type { Logger } from '../ops/log.ts';
import type { Market } from '../schema/market.ts';

/** When the listing is asked after a window's end: it says `closed` 15-52 s after (p90 52 s, at most 316 s seen). */
const POLLS_AFTER_END_MS = [
  15_000, 30_000, 45_000, 60_000, 90_000, 120_000, 180_000, 240_000, 300_000, 450_000,
];
const LATER_PERIOD_MS = 300_000;
const ALARM_AFTER_END_MS = 600_000;
const GIVE_UP_AFTER_END_MS = 86_400_000;

interface Poll {
  readonly endTimeMs: number;
  next: number;
  alarmed: boolean;
}

/** Says which ended markets to ask the listing about, and when; until it confirms the outcome. */
export class ResolutionPolls {
  readonly #polls = new Map<string, Poll>();
  readonly #log: Logger;

  constructor(options: { log: Logger }) {
    this.#log = options.log;
  }

  add(market: Market): void {
    if (this.#polls.has(market.slug)) return;
    this.#polls.set(market.slug, { endTimeMs: market.endTimeMs, next: 0, alarmed: false });
  }

  has(slug: string): boolean {
    return this.#polls.has(slug);
  }

  confirmed(slug: string): void {
    this.#polls.delete(slug);
  }

  /** Slugs to ask for now; each is named once per step of the schedule. */
  due(nowMs: number): string[] {
    const due: string[] = [];
    for (const [slug, poll] of this.#polls) {
      const sinceEndMs = nowMs - poll.endTimeMs;
      if (sinceEndMs < stepMs(poll.next)) continue;
      while (sinceEndMs >= stepMs(poll.next)) poll.next++;
      due.push(slug);
      if (sinceEndMs >= ALARM_AFTER_END_MS && !poll.alarmed) {
        poll.alarmed = true;
        this.#log.error({ slug, sinceEndMs }, 'market.unresolved');
      }
      if (sinceEndMs >= GIVE_UP_AFTER_END_MS) this.#polls.delete(slug);
    }
    return due;
  }
}

function stepMs(step: number): number {
  const listed = POLLS_AFTER_END_MS[step];
  if (listed !== undefined) return listed;
  const last = POLLS_AFTER_END_MS.at(-1) as number;
  return last + (step - POLLS_AFTER_END_MS.length + 1) * LATER_PERIOD_MS;
}
