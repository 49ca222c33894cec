import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type RandomBytes, randomBase62, toBase62 } from '../../control/base62.ts';

export type KeyEnvironment = 'live' | 'test';

/**
 * `svc_live_` or `svc_test_`, 33 random base62 characters (196 bits), then 6 characters of base62 CRC-32 over
 * everything before. The checksum lets a mistyped key, or a string that only looks like one, be refused
 * without asking the database; it protects nothing by itself.
 */
const RANDOM_LENGTH = 33;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = 'svc_live_'.length + RANDOM_LENGTH;
export const KEY_LENGTH = BODY_LENGTH + CHECKSUM_LENGTH;
/** Characters of a key shown in lists so that its owner can tell keys apart: the prefix and 4 of the 33. */
const HINT_LENGTH = 'svc_live_'.length + 4;
const SHAPE = /^svc_(live|test)_[0-9A-Za-z]{39}$/;

export type ParsedKey =
  | { readonly outcome: 'ok'; readonly environment: KeyEnvironment }
  | { readonly outcome: 'malformed' }
  | { readonly outcome: 'bad_checksum' };

/** A new key: 48 characters. Show it once; keep only `hashKey` of it. */
export function createKey(environment: KeyEnvironment, randomBytes: RandomBytes): string {
  const body = `svc_${environment}_${randomBase62(RANDOM_LENGTH, randomBytes)}`;
  return body + keyChecksum(body);
}

/** Checks shape and checksum alone; whether the key was ever given out is the database's to say. */
export function parseKey(text: string): ParsedKey {
  if (text.length !== KEY_LENGTH || !SHAPE.test(text)) return { outcome: 'malformed' };
  if (keyChecksum(text.slice(0, BODY_LENGTH)) !== text.slice(BODY_LENGTH)) return { outcome: 'bad_checksum' };
  return { outcome: 'ok', environment: text.startsWith('svc_live_') ? 'live' : 'test' };
}

/** CRC-32 (the one of zip and PNG) of `body` as 6 base62 characters. */
export function keyChecksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_LENGTH);
}

/** SHA-256 in hex: all of a key that is ever stored. 196 random bits need no salt and no slow hash. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The first characters of a key, safe to store and to show. */
export function keyHint(key: string): string {
  return key.slice(0, HINT_LENGTH);
}
