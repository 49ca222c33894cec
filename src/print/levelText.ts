/** Prints levels of a ladder as JSON from tables of prepared words: copying words is five times as fast as bytes. */
import { TICKS_PER_USDC } from '../core/money.ts';

/** `{"price":0.1234,"size":`, a number of at most 25 characters, brace, comma, and the excess of the last copy. */
export const LEVEL_BYTES_MAX = 64;
const HUNDREDTHS = 100;
/** Smaller sizes are printed from tables; larger ones are rare. These fit 31 bits, and their shares fit 8 digits. */
const HUNDREDTHS_MAX = 2_000_000_000;
/** Number of values with at most four digits. */
const FOUR_DIGITS = 10_000;
const CLOSE = 0x7d;

/**
 * `{"price":P,"size":` of every price, each in three 8-byte words. A word of ASCII is never NaN, so it
 * survives as a number.
 */
const WORDS = 3;
const levelStarts = new Float64Array((TICKS_PER_USDC + 1) * WORDS);
const levelStartBytes = new Uint8Array(TICKS_PER_USDC + 1);
for (let price = 0; price <= TICKS_PER_USDC; price++) {
  const text = Buffer.from(`{"price":${price / TICKS_PER_USDC},"size":`);
  new Uint8Array(levelStarts.buffer).set(text, price * WORDS * 8);
  levelStartBytes[price] = text.length;
}

/** Texts of up to four bytes, each stored as one word, with their lengths: the parts of a printed number. */
export function wordTable(texts: readonly string[]): { words: Uint32Array; lengths: Uint8Array } {
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

/** Starts a level. @returns The position of its size. */
export function writePrice(into: DataView, at: number, price: number): number {
  const word = price * WORDS;
  into.setFloat64(at, levelStarts[word] as number, true);
  into.setFloat64(at + 8, levelStarts[word + 1] as number, true);
  into.setFloat64(at + 16, levelStarts[word + 2] as number, true);
  return at + (levelStartBytes[price] as number);
}

/** Completes a level with its size in shares. @returns The position after it. */
export function writeShares(into: DataView, at: number, shares: number): number {
  const hundredths = Math.round(shares * HUNDREDTHS);
  if (hundredths / HUNDREDTHS !== shares) return writeRare(into, at, shares);
  return writeHundredths(into, at, hundredths);
}

/** Completes a level with its size in hundredths of a share. @returns The position after it. */
export function writeHundredths(into: DataView, start: number, size: number): number {
  if (size >= HUNDREDTHS_MAX) return writeRare(into, start, size / HUNDREDTHS);
  // `| 0` keeps the arithmetic in integers, which halves its time.
  const hundredths = size | 0;
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
