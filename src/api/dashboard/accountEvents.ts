import type { Accounts } from '../../accounts/accounts.ts';
import type { StoredAccountEvent } from '../../accounts/users/accountEvents.ts';
import { cutPage, decodeCursor } from '../../http/cursor.ts';
import { type Route, route } from '../../http/route.ts';
import { accountEventListShape } from '../../schema/api/accountResources.ts';
import { cursor, limit } from '../../schema/api/parameters.ts';
import { formatTime } from '../../schema/time.ts';

const EVENT_ID_TIE = /^evt_[0-9A-Za-z]{16}$/;
const SCOPE = ['account_events'];

/** The operator's list of sign-ins, sign-ups and operator actions. */
export function accountEventRoutes(parts: { control: Pick<Accounts, 'events'> }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/operator/events',
      auth: 'operator',
      access: { feature: null },
      summary:
        'Log of sign-ins, sign-ups and operator actions, newest first; kept for 90 days, at most 100,000 entries',
      query: { limit: limit(100, 1000), cursor },
      response: accountEventListShape,
      handle: async ({ query }) => {
        const { events } = parts.control;
        const place = decodeCursor(SCOPE, query.cursor, EVENT_ID_TIE);
        if (query.limit === 0) {
          return { body: JSON.stringify({ count: await events.count(), events: [], next_cursor: null }) };
        }
        const after = place && { atMs: place.timeMs, eventId: place.tie };
        const found = await events.page({ limit: query.limit + 1, after });
        const { page, next } = cutPage(found, query.limit, {
          scope: SCOPE,
          placeOf: ({ atMs, eventId }) => ({ timeMs: atMs, tie: eventId }),
        });
        return { body: JSON.stringify({ count: page.length, events: page.map(toJson), next_cursor: next }) };
      },
    }),
  ];
}

function toJson({ eventId, atMs, action, reason, email, actor, address, detail }: StoredAccountEvent) {
  return { event_id: eventId, at: formatTime(atMs), action, reason, email, actor, address, detail };
}
