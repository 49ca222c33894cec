import { createHmac } from 'node:crypto';
import type { RandomBytes } from '../../control/base62.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 24;

/** A new signing secret: `whsec_` and base64 of 24 random bytes. */
export function createSecret(randomBytes: RandomBytes): string {
  return PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString('base64');
}

/** `X-SVC-Signature`: lower-case hex HMAC-SHA256 of the raw body, keyed by the whole secret as UTF-8. */
export function signBody(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * One entry of `webhook-signature`, `v1,...`, keyed by the secret's decoded bytes.
 * @param timestamp Unix seconds, as in `webhook-timestamp`.
 * @see https://www.standardwebhooks.com, version 1.0.0, read 2026-11-21.
 */
export function signMessage(
  secret: string,
  { id, timestamp, body }: { id: string; timestamp: number; body: Uint8Array },
): string {
  const hmac = createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'));
  return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
