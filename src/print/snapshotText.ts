/**
 * Prints stored books as the snapshots of the API. The engine can print JSON too, but for 10,000 books of 20 levels a
 * side it needs 95 ms to build the texts (24 MB), plus the handover. Its binary columns are a seventh of that
 * size, and printing them here takes 12 ms (measured on two cores, 2026-11-21).
 */
import { type BookRow, type RowSide, sharesOfLevel } from '../store/tables/bookRowReader.ts';
import { LEVEL_BYTES_MAX, wordTable, writeHundredths, writePrice, writeShares } from './levelText.ts';
import { giveBack, SLAB_BYTES, Slab } from './slabs.ts';

/** Every part of a snapshot except its levels; the ticker is one of ours or `unknown`. */
const FRAME_BYTES_MAX = 512;
const SECOND_MS = 1000;
/** The longer template of a snapshot has about 110 characters. */
const TEMPLATE_WORDS = 32;
const COMMA = 0x2c;

/** The milliseconds of a time and the sign of its offset. */
const millis = wordTable(Array.from({ length: SECOND_MS }, (_, i) => `${String(i).padStart(3, '0')}+`));

/** The text between two ladders, in two words. */
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

/** One snapshot as JSON text. */
export function snapshotText(row: BookRow, ticker: string): string {
  const printer = new SnapshotPrinter(ticker);
  printer.print(row, '');
  const piece = printer.finishPiece();
  const text = piece.toString('latin1');
  giveBack(piece);
  printer.close();
  return text;
}

/** Appends snapshots to pieces of bytes. */
export class SnapshotPrinter {
  readonly #ticker: string;
  #slab = new Slab(SLAB_BYTES);
  #words = wordsOf(this.#slab.bytes);
  #start = 0;
  #at = 0;
  /** The text from the brace to the first ladder, for one second: most snapshots reuse that of the previous one. */
  readonly #head = new TextTemplate();
  #second = Number.NaN;
  #millisAt = 0;
  /** The text from the last ladder to the brace: it changes with the price of the underlying. */
  readonly #tail = new TextTemplate();
  #underlyingPrice: number | null = Number.NaN;
  #trusted = false;

  constructor(ticker: string) {
    this.#ticker = JSON.stringify(ticker);
  }

  /**
   * Appends a snapshot after `before`, which is one character or empty.
   * @returns A full piece, if one had to be completed to make room; otherwise null.
   */
  print(row: BookRow, before: string): Buffer | null {
    const levels = row.yesBids.count + row.yesAsks.count + row.noBids.count + row.noAsks.count;
    const full = this.#makeRoom(FRAME_BYTES_MAX + levels * LEVEL_BYTES_MAX);
    if (before !== '') this.#words.setUint8(this.#at++, before.charCodeAt(0));
    this.#printHead(row.timeMs);
    this.#side(row.yesBids);
    this.#field(YES_ASKS);
    this.#side(row.yesAsks);
    this.#field(NO_BIDS);
    this.#side(row.noBids);
    this.#field(NO_ASKS);
    this.#side(row.noAsks);
    this.#printTail(row);
    return full;
  }

  /** The bytes printed since the last piece; give them back after use so that their memory is reused. */
  finishPiece(): Buffer {
    const piece = this.#slab.piece(this.#start, this.#at);
    this.#start = this.#at;
    return piece;
  }

  /** The same bytes, to be kept for any time. */
  finishView(): Buffer {
    const view = this.#slab.view(this.#start, this.#at);
    this.#start = this.#at;
    return view;
  }

  /** Releases the memory except for pieces being sent; the printer prints no more. */
  close(): void {
    this.#slab.close();
  }

  #makeRoom(wanted: number): Buffer | null {
    if (this.#slab.bytes.length - this.#at >= wanted) return null;
    const full = this.#at > this.#start ? this.finishPiece() : null;
    this.#slab.close();
    this.#slab = new Slab(wanted);
    this.#words = wordsOf(this.#slab.bytes);
    this.#start = 0;
    this.#at = 0;
    return full;
  }

  #printHead(timeMs: number): void {
    const second = Math.floor(timeMs / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      const start = `{"ts":"${new Date(second * SECOND_MS).toISOString().slice(0, -4)}`;
      this.#millisAt = start.length;
      this.#head.set(`${start}000+00:00","yes_bids":[`);
    }
    const millisAt = this.#at + this.#millisAt;
    this.#at = this.#head.copy(this.#words, this.#at);
    this.#words.setUint32(millisAt, millis.words[timeMs - second * SECOND_MS] as number, true);
  }

  #printTail({ underlyingPrice, trusted }: BookRow): void {
    if (underlyingPrice !== this.#underlyingPrice || trusted !== this.#trusted) {
      this.#underlyingPrice = underlyingPrice;
      this.#trusted = trusted;
      const price = underlyingPrice === null ? 'null' : String(underlyingPrice);
      this.#tail.set(
        `],"underlying_price":${price},"underlying_ticker":${this.#ticker},"trusted":${trusted}}`,
      );
    }
    this.#at = this.#tail.copy(this.#words, this.#at);
  }

  #field({ first, second, bytes }: FieldStart): void {
    this.#words.setFloat64(this.#at, first, true);
    this.#words.setFloat64(this.#at + 8, second, true);
    this.#at += bytes;
  }

  #side(side: RowSide): void {
    if (side.wide) this.#wideSide(side);
    else this.#narrowSide(side);
  }

  #narrowSide({ start, count, prices, sizesStart, hundredths }: RowSide): void {
    const words = this.#words;
    let at = this.#at;
    for (let i = 0; i < count; i++) {
      if (i > 0) words.setUint8(at++, COMMA);
      at = writePrice(words, at, prices[start + i] as number);
      at = writeHundredths(words, at, hundredths[sizesStart + i] as number);
    }
    this.#at = at;
  }

  #wideSide(side: RowSide): void {
    const words = this.#words;
    let at = this.#at;
    for (let i = 0; i < side.count; i++) {
      if (i > 0) words.setUint8(at++, COMMA);
      at = writePrice(words, at, side.prices[side.start + i] as number);
      at = writeShares(words, at, sharesOfLevel(side, i));
    }
    this.#at = at;
  }
}

/** Short text that is copied often, in whole words; later text overwrites the excess bytes of a copy. */
class TextTemplate {
  readonly #words = new Float64Array(TEMPLATE_WORDS);
  readonly #bytes = Buffer.from(this.#words.buffer);
  #length = 0;

  /** @param text ASCII, so that no word is the number NaN, whose bits a copy may change. */
  set(text: string): void {
    this.#length = this.#bytes.write(text, 'latin1');
  }

  /** @returns The position after the copy. */
  copy(into: DataView, at: number): number {
    const words = this.#words;
    for (let from = 0, to = at; from * 8 < this.#length; from++, to += 8) {
      into.setFloat64(to, words[from] as number, true);
    }
    return at + this.#length;
  }
}

function wordsOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
