/** What can be served some of at a time. */
export interface Served {
  isWoken: boolean;
  deliver(): void;
}

/** Clients served before others on the event loop get their turn: about a millisecond. */
const SLICE_CLIENTS = 100;

/** Serves those who are woken in slices, in the order they were woken, so that a round to thousands blocks nobody. */
export class FanOut {
  #woken: Served[] = [];
  #next = 0;
  #isScheduled = false;

  wake(client: Served): void {
    if (client.isWoken) return;
    client.isWoken = true;
    this.#woken.push(client);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#serve());
  }

  #serve(): void {
    const end = Math.min(this.#woken.length, this.#next + SLICE_CLIENTS);
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
