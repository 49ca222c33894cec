/**
 * Reused memory for printed bodies. A large answer has tens of megabytes. Allocating them for each answer costs more
 * than paging: that much memory outside the heap makes V8 mark its whole heap about once per answer, which took a
 * third of the time of 10,000 snapshots.
 */

export const SLAB_BYTES = 512 * 1024;
/** Most free slabs to keep for the next answers; the garbage collector frees the others. */
const FREE_MAX = 32;

const free: Buffer[] = [];
const slabOf = new WeakMap<Buffer, Slab>();

/** A block of memory and the pieces of it that are being sent. */
export class Slab {
  readonly bytes: Buffer;
  #pieces = 0;
  #isClosed = false;

  /** @param wanted Minimum size in bytes; the slab has at least `SLAB_BYTES`. */
  constructor(wanted: number) {
    const known = wanted <= SLAB_BYTES ? free.pop() : undefined;
    this.bytes = known ?? Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, wanted));
  }

  /** A view of the slab to be sent; return it with `giveBack` after sending. */
  piece(start: number, end: number): Buffer {
    const piece = this.bytes.subarray(start, end);
    this.#pieces++;
    slabOf.set(piece, this);
    return piece;
  }

  /** A view of the slab that is never given back: the slab is not reused. */
  view(start: number, end: number): Buffer {
    this.#pieces = Number.POSITIVE_INFINITY;
    return this.bytes.subarray(start, end);
  }

  /** Marks the slab as complete: no more text is printed into it. */
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
 * Releases bytes that are no longer read. If they are the last outstanding piece of a slab, the slab is reused. The
 * garbage collector frees pieces that are never given back.
 */
export function giveBack(bytes: Buffer): void {
  const slab = slabOf.get(bytes);
  if (slab === undefined) return;
  slabOf.delete(bytes);
  slab.giveBack();
}
