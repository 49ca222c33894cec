/**
 * Memory that bodies are printed into. A large answer is tens of megabytes; made anew each time, they are not only paged in
 * and thrown away: so much memory outside the heap has the engine of the language mark its whole heap about once an answer,
 * which took a third of the time of 10,000 snapshots.
 */

export const SLAB_BYTES = 512 * 1024;
/** Kept for the next answers; what is given back beyond it is left to the collector. */
const FREE_MAX = 32;

const free: Buffer[] = [];
const slabOf = new WeakMap<Buffer, Slab>();

/** One stretch of memory, and the pieces of it that are on their way. */
export class Slab {
  readonly bytes: Buffer;
  #pieces = 0;
  #isClosed = false;

  /** @param wanted Bytes it must have; it has `SLAB_BYTES` at least. */
  constructor(wanted: number) {
    const known = wanted <= SLAB_BYTES ? free.pop() : undefined;
    this.bytes = known ?? Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, wanted));
  }

  /** A view of it, to be sent; who has sent it may give it back. */
  piece(start: number, end: number): Buffer {
    const piece = this.bytes.subarray(start, end);
    this.#pieces++;
    slabOf.set(piece, this);
    return piece;
  }

  /** A view of it that nobody gives back: the slab is not used again. */
  view(start: number, end: number): Buffer {
    this.#pieces = Number.POSITIVE_INFINITY;
    return this.bytes.subarray(start, end);
  }

  /** Nothing more is printed into it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#keepIfFree();
  }

  giveBack(): void {
    this.#pieces--;
    this.#keepIfFree();
  }

  #keepIfFree(): void {
    if (!this.#isClosed || this.#pieces > 0) return;
    if (this.bytes.length === SLAB_BYTES && free.length < FREE_MAX) free.push(this.bytes);
  }
}

/**
 * Says that nobody reads these bytes any more. Where they are a piece of a slab, and its others were given back too, the
 * slab is printed into again. What is never given back is left to the collector.
 */
export function giveBack(bytes: Buffer): void {
  const slab = slabOf.get(bytes);
  if (slab === undefined) return;
  slabOf.delete(bytes);
  slab.giveBack();
}
