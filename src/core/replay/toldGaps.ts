import type { TapeGap } from './tape.ts';

/** Who is told of gaps as if they were found now. */
export interface GapListener {
  gapKnown(gap: { readonly startMs: number; readonly knownMs: number }): void;
  gapEnded(gap: { readonly startMs: number; readonly endMs: number }): void;
}

interface Notice {
  readonly seq: number;
  readonly tell: () => void;
}

/**
 * Tells of a recording's gaps between its events, as they were told when it was made: by their place in the order of
 * arrival, or, where a recording does not keep that, by the time at which they came to be known.
 */
export class ToldGaps {
  readonly #listener: GapListener;
  readonly #bySeq: readonly Notice[];
  readonly #byTime: readonly TapeGap[];
  #nextBySeq = 0;
  #nextByTime = 0;

  constructor(gaps: readonly TapeGap[], listener: GapListener) {
    this.#listener = listener;
    this.#bySeq = gaps.flatMap((gap) => this.#noticesOf(gap)).sort((a, b) => a.seq - b.seq);
    this.#byTime = gaps
      .filter(({ knownSeq }) => knownSeq === undefined)
      .sort((a, b) => a.knownMs - b.knownMs);
  }

  /** Tells what was told before the arrival of a number. */
  beforeSeq(seq: number): void {
    for (;;) {
      const notice = this.#bySeq[this.#nextBySeq];
      if (notice === undefined || notice.seq > seq) return;
      this.#nextBySeq++;
      notice.tell();
    }
  }

  /** Tells what came to be known by a moment of which only the time is kept. */
  beforeTime(receivedMs: number): void {
    for (;;) {
      const gap = this.#byTime[this.#nextByTime];
      if (gap === undefined || gap.knownMs > receivedMs) return;
      this.#nextByTime++;
      this.#listener.gapKnown(gap);
      const { startMs, endMs, knownMs } = gap;
      if (endMs !== null) this.#listener.gapEnded({ startMs, endMs: Math.max(endMs, knownMs) });
    }
  }

  #noticesOf(gap: TapeGap): Notice[] {
    const { startMs, endMs, knownSeq, endSeq } = gap;
    if (knownSeq === undefined) return [];
    const known = { seq: knownSeq, tell: () => this.#listener.gapKnown(gap) };
    if (endMs === null) return [known];
    const tell = () => this.#listener.gapEnded({ startMs, endMs });
    return [known, { seq: endSeq ?? knownSeq, tell }];
  }
}
