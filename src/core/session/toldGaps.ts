import type { TapeGap } from './tape.ts';

/** Receives gaps as if they were detected now. */
export interface GapListener {
  gapKnown(gap: { readonly startMs: number; readonly knownMs: number }): void;
  gapEnded(gap: { readonly startMs: number; readonly endMs: number }): void;
}

interface Notice {
  readonly seq: number;
  readonly tell: () => void;
}

/**
 * Reports a recording's gaps between its events, at the points where they were published during the recording: by their
 * arrival number, or, in recordings without it, by the time of their detection.
 */
export class ToldGaps {
  readonly #listener: GapListener;
  /** Reports still to be made, in order. */
  #bySeq: Notice[] = [];
  #byTime: TapeGap[] = [];
  #nextBySeq = 0;
  #nextByTime = 0;
  #toldBeforeSeq = 0;
  /** Reported gaps without an arrival number, by their start. */
  readonly #told = new Map<number, TapeGap>();

  constructor(listener: GapListener) {
    this.#listener = listener;
  }

  /** @param gaps All known gaps of a market, including earlier ones; reports already made are not repeated. */
  add(gaps: readonly TapeGap[]): void {
    this.#bySeq = gaps
      .flatMap((gap) => this.#noticesOf(gap))
      .filter(({ seq }) => seq >= this.#toldBeforeSeq)
      .sort((a, b) => a.seq - b.seq);
    this.#byTime = [];
    [this.#nextBySeq, this.#nextByTime] = [0, 0];
    for (const gap of gaps) {
      if (gap.knownSeq !== undefined) continue;
      const told = this.#told.get(gap.startMs);
      if (told === undefined) this.#byTime.push(gap);
      else if (told.endMs === null && gap.endMs !== null) this.#tell(gap);
    }
    this.#byTime.sort((a, b) => a.knownMs - b.knownMs);
  }

  /** Makes the reports from before an arrival number. */
  beforeSeq(seq: number): void {
    this.#toldBeforeSeq = seq;
    for (;;) {
      const notice = this.#bySeq[this.#nextBySeq];
      if (notice === undefined || notice.seq >= seq) return;
      this.#nextBySeq++;
      notice.tell();
    }
  }

  /** Makes the reports due by a time, for gaps without an arrival number. */
  beforeTime(receivedMs: number): void {
    for (;;) {
      const gap = this.#byTime[this.#nextByTime];
      if (gap === undefined || gap.knownMs > receivedMs) return;
      this.#nextByTime++;
      this.#tell(gap);
    }
  }

  #tell(gap: TapeGap): void {
    const { startMs, knownMs, endMs } = gap;
    if (!this.#told.has(startMs)) this.#listener.gapKnown({ startMs, knownMs });
    if (endMs !== null) this.#listener.gapEnded({ startMs, endMs: Math.max(endMs, knownMs) });
    this.#told.set(startMs, gap);
  }

  #noticesOf({ startMs, knownMs, endMs, knownSeq, endSeq }: TapeGap): Notice[] {
    if (knownSeq === undefined) return [];
    const known = { seq: knownSeq, tell: () => this.#listener.gapKnown({ startMs, knownMs }) };
    if (endMs === null) return [known];
    return [known, { seq: endSeq ?? knownSeq, tell: () => this.#listener.gapEnded({ startMs, endMs }) }];
  }
}
