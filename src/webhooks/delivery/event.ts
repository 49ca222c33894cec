import type { Ticker } from '../../schema/market.ts';
import { printJson } from '../../schema/moneyJson.ts';
import type { WebhookEventName } from '../../schema/notification.ts';
import { type Opportunity, opportunitySchema, type PushedTier } from '../../schema/opportunity.ts';
import { type SystemEvent, systemEventSchema } from '../../schema/systemEvent.ts';
import { eventIdAt, eventIdOf } from './delivery.ts';

const MINUTE_MS = 60_000;
/** A system event is sent this long at most: who learns of it later reads the status page. */
export const SYSTEM_EVENT_LIFE_MS = 86_400_000;

/** An event as webhooks store it: the body, and when it expires. */
export interface WebhookEvent {
  readonly row: WebhookEventRow;
  readonly detectedMs: number;
  /** Of an opportunity: the market's end. */
  readonly expiresMs: number;
}

interface WebhookEventRow {
  readonly event_id: string;
  readonly event: WebhookEventName;
  readonly tier: PushedTier | '';
  readonly ticker: Ticker | '';
  readonly market_id: string;
  readonly detected_at: string;
  readonly body: string;
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
    row: {
      ...{ event_id: eventIdOf(body), event: body.type, tier, ticker, market_id, detected_at },
      body: printJson(body),
    },
    detectedMs,
    expiresMs: Math.round(detectedMs + body.tau_minutes * MINUTE_MS),
  };
}

/** @throws {ZodError} If it does not match the published schema, which is a defect of the program. */
export function toSystemEvent(event: SystemEvent): WebhookEvent {
  const body = systemEventSchema.parse(event);
  const { type, state, incident_id, began_at, ended_at } = body;
  const detected_at = ended_at ?? began_at;
  const detectedMs = Date.parse(detected_at);
  return {
    row: {
      event_id: eventIdAt(detectedMs, `${incident_id}|${state}`),
      ...({ event: type, tier: '', ticker: '', market_id: '' } as const),
      ...{ detected_at, body: JSON.stringify(body) },
    },
    detectedMs,
    expiresMs: detectedMs + SYSTEM_EVENT_LIFE_MS,
  };
}
