/** A client that is served in slices. */
export interface Served {
  isWoken: boolean;
  deliver(): void;
}

/**
 * Serves woken clients in slices, in the order they were woken, so that serving thousands does not block the event
 * loop.
 */
export class FanOut {
  readonly #slice: number;
  #woken: Served[] = [];
  #next = 0;
  #isScheduled = false;

  /** @param slice Clients served before the event loop runs other work. */
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
