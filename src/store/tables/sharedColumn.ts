/** Columns that grow during reading and end in memory shared by worker threads. */

const CAPACITY_AT_FIRST = 1_024;

type Numbers = Float64Array | Uint8Array | Uint16Array | Uint32Array;
type Maker<T extends Numbers> = new (buffer: ArrayBufferLike) => T;

export class SharedColumn<T extends Numbers> {
  readonly #make: Maker<T>;
  readonly #bytes: number;
  #values: T;
  length = 0;

  constructor(make: Maker<T> & { readonly BYTES_PER_ELEMENT: number }) {
    this.#make = make;
    this.#bytes = make.BYTES_PER_ELEMENT;
    this.#values = this.#room(CAPACITY_AT_FIRST);
  }

  push(value: number): void {
    if (this.length === this.#values.length) {
      const wider = this.#room(this.length * 2);
      wider.set(this.#values);
      this.#values = wider;
    }
    this.#values[this.length++] = value;
  }

  last(): number {
    return this.#values[this.length - 1] as number;
  }

  at(index: number): number {
    return this.#values[index] as number;
  }

  /** A shared array of exactly the pushed values. */
  shared(): T {
    const exact = this.#room(this.length);
    exact.set(this.#values.subarray(0, this.length));
    return exact;
  }

  #room(length: number): T {
    return new this.#make(new SharedArrayBuffer(length * this.#bytes));
  }
}
