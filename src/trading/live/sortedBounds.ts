import type { Bound } from '../../core/strategies/bound.ts';

/** Deleted entries are removed from the array when there are this many and they are half of all. */
const GONE_MIN = 64;

interface Entry<T> {
  readonly key: number;
  readonly value: T;
}

/**
 * Values that wait for a reading to pass their threshold, so that of ten thousand only those that may act are visited.
 * Covers one side of one reading.
 */
export class SortedBounds<T> {
  readonly #sign: 1 | -1;
  readonly #waiting = new Map<T, Entry<T>>();
  /** By key, the first to be reached first; some are deleted. */
  #sorted: Entry<T>[] = [];
  #fresh: Entry<T>[] = [];

  constructor(side: Bound['side']) {
    // Negated, a threshold approached from above sorts like one approached from below.
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

  /** Appends the values whose threshold the reading has passed; NaN has passed none. */
  reached(reading: number, into: T[]): void {
    this.#between(Number.NEGATIVE_INFINITY, this.#sign * reading, into);
  }

  /** Appends the values whose threshold lies between the two readings; NaN has crossed none. */
  crossed(before: number, reading: number, into: T[]): void {
    if (!Number.isNaN(before)) this.#between(this.#sign * before, this.#sign * reading, into);
  }

  /** The values with `from <= key < to`. */
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

  /** The waiting entries of both, merged; each input is sorted. */
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
