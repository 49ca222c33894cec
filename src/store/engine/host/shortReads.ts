import type { Clock } from '../../../runtime/clock.ts';

/** A long answer whose reader is behind waits at most this long before each of its blocks. */
export const YIELD_BEHIND_MS_MAX = 1_000;
/** The same for one of several long answers, whose reader waits for the block. */
export const YIELD_SHARING_MS_MAX = 250;
/** The same for a short read that began while the answer waited for its turn: the other long answers wait, too. */
export const YIELD_IN_TURN_MS_MAX = 50;

interface LongAnswer {
  readonly isReaderBehind: boolean;
}

/**
 * Lets short reads go before the blocks of long answers: on two processors, each block in progress may double what a
 * short read takes. A long answer waits for the short reads in progress where its reader does not need the next block
 * yet, or where it is one of several; a single long answer with a fast reader goes on at full speed.
 */
export class ShortReads {
  readonly #clock: Clock;
  #inProgress = 0;
  #longAnswers = 0;
  readonly #yielding = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async run<T>(read: () => Promise<T>): Promise<T> {
    this.#inProgress++;
    try {
      return await read();
    } finally {
      this.#inProgress--;
      if (this.#inProgress === 0) for (const resume of this.#yielding) resume();
    }
  }

  /** Counts a long answer until the returned function is called, once. */
  beginLongAnswer(): () => void {
    this.#longAnswers++;
    return () => {
      this.#longAnswers--;
    };
  }

  /** Resolves when a long answer may make its next block: at once, after the short reads in progress, or in time. */
  async beforeBlock(answer: LongAnswer): Promise<void> {
    if (this.#yields(answer))
      await this.#over(answer.isReaderBehind ? YIELD_BEHIND_MS_MAX : YIELD_SHARING_MS_MAX);
  }

  /** The same once the answer has its turn, for a shorter time. */
  async inTurn(answer: LongAnswer): Promise<void> {
    if (this.#yields(answer)) await this.#over(YIELD_IN_TURN_MS_MAX);
  }

  #yields({ isReaderBehind }: LongAnswer): boolean {
    return this.#inProgress > 0 && (isReaderBehind || this.#longAnswers > 1);
  }

  #over(limitMs: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const resume = () => {
        timer.cancel();
        this.#yielding.delete(resume);
        resolve();
      };
      const timer = this.#clock.after(limitMs, resume);
      this.#yielding.add(resume);
    });
  }
}
