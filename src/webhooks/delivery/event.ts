import { printJson } from '../../schema/moneyJson.ts';
import { type Opportunity, opportunitySchema } from '../../schema/opportunity.ts';
import type { WebhookEventsTable } from '../schemaWebhooks.ts';
import { eventIdOf } from './delivery.ts';

const MINUTE_MS = 60_000;

/** An opportunity as webhooks store it: the body, and when it expires. */
export interface WebhookEvent {
  readonly row: Omit<WebhookEventsTable, 'created_ms'>;
  readonly detectedMs: number;
  /** The market's end. */
  readonly expiresMs: number;
}

/** Null if the opportunity does not match the published schema; it is not sent. */
export function toEvent(opportunity: Opportunity): WebhookEvent | null {
  const parsed = opportunitySchema.safeParse(opportunity);
  if (!parsed.success) return null;
  const body = parsed.data;
  const detectedMs = Date.parse(body.detected_at);
  if (Number.isNaN(detectedMs)) return null;
  const { tier, ticker, market_id, detected_at } = body;
  return {
    row: { event_id: eventIdOf(body), tier, ticker, market_id, detected_at, body: printJson(body) },
    detectedMs,
    expiresMs: Math.round(detectedMs + body.tau_minutes * MINUTE_MS),
  };
}
