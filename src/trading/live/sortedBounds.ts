import type { Bound } from '../../core/strategies/condition.ts';

/** Entries that left are swept out once they are so many, and half of all. */
const GONE_MIN = 64;

interface Entry<T> {
  readonly key: number;
  readonly value: T;
}

/**
 * Values that wait for a reading to go beyond their bound, so that of ten thousand only those that may want something
 * are looked at. One side of one reading.
 */
export class SortedBounds<T> {
  readonly #sign: 1 | -1;
  readonly #waiting = new Map<T, Entry<T>>();
  /** By key, the first to be reached first; some have left. */
  #sorted: Entry<T>[] = [];
  #fresh: Entry<T>[] = [];

  constructor(side: Bound['side']) {
    // Turned round, a bound from below is reached like one from above.
    this.#sign = side === 'above' ? 1 : -1;
  }

  add(value: T, bound: number): void {
    const entry = { key: this.#sign * bound, value };
    this.#waiting.set(value, entry);
    this.#fresh.push(entry);
  }

  delete(value: T): void {
    this.#waiting.delete(value);
  }

  /** Appends those whose bound the reading is beyond; NaN is beyond none. */
  reached(reading: number, into: T[]): void {
    this.#between(Number.NEGATIVE_INFINITY, this.#sign * reading, into);
  }

  /** Appends those whose bound it is beyond now, and was not before; NaN has crossed none. */
  crossed(before: number, reading: number, into: T[]): void {
    if (!Number.isNaN(before)) this.#between(this.#sign * before, this.#sign * reading, into);
  }

  /** Those of `from <= key < to`. */
  #between(from: number, to: number, into: T[]): void {
    this.#tidy();
    for (let at = this.#firstFrom(from); at < this.#sorted.length; at++) {
      const entry = this.#sorted[at] as Entry<T>;
      if (!(entry.key < to)) return;
      if (this.#isWaiting(entry)) into.push(entry.value);
    }
  }

  #firstFrom(key: number): number {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] as Entry<T>).key < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isWaiting(entry: Entry<T>): boolean {
    return this.#waiting.get(entry.value) === entry;
  }

  #tidy(): void {
    const all = this.#sorted.length + this.#fresh.length;
    const gone = all - this.#waiting.size;
    if (this.#fresh.length === 0 && (gone < GONE_MIN || 2 * gone < all)) return;
    this.#sorted = this.#merged(this.#fresh.sort((a, b) => a.key - b.key));
    this.#fresh = [];
  }

  /** Those that wait, of both; each is sorted. */
  #merged(fresh: readonly Entry<T>[]): Entry<T>[] {
    const merged: Entry<T>[] = [];
    let next = 0;
    for (const entry of this.#sorted) {
      for (; next < fresh.length && (fresh[next] as Entry<T>).key <= entry.key; next++) {
        if (this.#isWaiting(fresh[next] as Entry<T>)) merged.push(fresh[next] as Entry<T>);
      }
      if (this.#isWaiting(entry)) merged.push(entry);
    }
    for (const entry of fresh.slice(next)) if (this.#isWaiting(entry)) merged.push(entry);
    return merged;
  }
}
