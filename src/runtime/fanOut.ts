/** What can be served some of at a time. */
export interface Served {
  isWoken: boolean;
  deliver(): void;
}

/** Serves those who are woken in slices, in the order they were woken, so that a round to thousands blocks nobody. */
export class FanOut {
  readonly #slice: number;
  #woken: Served[] = [];
  #next = 0;
  #isScheduled = false;

  /** @param slice Served before others on the event loop get their turn. */
  constructor(slice: number) {
    this.#slice = slice;
  }

  wake(client: Served): void {
    if (client.isWoken) return;
    client.isWoken = true;
    this.#woken.push(client);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#serve());
  }

  #serve(): void {
    const end = Math.min(this.#woken.length, this.#next + this.#slice);
    while (this.#next < end) {
      const client = this.#woken[this.#next++] as Served;
      client.isWoken = false;
      client.deliver();
    }
    this.#isScheduled = this.#next < this.#woken.length;
    if (this.#isScheduled) setImmediate(() => this.#serve());
    else {
      this.#woken = [];
      this.#next = 0;
    }
  }
}
