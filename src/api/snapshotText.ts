/**
 * Prints stored books as the snapshots of the API. The engine can print JSON too, but a ladder of texts costs it
 * 95 ms for 10,000 books of 20 levels a side (24 MB), and 24 MB to hand over; its binary rows are a tenth of that,
 * and written straight into bytes they take 25 ms here (measured on two cores, 2026-11-21).
 */
import { Transform, type TransformCallback } from 'node:stream';
import { TICKS_PER_USDC } from '../core/money.ts';
import { StoreUnavailableError } from '../errors.ts';
import { type BookRow, BookRows, type RowSide } from '../store/bookRows.ts';

/** Large enough for few writes to the socket, small enough that printing one blocks the loop for a fraction of a ms. */
const PIECE_BYTES = 256 * 1024;
/** `{"price":0.1234,"size":`, a number of at most 25 characters, brace, comma, and the overhang of the last copy. */
const LEVEL_BYTES_MAX = 64;
/** Everything of a snapshot but its levels; the ticker is one of ours or `unknown`. */
const FRAME_BYTES_MAX = 512;
const HUNDREDTHS = 100;
const SECOND_MS = 1000;
/** Sizes of fewer shares, in whole hundredths, are printed from tables; others are rare. Hundredths fit 31 bits. */
const SHARES_MAX = 20_000_000;
/** As many as four digits stand for. */
const FOUR_DIGITS = 10_000;
const COMMA = 0x2c;
const CLOSE = 0x7d;

/**
 * `{"price":P,"size":` of every price, each in three 8-byte words: copying words is five times as fast as bytes. A
 * word of ASCII is never NaN, so it survives as a number.
 */
const WORDS = 3;
const levelStarts = new Float64Array((TICKS_PER_USDC + 1) * WORDS);
const levelStartBytes = new Uint8Array(TICKS_PER_USDC + 1);
for (let price = 0; price <= TICKS_PER_USDC; price++) {
  const text = Buffer.from(`{"price":${price / TICKS_PER_USDC},"size":`);
  new Uint8Array(levelStarts.buffer).set(text, price * WORDS * 8);
  levelStartBytes[price] = text.length;
}

/** Texts of up to four bytes, each one word, with their lengths: what a number is put together from. */
function wordTable(texts: readonly string[]): { words: Uint32Array; lengths: Uint8Array } {
  const words = new Uint32Array(texts.length);
  const bytes = new Uint8Array(words.buffer);
  for (const [i, text] of texts.entries()) bytes.set(Buffer.from(text), i * 4);
  return { words, lengths: Uint8Array.from(texts, (text) => text.length) };
}
const wholes = wordTable(Array.from({ length: FOUR_DIGITS }, (_, i) => String(i)));
const lowWholes = wordTable(Array.from({ length: FOUR_DIGITS }, (_, i) => String(i).padStart(4, '0')));
/** The decimals of a size and the brace that ends its level. */
const decimals = wordTable(
  Array.from({ length: HUNDREDTHS }, (_, i) => `${String(i / HUNDREDTHS).slice(1)}}`),
);

/** What stands between two ladders, in two words. */
interface FieldStart {
  readonly first: number;
  readonly second: number;
  readonly bytes: number;
}

function fieldStart(name: string): FieldStart {
  const bytes = Buffer.alloc(16);
  const length = bytes.write(`],"${name}":[`);
  return { first: bytes.readDoubleLE(0), second: bytes.readDoubleLE(8), bytes: length };
}
const [YES_ASKS, NO_BIDS, NO_ASKS] = [fieldStart('yes_asks'), fieldStart('no_bids'), fieldStart('no_asks')];

/**
 * Turns the engine's binary rows into the text of one JSON array.
 * @param options.count Rows there must be: fewer are an answer cut short, which fails the stream.
 * @param options.ticker As printed in each snapshot.
 */
export function snapshotArray({ count, ticker }: { count: number; ticker: string }): Transform {
  const rows = new BookRows();
  const printer = new SnapshotPrinter(ticker);
  let printed = 0;
  return new Transform({
    transform(bytes: Buffer, _encoding, done: TransformCallback) {
      rows.read(bytes, (row) => {
        const piece = printer.print(row, printed++ === 0 ? '[' : ',');
        if (piece) this.push(piece);
      });
      // Also the rest of a block: the client is not made to wait for the next one.
      const piece = printer.take();
      if (piece.length > 0) this.push(piece);
      // What has come meanwhile would else be printed at once, and everybody else's request would wait.
      setImmediate(done);
    },
    flush(done: TransformCallback) {
      if (printed !== count || !rows.isWhole) {
        return done(new StoreUnavailableError('the engine ended its answer early'));
      }
      this.push(count === 0 ? '[]' : ']');
      done();
    },
  });
}

/** One snapshot as JSON text. */
export function snapshotText(row: BookRow, ticker: string): string {
  const printer = new SnapshotPrinter(ticker);
  printer.print(row, '');
  return printer.take().toString('latin1');
}

/** Appends snapshots to pieces of bytes. */
export class SnapshotPrinter {
  readonly #ticker: string;
  #bytes = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #words = wordsOf(this.#bytes);
  #start = 0;
  #at = 0;
  #second = Number.NaN;
  #secondText = '';

  constructor(ticker: string) {
    this.#ticker = JSON.stringify(ticker);
  }

  /**
   * Appends a snapshot after `before`.
   * @returns A full piece that had to make room, or null.
   */
  print(row: BookRow, before: string): Buffer | null {
    const levels = row.yesBids.count + row.yesAsks.count + row.noBids.count + row.noAsks.count;
    const full = this.#makeRoom(FRAME_BYTES_MAX + levels * LEVEL_BYTES_MAX);
    this.#text(`${before}{"ts":"${this.#time(row.timeMs)}","yes_bids":[`);
    this.#side(row.yesBids);
    this.#field(YES_ASKS);
    this.#side(row.yesAsks);
    this.#field(NO_BIDS);
    this.#side(row.noBids);
    this.#field(NO_ASKS);
    this.#side(row.noAsks);
    const underlying = row.underlyingPrice === null ? 'null' : String(row.underlyingPrice);
    this.#text(
      `],"underlying_price":${underlying},"underlying_ticker":${this.#ticker},"trusted":${row.trusted}}`,
    );
    return full;
  }

  /** What was printed since the last piece. */
  take(): Buffer {
    const piece = this.#bytes.subarray(this.#start, this.#at);
    this.#start = this.#at;
    return piece;
  }

  #makeRoom(wanted: number): Buffer | null {
    if (this.#bytes.length - this.#at >= wanted) return null;
    const full = this.take();
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, wanted));
    this.#words = wordsOf(this.#bytes);
    this.#start = 0;
    this.#at = 0;
    return full.length > 0 ? full : null;
  }

  /** Most snapshots share their second with the one before. */
  #time(timeMs: number): string {
    const second = Math.floor(timeMs / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = new Date(second * SECOND_MS).toISOString().slice(0, -4);
    }
    return `${this.#secondText}${String(timeMs - second * SECOND_MS).padStart(3, '0')}+00:00`;
  }

  #field({ first, second, bytes }: FieldStart): void {
    this.#words.setFloat64(this.#at, first, true);
    this.#words.setFloat64(this.#at + 8, second, true);
    this.#at += bytes;
  }

  #text(text: string): void {
    this.#at += this.#bytes.write(text, this.#at, 'latin1');
  }

  #side({ count, prices, shares }: RowSide): void {
    const words = this.#words;
    let at = this.#at;
    for (let i = 0; i < count; i++) {
      if (i > 0) words.setUint8(at++, COMMA);
      const price = prices[i] as number;
      const word = price * WORDS;
      words.setFloat64(at, levelStarts[word] as number, true);
      words.setFloat64(at + 8, levelStarts[word + 1] as number, true);
      words.setFloat64(at + 16, levelStarts[word + 2] as number, true);
      at = writeShares(words, at + (levelStartBytes[price] as number), shares[i] as number);
    }
    this.#at = at;
  }
}

function wordsOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Prints a size and the end of its level.
 * @returns Where it ends.
 */
function writeShares(into: DataView, start: number, shares: number): number {
  // `| 0` keeps the arithmetic in integers, which halves its time.
  const hundredths = Math.round(shares * HUNDREDTHS) | 0;
  if (shares >= SHARES_MAX || hundredths / HUNDREDTHS !== shares) return writeRare(into, start, shares);
  const whole = (hundredths / HUNDREDTHS) | 0;
  let at = start;
  if (whole < FOUR_DIGITS) {
    into.setUint32(at, wholes.words[whole] as number, true);
    at += wholes.lengths[whole] as number;
  } else {
    const high = (whole / FOUR_DIGITS) | 0;
    into.setUint32(at, wholes.words[high] as number, true);
    at += wholes.lengths[high] as number;
    into.setUint32(at, lowWholes.words[whole - high * FOUR_DIGITS] as number, true);
    at += 4;
  }
  const part = hundredths - whole * HUNDREDTHS;
  into.setUint32(at, decimals.words[part] as number, true);
  return at + (decimals.lengths[part] as number);
}

function writeRare(into: DataView, start: number, shares: number): number {
  const text = String(shares);
  for (let i = 0; i < text.length; i++) into.setUint8(start + i, text.charCodeAt(i));
  into.setUint8(start + text.length, CLOSE);
  return start + text.length + 1;
}
