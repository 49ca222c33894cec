import { customRandom } from 'nanoid';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = ALPHABET.length;

/** Returns `size` unpredictable bytes; `randomBytes` of node:crypto in the service. */
export type RandomBytes = (size: number) => Uint8Array;

/** `length` base62 characters, each of the 62 equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  return customRandom(ALPHABET, length, randomBytes)();
}

/** `value` (an integer >= 0) in base62 (0-9A-Za-z), padded with leading zeros to `width` characters. */
export function toBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / BASE)) text = ALPHABET.charAt(rest % BASE) + text;
  return text.padStart(width, '0');
}
