import { chatBody } from '../chat/chatBody.ts';
import { chatTextOf } from '../chat/chatText.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import type { Delivery } from './delivery.ts';
import { COMMON_HEADERS, openHeaders, SIGNATURE_HEADERS } from './requestHeaders.ts';
import { signBody, signMessage } from './signature.ts';

/** What one attempt posts. */
interface AttemptRequest {
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer;
}

export const NO_SECRET = new Error('the signing secret cannot be decrypted; rotate it');
export const NO_TARGET = new Error('the URL cannot be decrypted; register the webhook again');

/** @throws {typeof NO_SECRET} */
export function requestOf(webhook: SigningWebhook, delivery: Delivery, nowMs: number): AttemptRequest {
  const { chat } = webhook;
  if (chat === null) return signedRequest(webhook, delivery, nowMs);
  return { headers: COMMON_HEADERS.flat(), body: chatBody(chat, chatTextOf(delivery.body.toString())) };
}

function signedRequest({ secrets }: SigningWebhook, delivery: Delivery, nowMs: number): AttemptRequest {
  const { current, previous } = secrets;
  if (current === null) throw NO_SECRET;
  const { deliveryId: id, body } = delivery;
  const message = { id, timestamp: Math.floor(nowMs / 1000), body };
  const signatures = [signMessage(current, message)];
  for (const { secret, untilMs } of previous) {
    if (secret !== null && nowMs < untilMs) signatures.push(signMessage(secret, message));
  }
  const headers = [
    ...openHeaders(delivery, message.timestamp).flat(),
    ...[SIGNATURE_HEADERS.body, signBody(current, body)],
    ...[SIGNATURE_HEADERS.message, signatures.join(' ')],
  ];
  return { headers, body };
}
