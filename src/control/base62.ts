const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = ALPHABET.length;
/** The largest multiple of 62 in a byte: using bytes at or above it would favour the first 8 characters. */
const UNBIASED_LIMIT = 256 - (256 % BASE);
/** The chance that a sound source needs more rounds than this is below 1e-100. Reaching it means a broken source. */
const MAX_ROUNDS = 200;

/** Returns `size` unpredictable bytes; `randomBytes` of node:crypto in the service. */
export type RandomBytes = (size: number) => Uint8Array;

/** `length` base62 characters, each of the 62 equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = '';
  for (let round = 0; round < MAX_ROUNDS; round++) {
    for (const byte of randomBytes(length - text.length)) {
      if (byte < UNBIASED_LIMIT) text += ALPHABET.charAt(byte % BASE);
    }
    if (text.length === length) return text;
  }
  throw new Error('the random source gives no usable bytes');
}

/** `value` (an integer >= 0) in base62 (0-9A-Za-z), padded with leading zeros to `width` characters. */
export function toBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / BASE)) text = ALPHABET.charAt(rest % BASE) + text;
  return text.padStart(width, '0');
}
