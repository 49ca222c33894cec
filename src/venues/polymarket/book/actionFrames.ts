import type { LevelChange } from '../../../schema/events.ts';
import type { TokenBook } from './tokenBook.ts';

/** Each change names both tokens of a market. If only one is named for this long (venue time), the other is frozen. */
export const LOPSIDED_MS = 500;

/** Both tokens of a market, as bits. */
const BOTH_TOKENS = 3;

/**
 * Decides which frames form one action. An action has one venue time and one hash per token; a different time or hash
 * begins the next action.
 */
export class ActionFrames {
  /** Venue time of the newest action. */
  timeMs = 0;
  /** The last action ended unproven because no frame followed: the rest of its frames may still come. */
  isHalf = false;
  readonly #yes: TokenBook;
  /** The tokens that the action's frames have named, as bits. */
  #tokens = 0;
  #endedTimeMs = 0;
  #endedTokens = 0;
  /** The only token that the last actions named, as a bit (0: they named both), and the venue time since when. */
  #aloneToken = 0;
  #aloneSinceMs = 0;

  constructor(yes: TokenBook) {
    this.#yes = yes;
  }

  get nameBothTokens(): boolean {
    return this.#tokens === BOTH_TOKENS;
  }

  /** Whether actions named only one token for `LOPSIDED_MS`. */
  get isLopsided(): boolean {
    return this.#aloneToken !== 0 && this.timeMs - this.#aloneSinceMs >= LOPSIDED_MS;
  }

  add(token: TokenBook): void {
    this.#tokens |= this.#bitOf(token);
  }

  /** Whether a frame belongs to another action than the waiting one. */
  isOther(token: TokenBook, timeMs: number, hash: string | null): boolean {
    if (timeMs !== this.timeMs) return true;
    return (this.#tokens & this.#bitOf(token)) !== 0 && token.announcedHash !== hash;
  }

  /**
   * Whether a change belongs to the last action, if that is half: it ended because its frames came further apart than
   * `ACTION_QUIET_MS`. On a busy machine, one read ends in the middle of an action.
   */
  isRest(token: TokenBook, timeMs: number, { hash }: LevelChange): boolean {
    if (timeMs !== this.#endedTimeMs) return false;
    return (this.#endedTokens & this.#bitOf(token)) === 0 || token.announcedHash === hash;
  }

  /** The action has ended. */
  end(): void {
    this.#endedTimeMs = this.timeMs;
    this.#endedTokens = this.#tokens;
    const alone = this.nameBothTokens ? 0 : this.#tokens;
    if (alone !== this.#aloneToken) {
      this.#aloneToken = alone;
      this.#aloneSinceMs = this.timeMs;
    }
    this.#tokens = 0;
  }

  /** The feed was lost: what the earlier actions named says nothing about the next ones. */
  reset(): void {
    this.#aloneToken = 0;
  }

  #bitOf(token: TokenBook): number {
    return token === this.#yes ? 1 : 2;
  }
}
