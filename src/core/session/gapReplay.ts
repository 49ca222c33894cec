import type { TapeGap } from './tape.ts';

/** Receives gaps as if they were detected now. */
interface GapListener {
  gapDetected(gap: { readonly id: number; readonly startMs: number; readonly knownMs: number }): void;
  gapEnded(gap: { readonly id: number; readonly startMs: number; readonly endMs: number }): void;
}

/**
 * Identifies a gap of a market. Its detection never changes; several collectors may move its start later. Recordings
 * without the arrival number of the detection have only the start.
 */
export function gapKey({ startMs, knownSeq }: { startMs: number; knownSeq?: number | null }): number {
  return knownSeq ?? startMs;
}

interface GapReport {
  readonly seq: number;
  readonly make: () => void;
}

/**
 * Reports a recording's gaps between its events, at the points where they were published during the recording: by their
 * arrival number, or, in recordings without it, by the time of their detection.
 */
export class GapReplay {
  readonly #listener: GapListener;
  /** Reports still to be made, in order. */
  #bySeq: GapReport[] = [];
  #byTime: TapeGap[] = [];
  #nextBySeq = 0;
  #nextByTime = 0;
  #reportedBeforeSeq = 0;
  /** Reported gaps without an arrival number, by their start. */
  readonly #reported = new Map<number, TapeGap>();

  constructor(listener: GapListener) {
    this.#listener = listener;
  }

  /** @param gaps All known gaps of a market, including earlier ones; reports already made are not repeated. */
  add(gaps: readonly TapeGap[]): void {
    this.#bySeq = gaps
      .flatMap((gap) => this.#reportsOf(gap))
      .filter(({ seq }) => seq >= this.#reportedBeforeSeq)
      .sort((a, b) => a.seq - b.seq);
    this.#byTime = [];
    [this.#nextBySeq, this.#nextByTime] = [0, 0];
    for (const gap of gaps) {
      if (gap.knownSeq !== undefined) continue;
      const told = this.#reported.get(gap.startMs);
      if (told === undefined) this.#byTime.push(gap);
      else if (told.endMs === null && gap.endMs !== null) this.#report(gap);
    }
    this.#byTime.sort((a, b) => a.knownMs - b.knownMs);
  }

  /** Makes the reports from before an arrival number. */
  beforeSeq(seq: number): void {
    this.#reportedBeforeSeq = seq;
    for (;;) {
      const report = this.#bySeq[this.#nextBySeq];
      if (report === undefined || report.seq >= seq) return;
      this.#nextBySeq++;
      report.make();
    }
  }

  /** Makes the reports due by a time, for gaps without an arrival number. */
  beforeTime(receivedMs: number): void {
    for (;;) {
      const gap = this.#byTime[this.#nextByTime];
      if (gap === undefined || gap.knownMs > receivedMs) return;
      this.#nextByTime++;
      this.#report(gap);
    }
  }

  #report(gap: TapeGap): void {
    const { startMs, knownMs, endMs } = gap;
    if (!this.#reported.has(startMs)) this.#listener.gapDetected({ id: gapKey(gap), startMs, knownMs });
    if (endMs !== null)
      this.#listener.gapEnded({ id: gapKey(gap), startMs, endMs: Math.max(endMs, knownMs) });
    this.#reported.set(startMs, gap);
  }

  #reportsOf({ startMs, knownMs, endMs, knownSeq, endSeq }: TapeGap): GapReport[] {
    if (knownSeq === undefined) return [];
    const known = {
      seq: knownSeq,
      make: () => this.#listener.gapDetected({ id: knownSeq, startMs, knownMs }),
    };
    if (endMs === null) return [known];
    return [
      known,
      { seq: endSeq ?? knownSeq, make: () => this.#listener.gapEnded({ id: knownSeq, startMs, endMs }) },
    ];
  }
}
