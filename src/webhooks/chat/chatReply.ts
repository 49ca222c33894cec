import { z } from 'zod';
import { type ChatTarget, MASK } from './chatTarget.ts';

/** The longest pause that a chat's reply may ask for. */
export const CHAT_PAUSE_MAX_MS = 3_600_000;
/** The pause after a refusal for the rate that names none. */
const CHAT_PAUSE_MS = 30_000;
const TOO_MANY_REQUESTS = 429;

/** The headers of a reply that speak of the rate. */
export interface RateHeaders {
  readonly retryAfter: string | undefined;
  /** Discord: requests left in this period, and the seconds until the next one. */
  readonly remaining: string | undefined;
  readonly resetAfter: string | undefined;
}

const seconds = z.number().nonnegative();
/** Telegram names the pause in `parameters`, Discord beside the message. */
const pauseBody = z.object({
  retry_after: seconds.optional(),
  parameters: z.object({ retry_after: seconds.optional() }).optional(),
});

/**
 * How long nothing may be sent to the chat, in milliseconds; null: no limit was named.
 * @param head The first part of the reply's body.
 */
export function chatPauseMs(status: number, headers: RateHeaders, head: Buffer): number | null {
  if (status === TOO_MANY_REQUESTS) {
    const named = secondsIn(headers.retryAfter) ?? secondsInBody(head);
    return named === null ? CHAT_PAUSE_MS : milliseconds(named);
  }
  if (headers.remaining !== '0') return null;
  const reset = secondsIn(headers.resetAfter);
  return reset === null ? null : milliseconds(reset);
}

/** Removes the chat's secret, which a reply may repeat. */
export function withoutSecrets({ secrets }: ChatTarget, text: string): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}

function milliseconds(s: number): number {
  return Math.min(Math.ceil(s * 1000), CHAT_PAUSE_MAX_MS);
}

/** Discord's seconds have decimals. */
function secondsIn(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,9}(?:\.\d{1,9})?$/.test(header) ? Number(header) : null;
}

function secondsInBody(head: Buffer): number | null {
  try {
    const { retry_after: beside, parameters } = pauseBody.parse(JSON.parse(head.toString()));
    return beside ?? parameters?.retry_after ?? null;
  } catch {
    // The reply is not in the documented form: the caller has a default.
    return null;
  }
}
