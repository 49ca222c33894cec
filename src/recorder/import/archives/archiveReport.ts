import { formatTime } from '../../../schema/time.ts';

/** A stretch without any message of one subject that is at least this long is a hole. */
const HOLE_MS = 60_000;
const HOLES_LISTED_MAX = 1_000;
const BAD_ROWS_LISTED_MAX = 20;

interface Hole {
  /** A market, or a venue with its asset. */
  readonly subject: string;
  readonly start: string;
  readonly end: string;
  readonly seconds: number;
}

/** The rows that an import of archives read, and the holes it found. */
export interface ArchiveReport {
  readonly layouts: Readonly<Record<string, number>>;
  readonly lacks: readonly string[];
  readonly rows: number;
  readonly bad_rows: number;
  /** The first of them. */
  readonly bad: readonly { readonly file: string; readonly row: number; readonly reason: string }[];
  /** Rows that were understood and not stored, by the reason. */
  readonly unused: Readonly<Record<string, number>>;
  readonly out_of_order: number;
  readonly holes: number;
  /** The longest of them. */
  readonly longest_holes: readonly Hole[];
}

/** Collects the report while files are read. */
export class ArchiveReportBuilder {
  readonly #layouts = new Map<string, number>();
  readonly #lacks = new Set<string>();
  readonly #unused = new Map<string, number>();
  readonly #bad: { file: string; row: number; reason: string }[] = [];
  readonly #lastMs = new Map<string, number>();
  readonly #holes: Hole[] = [];
  #counts = { rows: 0, bad: 0, holes: 0, outOfOrder: 0 };

  file(layout: string, lacks: readonly string[]): void {
    this.#layouts.set(layout, (this.#layouts.get(layout) ?? 0) + 1);
    for (const lack of lacks) this.#lacks.add(lack);
  }

  bad(file: string, row: number, reason: string): void {
    this.#counts.rows++;
    this.#counts.bad++;
    if (this.#bad.length < BAD_ROWS_LISTED_MAX) this.#bad.push({ file, row, reason });
  }

  unused(reason: string): void {
    this.#counts.rows++;
    this.#unused.set(reason, (this.#unused.get(reason) ?? 0) + 1);
  }

  /** A message of a subject. Holes are judged by receive time. */
  seen(subject: string, receivedTimeMs: number): void {
    this.#counts.rows++;
    const lastMs = this.#lastMs.get(subject) ?? receivedTimeMs;
    if (receivedTimeMs < lastMs) {
      this.#counts.outOfOrder++;
      return;
    }
    this.#lastMs.set(subject, receivedTimeMs);
    if (receivedTimeMs - lastMs >= HOLE_MS) this.#hole(subject, lastMs, receivedTimeMs);
  }

  /** @returns Null if no archive was read. */
  report(): ArchiveReport | null {
    if (this.#layouts.size === 0) return null;
    const { rows, bad, holes, outOfOrder } = this.#counts;
    return {
      layouts: Object.fromEntries(this.#layouts),
      lacks: [...this.#lacks],
      ...{ rows, bad_rows: bad, bad: this.#bad, unused: Object.fromEntries(this.#unused) },
      ...{ out_of_order: outOfOrder, holes },
      longest_holes: [...this.#holes].sort((a, b) => b.seconds - a.seconds),
    };
  }

  #hole(subject: string, startMs: number, endMs: number): void {
    this.#counts.holes++;
    const hole = {
      subject,
      start: formatTime(startMs),
      end: formatTime(endMs),
      seconds: (endMs - startMs) / 1000,
    };
    if (this.#holes.length < HOLES_LISTED_MAX) {
      this.#holes.push(hole);
      return;
    }
    // The shortest one is replaced, so that the list keeps the longest.
    const shortest = this.#holes.reduce(
      (least, { seconds }, at) => (seconds < (this.#holes[least]?.seconds ?? 0) ? at : least),
      0,
    );
    if ((this.#holes[shortest]?.seconds ?? 0) < hole.seconds) this.#holes[shortest] = hole;
  }
}
