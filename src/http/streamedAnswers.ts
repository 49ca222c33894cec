import type { Identity } from '../accounts/keys/authenticate.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import { forbidden, numbered, retryIn } from './refusal.ts';

/** A response with more rows than this counts as streamed, like an export. */
const SHORT_ROWS_MAX = 1_000;
/** How long a further response waits for a place. */
export const PLACE_WAIT_MS = 5_000;
/** Seconds after which a refused client may find that one of its responses has ended. */
const RETRY_AFTER_S = 5;

/** @param limit Number of rows requested. */
export function isStreamed(limit: number): boolean {
  return limit > SHORT_ROWS_MAX;
}

interface Waiter {
  readonly enter: () => void;
  readonly timer: Timer;
}

interface Places {
  taken: number;
  readonly waiting: Waiter[];
}

/** Streamed responses in progress per user, counting all of the user's keys and sessions. */
export class StreamedAnswers {
  readonly #clock: Clock;
  readonly #users = new Map<string, Places>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when the user has a place, first come first served.
   * @param most Number of places in the user's tier.
   * @param whenGone Registers a callback that ends the wait, for a client that disconnects.
   * @returns Frees the place; further calls do nothing.
   * @throws {RequestRefusedError} 403 for a tier without places; 429 if none became free in time.
   */
  async enter(
    { userId, tier }: Pick<Identity, 'userId' | 'tier'>,
    most: number,
    whenGone: (leave: () => void) => void,
  ): Promise<() => void> {
    if (most === 0)
      throw forbidden(`Tier ${tier} does not include answers of more than ${SHORT_ROWS_MAX} rows`);
    const places = this.#users.get(userId) ?? { taken: 0, waiting: [] };
    this.#users.set(userId, places);
    if (places.taken < most) places.taken++;
    else {
      const isIn = await this.#wait(places, whenGone);
      if (!isIn) {
        throw retryIn(RETRY_AFTER_S, `Tier ${tier} permits ${numbered(most, 'streamed answer')} at once`);
      }
    }
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.#leave(userId, places);
    };
  }

  #wait({ waiting }: Places, whenGone: (leave: () => void) => void): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = () => {
        const at = waiting.indexOf(waiter);
        if (at === -1) return;
        waiting.splice(at, 1);
        waiter.timer.cancel();
        resolve(false);
      };
      const waiter: Waiter = {
        enter: () => {
          waiter.timer.cancel();
          resolve(true);
        },
        timer: this.#clock.after(PLACE_WAIT_MS, giveUp),
      };
      waiting.push(waiter);
      whenGone(giveUp);
    });
  }

  /** Passes the place to the request that has waited longest. */
  #leave(userId: string, places: Places): void {
    const next = places.waiting.shift();
    if (next) return void next.enter();
    places.taken--;
    if (places.taken === 0) this.#users.delete(userId);
  }
}
