/** What a webhook can be sent, and in which form: names alone, which the dashboard uses too. */

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
