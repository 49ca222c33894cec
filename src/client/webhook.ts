import { type ClientClock, machineClock } from './clock.ts';
import { SignatureError } from './errors.ts';

/** The event of a webhook. `(market_id, detected_at)` identifies it. */
export type WebhookEvent = Readonly<Record<string, unknown>> & {
  readonly market_id: string;
  readonly detected_at: string;
  readonly tier: string;
};

interface WebhookRequest {
  /** The raw body: verify it before it is parsed. */
  readonly body: string | Uint8Array;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The webhook's secret, `whsec_...`; several while a rotation is not finished everywhere. */
  readonly secret: string | readonly string[];
  /** Older and newer requests are refused (default 300 s). */
  readonly toleranceS?: number;
  readonly clock?: Pick<ClientClock, 'now'>;
}

const TOLERANCE_S = 300;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Verifies a webhook's request. Ignore an `id` that you have processed: delivery is at least once.
 * @throws {SignatureError} If a header is missing, the time is too far from now, or no signature matches.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<{ id: string; event: WebhookEvent }> {
  const { secret, toleranceS = TOLERANCE_S, clock = machineClock } = request;
  const headers = lowerCased(request.headers);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  if (!/^\d{1,12}$/.test(timestamp)) throw new SignatureError('webhook-timestamp must be Unix seconds');
  if (Math.abs(clock.now() / 1000 - Number(timestamp)) > toleranceS)
    throw new SignatureError(`the request is more than ${toleranceS} s old, or from the future`);
  const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body;
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const message = new Uint8Array(head.length + body.length);
  message.set(head);
  message.set(body, head.length);
  const given = headerOf(headers, 'webhook-signature').split(' ').flatMap(signatureBytes);
  for (const one of [secret].flat()) {
    const key = await crypto.subtle.importKey('raw', secretBytes(one), HMAC, false, ['verify']);
    for (const signature of given) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, message))
        return { id, event: JSON.parse(new TextDecoder().decode(body)) as WebhookEvent };
    }
  }
  throw new SignatureError('no signature of the request matches the secret');
}

/** Some servers keep the case in which a name was sent or a proxy wrote it, which means nothing. */
function lowerCased(headers: WebhookRequest['headers']): ReadonlyMap<string, string | undefined> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return new Map(entries.map(([name, value]) => [name.toLowerCase(), [value].flat()[0]]));
}

function headerOf(headers: ReadonlyMap<string, string | undefined>, name: string): string {
  const value = headers.get(name);
  if (!value) throw new SignatureError(`the request has no header ${name}`);
  return value;
}

function signatureBytes(text: string): Uint8Array<ArrayBuffer>[] {
  const bytes = text.startsWith('v1,') ? base64Bytes(text.slice(3)) : null;
  return bytes === null ? [] : [bytes];
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = base64Bytes(secret.replace(/^whsec_/, ''));
  if (bytes === null || bytes.length === 0) throw new TypeError('secret must be the secret of a webhook');
  return bytes;
}

function base64Bytes(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
