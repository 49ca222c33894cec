/** Contents remembered; copies of one event are seconds apart. */
const REMEMBERED_MAX = 256;

/** Counts equal contents, so that the second of two equal events is not taken for a copy of the first. */
export class OccurrenceCounter {
  readonly #counts = new Map<string, number>();

  /** Number of earlier calls with this content. */
  next(content: string): number {
    const count = this.#counts.get(content) ?? 0;
    this.#counts.delete(content);
    this.#counts.set(content, count + 1);
    if (this.#counts.size > REMEMBERED_MAX) this.#counts.delete(this.#counts.keys().next().value as string);
    return count;
  }

  /** The number that `next` returned last for this content; 0 before the first. */
  last(content: string): number {
    return Math.max(0, (this.#counts.get(content) ?? 0) - 1);
  }
}
