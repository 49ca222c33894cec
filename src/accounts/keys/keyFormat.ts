import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type RandomBytes, randomBase62, toBase62 } from '../../control/base62.ts';

export type KeyEnvironment = 'live' | 'test';

/**
 * `svc_live_` or `svc_test_`, 33 random base62 characters (196 bits), then a CRC-32 of all these characters as 6 base62
 * characters. With the checksum, a mistyped key or a similar string is refused without a database query; it adds no
 * security.
 */
const RANDOM_LENGTH = 33;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = 'svc_live_'.length + RANDOM_LENGTH;
export const KEY_LENGTH = BODY_LENGTH + CHECKSUM_LENGTH;
/** Characters of a key shown in lists, so its owner can distinguish keys: the prefix and 4 of the 33. */
const HINT_LENGTH = 'svc_live_'.length + 4;
const SHAPE = /^svc_(live|test)_[0-9A-Za-z]{39}$/;

type ParsedKey =
  | { readonly outcome: 'ok'; readonly environment: KeyEnvironment }
  | { readonly outcome: 'malformed' }
  | { readonly outcome: 'bad_checksum' };

/** A new key of 48 characters. Show it once and store only its `hashKey`. */
export function createKey(environment: KeyEnvironment, randomBytes: RandomBytes): string {
  const body = `svc_${environment}_${randomBase62(RANDOM_LENGTH, randomBytes)}`;
  return body + keyChecksum(body);
}

/** Checks form and checksum only; the database knows whether the key was issued. */
export function parseKey(text: string): ParsedKey {
  if (text.length !== KEY_LENGTH || !SHAPE.test(text)) return { outcome: 'malformed' };
  if (keyChecksum(text.slice(0, BODY_LENGTH)) !== text.slice(BODY_LENGTH)) return { outcome: 'bad_checksum' };
  return { outcome: 'ok', environment: text.startsWith('svc_live_') ? 'live' : 'test' };
}

/** CRC-32 (as in zip and PNG) of `body` as 6 base62 characters. */
export function keyChecksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_LENGTH);
}

/** SHA-256 in hex, the only form in which a key is stored. 196 random bits need no salt and no slow hash. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The first characters of a key; safe to store and show. */
export function keyHint(key: string): string {
  return key.slice(0, HINT_LENGTH);
}
