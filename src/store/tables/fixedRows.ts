/** Reads binary rows of one flag and a fixed number of doubles; chunks may be cut at any byte. */
export class FixedRows {
  readonly #doubles: number;
  readonly #values: Float64Array;
  #rest: Buffer = Buffer.alloc(0);

  constructor(doubles: number) {
    this.#doubles = doubles;
    this.#values = new Float64Array(doubles);
  }

  /** @param onRow Receives an array that is reused: copy the values you keep. */
  read(bytes: Buffer, onRow: (flag: number, values: Float64Array) => void): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const width = 1 + 8 * this.#doubles;
    let at = 0;
    for (; at + width <= all.length; at += width) {
      for (let i = 0; i < this.#doubles; i++) this.#values[i] = all.readDoubleLE(at + 1 + 8 * i);
      onRow(all[at] as number, this.#values);
    }
    this.#rest = all.subarray(at);
  }

  /** Whether the last row was received completely. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }
}
