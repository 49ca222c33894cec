/**
 * Rows of one table in ClickHouse's RowBinary, back to back in one growing buffer. For each row it also keeps the data
 * that the journal and the inserts need: its end, seq and day. Nothing is allocated per row.
 */
const BYTES_MIN = 64 * 1024;
const ROWS_MIN = 1_024;
const DAY_MS = 86_400_000;
const TWO_32 = 4_294_967_296;

export class RowBuffer {
  /** Bytes written, including an unfinished row. */
  length = 0;
  rows = 0;
  bytes = Buffer.allocUnsafe(BYTES_MIN);
  /** View over `bytes`, for encoders that write many values at once. */
  view = viewOf(this.bytes);
  ends = new Uint32Array(ROWS_MIN);
  seqs = new Float64Array(ROWS_MIN);
  /** Days since 1970 of `ts`: a batch must stay within one partition. */
  days = new Int32Array(ROWS_MIN);
  /** Bounds of `ts` over all rows. */
  timeMsMin = Number.POSITIVE_INFINITY;
  timeMsMax = Number.NEGATIVE_INFINITY;

  /** Copies the rows of all buffers into one buffer of their exact size. */
  static joined(buffers: readonly RowBuffer[]): RowBuffer {
    const joined = new RowBuffer();
    const sum = (of: (buffer: RowBuffer) => number) =>
      buffers.reduce((total, buffer) => total + of(buffer), 0);
    joined.bytes = Buffer.allocUnsafe(sum(({ length }) => length));
    joined.view = viewOf(joined.bytes);
    const rows = sum((buffer) => buffer.rows);
    joined.ends = new Uint32Array(rows);
    joined.seqs = new Float64Array(rows);
    joined.days = new Int32Array(rows);
    for (const buffer of buffers) joined.#appendAll(buffer);
    return joined;
  }

  /** Makes room for a row of at most `bytesMax`; call it before every row. */
  reserve(bytesMax: number): void {
    const needed = this.length + bytesMax;
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
      this.view = viewOf(grown);
    }
    if (this.rows === this.ends.length) this.#growRows();
  }

  endRow(seq: number, timeMs: number): void {
    this.ends[this.rows] = this.length;
    this.seqs[this.rows] = seq;
    this.days[this.rows] = Math.floor(timeMs / DAY_MS);
    this.rows++;
    if (timeMs < this.timeMsMin) this.timeMsMin = timeMs;
    if (timeMs > this.timeMsMax) this.timeMsMax = timeMs;
  }

  /** Appends an encoded row from `source`. */
  appendEncoded(source: Buffer, row: { start: number; end: number; seq: number; day: number }): void {
    this.reserve(row.end - row.start);
    source.copy(this.bytes, this.length, row.start, row.end);
    this.length += row.end - row.start;
    this.ends[this.rows] = this.length;
    this.seqs[this.rows] = row.seq;
    this.days[this.rows] = row.day;
    this.rows++;
  }

  /** Copies the rows for which `keep` returns true to a new buffer. */
  filter(keep: (row: number) => boolean): RowBuffer {
    const picked = new RowBuffer();
    for (let row = 0; row < this.rows; row++) {
      if (!keep(row)) continue;
      const start = row === 0 ? 0 : (this.ends[row - 1] as number);
      const place = { start, end: this.ends[row] as number };
      picked.appendEncoded(this.bytes, {
        ...place,
        seq: this.seqs[row] as number,
        day: this.days[row] as number,
      });
    }
    picked.timeMsMin = this.timeMsMin;
    picked.timeMsMax = this.timeMsMax;
    return picked;
  }

  reset(): void {
    this.length = 0;
    this.rows = 0;
    this.timeMsMin = Number.POSITIVE_INFINITY;
    this.timeMsMax = Number.NEGATIVE_INFINITY;
  }

  u8(value: number): void {
    this.bytes[this.length++] = value;
  }

  bool(value: boolean): void {
    this.bytes[this.length++] = value ? 1 : 0;
  }

  u16(value: number): void {
    this.view.setUint16(this.length, value, true);
    this.length += 2;
  }

  /** Writes an integer below 2^53, also a negative one (two's complement): Int64, UInt64, DateTime64, Decimal(18). */
  i64(value: number): void {
    const high = Math.floor(value / TWO_32);
    this.view.setUint32(this.length, value - high * TWO_32, true);
    this.view.setInt32(this.length + 4, high, true);
    this.length += 8;
  }

  bigI64(value: bigint): void {
    this.view.setBigInt64(this.length, value, true);
    this.length += 8;
  }

  f64(value: number): void {
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  f32(value: number): void {
    this.view.setFloat32(this.length, value, true);
    this.length += 4;
  }

  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  /** Needs at most `text.length * 3 + 5` reserved bytes. */
  string(text: string): void {
    // Ids are short: one length byte nearly always suffices, and the text is then written in place.
    if (text.length < 0x80) {
      const written = this.bytes.write(text, this.length + 1, 'utf8');
      if (written < 0x80) {
        this.bytes[this.length] = written;
        this.length += 1 + written;
        return;
      }
    }
    this.varint(Buffer.byteLength(text));
    this.length += this.bytes.write(text, this.length, 'utf8');
  }

  nullable<T>(value: T | null, write: (value: T) => void): void {
    this.bool(value === null);
    if (value !== null) write(value);
  }

  nullableF64(value: number | null): void {
    this.bool(value === null);
    if (value !== null) this.f64(value);
  }

  nullableU16(value: number | null): void {
    this.bool(value === null);
    if (value !== null) this.u16(value);
  }

  /** The caller has reserved the space. */
  #appendAll(other: RowBuffer): void {
    other.bytes.copy(this.bytes, this.length, 0, other.length);
    for (let row = 0; row < other.rows; row++)
      this.ends[this.rows + row] = this.length + (other.ends[row] as number);
    this.seqs.set(other.seqs.subarray(0, other.rows), this.rows);
    this.days.set(other.days.subarray(0, other.rows), this.rows);
    this.length += other.length;
    this.rows += other.rows;
    this.timeMsMin = Math.min(this.timeMsMin, other.timeMsMin);
    this.timeMsMax = Math.max(this.timeMsMax, other.timeMsMax);
  }

  #growRows(): void {
    const capacity = Math.max(ROWS_MIN, this.ends.length * 2);
    const { ends, seqs, days } = this;
    this.ends = new Uint32Array(capacity);
    this.ends.set(ends);
    this.seqs = new Float64Array(capacity);
    this.seqs.set(seqs);
    this.days = new Int32Array(capacity);
    this.days.set(days);
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
