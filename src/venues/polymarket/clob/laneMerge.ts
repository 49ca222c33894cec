/** Frames only one lane has delivered are remembered this long; a copy that comes later counts as news. */
const PENDING_AGE_MAX_MS = 15_000;
/** Bounds memory at some 40 MB of text a busy group; past it the oldest are forgotten. */
const PENDING_MAX = 65_536;

interface Pending {
  /** Copies lane 0 has delivered beyond those of lane 1; negative where lane 1 leads. */
  lead: number;
  sinceMs: number;
}

/**
 * Merges two connections that carry the same frames into one stream: the first copy of a frame wins, however far
 * the other lane lags, and the k-th copy on one lane stands for the k-th on the other, so that a frame the venue
 * means twice is passed twice. A lane delivers in order; as long as neither loses anything the merged stream is the
 * venue's own. What one lane lost comes when the other delivers it.
 */
export class LaneMerge {
  readonly #pending = new Map<string, Pending>();

  /** Frames waiting for their second copy. */
  get waiting(): number {
    return this.#pending.size;
  }

  /**
   * @param otherIsUp Whether the other lane may still deliver a copy.
   * @returns Whether this is the first copy.
   */
  offer(lane: 0 | 1, text: string, nowMs: number, otherIsUp: boolean): boolean {
    const step = lane === 0 ? 1 : -1;
    const known = this.#pending.get(text);
    if (known === undefined) {
      if (otherIsUp) this.#pending.set(text, { lead: step, sinceMs: nowMs });
      if (this.#pending.size > 0) this.#forget(nowMs);
      return true;
    }
    const isFirst = known.lead * step > 0;
    known.lead += step;
    if (known.lead === 0) this.#pending.delete(text);
    return isFirst;
  }

  /** A lane's connection is gone: what only the other has delivered will have no second copy. */
  lost(lane: 0 | 1): void {
    for (const [text, { lead }] of this.#pending) {
      if (lane === 0 ? lead < 0 : lead > 0) this.#pending.delete(text);
    }
  }

  /** The oldest first: a map keeps the order of insertion. */
  #forget(nowMs: number): void {
    for (const [text, { sinceMs }] of this.#pending) {
      if (nowMs - sinceMs < PENDING_AGE_MAX_MS && this.#pending.size <= PENDING_MAX) return;
      this.#pending.delete(text);
    }
  }
}
