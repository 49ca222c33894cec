/** Stored books as the engine would send them: blocks of its format `Native`, written by hand from its description. */

/** A book as stored; a mirrored one has no stored NO sides. */
export interface NativeBook {
  timeMs: number;
  trusted: boolean;
  mirrored: boolean;
  underlying: number | null;
  /** Whether sizes are stored as shares instead of hundredths. */
  wide: boolean;
  /** Price in ticks and shares, of both YES and both NO sides. */
  sides: [number, number][][];
}

/** One block with these books; the first one is followed by `page` if a page is requested with them. */
export function nativeBooks(books: readonly NativeBook[], page: readonly number[] | null = null): Buffer {
  const out = new ByteWriter();
  const stored = (book: NativeBook, side: number) =>
    book.mirrored && side >= 2 ? [] : (book.sides[side] ?? []);
  out.varint(page === null ? 17 : 18).varint(books.length);
  const column = (type: string, write: () => void) => {
    out.text('any name').text(type);
    write();
  };
  const flags = (of: (book: NativeBook) => boolean) => {
    for (const book of books) out.byte(Number(of(book)));
  };
  const arrays = (of: (book: NativeBook) => number[], write: (value: number) => void) => {
    let end = 0;
    for (const book of books) {
      end += of(book).length;
      out.int64(end);
    }
    for (const book of books) for (const value of of(book)) write(value);
  };
  column("DateTime64(3, 'UTC')", () => {
    for (const { timeMs } of books) out.int64(timeMs);
  });
  column('UInt8', () => flags(({ trusted }) => trusted));
  column('Bool', () => flags(({ mirrored }) => mirrored));
  column('Nullable(Float64)', () => {
    flags(({ underlying }) => underlying === null);
    for (const { underlying } of books) out.float64(underlying ?? 0);
  });
  column('Bool', () => flags(({ wide }) => wide));
  for (let side = 0; side < 4; side++) {
    column('Array(UInt16)', () =>
      arrays(
        (book) => stored(book, side).map(([price]) => price),
        (price) => out.uint16(price),
      ),
    );
  }
  for (let side = 0; side < 4; side++) {
    column('Array(UInt32)', () =>
      arrays(
        (book) => (book.wide ? [] : stored(book, side).map(([, shares]) => Math.round(shares * 100))),
        (hundredths) => out.uint32(hundredths),
      ),
    );
  }
  for (let side = 0; side < 4; side++) {
    column('Array(Float64)', () =>
      arrays(
        (book) => (book.wide ? stored(book, side).map(([, shares]) => shares) : []),
        (shares) => out.float64(shares),
      ),
    );
  }
  if (page !== null) {
    const [first] = books;
    column('Array(UInt64)', () =>
      arrays(
        (book) => (book === first ? [...page] : []),
        (value) => out.int64(value),
      ),
    );
  }
  return out.all();
}

class ByteWriter {
  readonly #parts: Buffer[] = [];

  all(): Buffer {
    return Buffer.concat(this.#parts);
  }

  byte(value: number): void {
    this.#parts.push(Buffer.of(value));
  }

  varint(value: number): this {
    for (let rest = value; ; rest >>= 7) {
      this.byte(rest < 0x80 ? rest : (rest & 0x7f) | 0x80);
      if (rest < 0x80) return this;
    }
  }

  text(value: string): this {
    this.varint(value.length);
    this.#parts.push(Buffer.from(value));
    return this;
  }

  uint16(value: number): void {
    this.#put(2, (bytes) => bytes.writeUInt16LE(value));
  }

  uint32(value: number): void {
    this.#put(4, (bytes) => bytes.writeUInt32LE(value));
  }

  int64(value: number): void {
    this.#put(8, (bytes) => bytes.writeBigInt64LE(BigInt(value)));
  }

  float64(value: number): void {
    this.#put(8, (bytes) => bytes.writeDoubleLE(value));
  }

  #put(size: number, write: (bytes: Buffer) => void): void {
    const bytes = Buffer.alloc(size);
    write(bytes);
    this.#parts.push(bytes);
  }
}
