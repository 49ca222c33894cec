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
  /** What is to be told yet, in order. */
  #bySeq: Notice[] = [];
  #byTime: TapeGap[] = [];
  #nextBySeq = 0;
  #nextByTime = 0;
  #toldBeforeSeq = 0;
  /** Of those without a place, by their start. */
  readonly #told = new Map<number, TapeGap>();

  constructor(listener: GapListener) {
    this.#listener = listener;
  }

  /** All that are known of a market, those of before too: what was told of them is not told again. */
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

  /** Tells what was told before the arrival of a number. */
  beforeSeq(seq: number): void {
    this.#toldBeforeSeq = seq;
    for (;;) {
      const notice = this.#bySeq[this.#nextBySeq];
      if (notice === undefined || notice.seq >= seq) return;
      this.#nextBySeq++;
      notice.tell();
    }
  }

  /** Tells what came to be known by a moment, where no place is kept. */
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
