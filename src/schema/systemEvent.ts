import { z } from 'zod';
import { SYSTEM_EVENTS } from './notification.ts';

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
