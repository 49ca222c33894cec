/**
 * How long the book of one market was proven within its window. A gap also covers the time before its detection, so
 * that what looked proven then is taken off again.
 */
export class Coverage {
  readonly #startMs: number;
  readonly #endMs: number;
  /** Proven stretches, oldest first; they do not touch. */
  readonly #proven: { fromMs: number; untilMs: number }[] = [];
  /** Time of the newest row; null before the first. */
  #rowMs: number | null = null;
  #trusted = false;

  constructor({ startTimeMs, endTimeMs }: { readonly startTimeMs: number; readonly endTimeMs: number }) {
    this.#startMs = startTimeMs;
    this.#endMs = endTimeMs;
  }

  /** Whether any row, or a trusted one, was received within the window. */
  hasRow = false;
  hasTrustedRow = false;

  row(timeMs: number, trusted: boolean): void {
    this.#extendTo(timeMs);
    this.#rowMs = timeMs;
    this.#trusted = trusted;
    if (timeMs < this.#startMs || timeMs >= this.#endMs) return;
    this.hasRow = true;
    this.hasTrustedRow ||= trusted;
  }

  gapKnown(sinceMs: number): void {
    const proven = this.#proven;
    for (let last = proven.at(-1); last !== undefined && last.untilMs > sinceMs; last = proven.at(-1)) {
      last.untilMs = sinceMs;
      if (last.untilMs > last.fromMs) return;
      proven.pop();
    }
  }

  /** Covered share of the window, 0 to 1, with the gaps known at a time. */
  shareAt(nowMs: number): number {
    let coveredMs = this.#trusted && this.#rowMs !== null ? this.#inside(this.#rowMs, nowMs) : 0;
    for (const { fromMs, untilMs } of this.#proven) coveredMs += untilMs - fromMs;
    return coveredMs / (this.#endMs - this.#startMs);
  }

  /** Adds the time since the newest row, if its book was proven. */
  #extendTo(timeMs: number): void {
    if (!this.#trusted || this.#rowMs === null || this.#inside(this.#rowMs, timeMs) === 0) return;
    const [fromMs, untilMs] = [Math.max(this.#startMs, this.#rowMs), Math.min(this.#endMs, timeMs)];
    const last = this.#proven.at(-1);
    if (last !== undefined && last.untilMs === fromMs) last.untilMs = untilMs;
    else this.#proven.push({ fromMs, untilMs });
  }

  #inside(fromMs: number, untilMs: number): number {
    return Math.max(0, Math.min(this.#endMs, untilMs) - Math.max(this.#startMs, fromMs));
  }
}
