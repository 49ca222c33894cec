/**
 * Shares a number of slots among users, one task at a time in turn: a user with a thousand waiting tasks delays
 * another's next task by one round, not by a thousand.
 */
export class FairQueue {
  readonly #places: number;
  #busy = 0;
  /** Waiting tasks by user; the first user is next. A user without tasks has no entry. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(places: number) {
    this.#places = places;
  }

  /** Runs a task when its user's turn has come. Callers limit how many they submit at once. */
  async run<T>(user: string, task: () => Promise<T>): Promise<T> {
    if (this.#busy >= this.#places) {
      await new Promise<void>((resolve) => {
        const queue = this.#waiting.get(user);
        if (queue) queue.push(resolve);
        else this.#waiting.set(user, [resolve]);
      });
    } else this.#busy++;
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  /** Passes the slot on; a served user goes to the end. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#busy--;
      return;
    }
    const [user, queue] = first;
    const start = queue.shift() as () => void;
    this.#waiting.delete(user);
    if (queue.length > 0) this.#waiting.set(user, queue);
    start();
  }
}
