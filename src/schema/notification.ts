/** What a webhook can be sent, and in which form. */
import { z } from 'zod';

/** `signed`: JSON for programs, with signatures. The others: a short text for people in a chat. */
export const WEBHOOK_FORMATS = ['signed', 'telegram', 'discord', 'slack'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
export type ChatFormat = Exclude<WebhookFormat, 'signed'>;

/** Faults of the service itself, for operators only. */
export const SYSTEM_EVENTS = [
  'system.gap',
  'system.disk',
  'system.lag',
  'system.webhook_paused',
  'system.backup',
] as const;
export type SystemEventName = (typeof SYSTEM_EVENTS)[number];

export const WEBHOOK_EVENTS = ['opportunity', ...SYSTEM_EVENTS] as const;
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

/** The body of a system event: one when an incident begins, one when it ends. */
export const systemEventSchema = z.strictObject({
  type: z.enum(SYSTEM_EVENTS),
  state: z.enum(['began', 'ended']),
  /** The same in both events of an incident. */
  incident_id: z.string(),
  /** What the incident is about: a feed, a webhook's id, or a part of the service. */
  subject: z.string(),
  /** A sentence for people. */
  summary: z.string(),
  began_at: z.string(),
  ended_at: z.string().nullable(),
  /** A page of this service; null where its public name is not configured. */
  url: z.string().nullable(),
});
export type SystemEvent = Readonly<z.infer<typeof systemEventSchema>>;
