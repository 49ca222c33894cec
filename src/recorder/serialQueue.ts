/** Processes keyed items one at a time; a waiting item with the same key is replaced. */
export class SerialQueue<T> {
  readonly #waiting = new Map<string, T>();
  readonly #waitingMax: number;
  readonly #work: (item: T) => Promise<void>;
  #working = false;

  /** @param options.work Must not reject. */
  constructor(options: { waitingMax: number; work: (item: T) => Promise<void> }) {
    this.#waitingMax = options.waitingMax;
    this.#work = options.work;
  }

  /** @returns False when too many items wait: then the item is dropped. */
  add(key: string, item: T): boolean {
    if (this.#waiting.size >= this.#waitingMax && !this.#waiting.has(key)) return false;
    this.#waiting.set(key, item);
    if (!this.#working) void this.#run();
    return true;
  }

  clear(): void {
    this.#waiting.clear();
  }

  async #run(): Promise<void> {
    this.#working = true;
    for (const [key, item] of this.#waiting) {
      this.#waiting.delete(key);
      await this.#work(item);
    }
    this.#working = false;
  }
}
