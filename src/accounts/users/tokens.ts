/** Random tokens of sessions and of links that the process prints. */
import { hash } from 'node:crypto';
import type { RandomBytes } from '../../control/base62.ts';

const TOKEN_BYTES = 32;

/** A new token: 32 random bytes in base64url, 43 characters. */
export function createToken(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url');
}

/** The only form in which a token is stored. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
