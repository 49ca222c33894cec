import { chatBody } from '../chat/chatBody.ts';
import { chatTextOf } from '../chat/chatText.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import type { Delivery } from './delivery.ts';
import { signBody, signMessage } from './signature.ts';

/** What one attempt posts. */
interface AttemptRequest {
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer;
}

export const NO_SECRET = new Error('the signing secret cannot be decrypted; rotate it');
export const NO_TARGET = new Error('the URL cannot be decrypted; register the webhook again');

const COMMON = ['Content-Type', 'application/json', 'User-Agent', 'Service-Webhook/1'] as const;

/** @throws {typeof NO_SECRET} */
export function requestOf(webhook: SigningWebhook, delivery: Delivery, nowMs: number): AttemptRequest {
  const { chat } = webhook;
  if (chat === null) return signedRequest(webhook, delivery, nowMs);
  return { headers: [...COMMON], body: chatBody(chat, chatTextOf(delivery.body.toString())) };
}

function signedRequest(
  { secrets }: SigningWebhook,
  { deliveryId: id, event, tier, ticker, body }: Delivery,
  nowMs: number,
): AttemptRequest {
  const { current, previous } = secrets;
  if (current === null) throw NO_SECRET;
  const message = { id, timestamp: Math.floor(nowMs / 1000), body };
  const signatures = [signMessage(current, message)];
  for (const { secret, untilMs } of previous) {
    if (secret !== null && nowMs < untilMs) signatures.push(signMessage(secret, message));
  }
  const kind =
    tier === null || ticker === null ? ['X-SVC-Event', event] : ['X-SVC-Tier', tier, 'X-SVC-Ticker', ticker];
  const headers = [
    ...COMMON,
    ...['X-SVC-Signature', signBody(current, body), ...kind],
    ...['webhook-id', id, 'webhook-timestamp', String(message.timestamp)],
    ...['webhook-signature', signatures.join(' ')],
  ];
  return { headers, body };
}
