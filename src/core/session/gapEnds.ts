/**
 * Receive times are whole milliseconds. A record received at a time or earlier comes before this much after it, and
 * every later record comes after it.
 */
export const AFTER_MS = 0.5;

/** The known ends of a market's gaps that no record has passed yet. A gap ends for a reader with the next record. */
export class GapEnds {
  readonly #ends: number[] = [];

  get count(): number {
    return this.#ends.length;
  }

  add(endMs: number): void {
    this.#ends.push(endMs);
    this.#ends.sort((a, b) => a - b);
  }

  /**
   * Removes the first end that a record passes. A record received exactly at the end is still in the gap.
   * @returns The end; null if the record passes none.
   */
  pass(receivedMs: number): number | null {
    const endMs = this.#ends[0];
    if (endMs === undefined || endMs + AFTER_MS > receivedMs) return null;
    this.#ends.shift();
    return endMs;
  }
}
