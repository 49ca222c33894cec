/** How long to remember a frame that only one connection has delivered; a later copy counts as new. */
const PENDING_AGE_MAX_MS = 15_000;
/** Bounds memory to about 40 MB of text per busy group; beyond it the oldest frames are forgotten. */
const PENDING_MAX = 65_536;

interface Pending {
  /** Copies that connection 0 has delivered minus those of connection 1. */
  lead: number;
  sinceMs: number;
}

/**
 * Merges two connections that carry the same frames into one stream. The first copy of a frame is passed, however far
 * the other connection lags. The k-th copy on one matches the k-th on the other, so a frame that the venue sends twice
 * is passed twice. A connection delivers in order: while neither loses a frame, the merged stream is the venue's own.
 * A frame that one connection lost arrives on the other.
 */
export class ConnectionMerge {
  readonly #pending = new Map<string, Pending>();

  /** Frames that wait for their second copy. */
  get waiting(): number {
    return this.#pending.size;
  }

  /**
   * @param otherIsUp Whether the other connection may still deliver a copy.
   * @returns Whether this is the first copy.
   */
  offer(connection: 0 | 1, text: string, nowMs: number, otherIsUp: boolean): boolean {
    const step = connection === 0 ? 1 : -1;
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

  /** A connection is lost: frames that only the other has delivered will have no second copy. */
  lost(connection: 0 | 1): void {
    for (const [text, { lead }] of this.#pending) {
      if (connection === 0 ? lead < 0 : lead > 0) this.#pending.delete(text);
    }
  }

  /** Forgets the oldest first: a map keeps the order of insertion. */
  #forget(nowMs: number): void {
    for (const [text, { sinceMs }] of this.#pending) {
      if (nowMs - sinceMs < PENDING_AGE_MAX_MS && this.#pending.size <= PENDING_MAX) return;
      this.#pending.delete(text);
    }
  }
}
